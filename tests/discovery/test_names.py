from __future__ import annotations

import http.server
import json
import threading
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.discovery.toy import TOPICS, TopicEncoder
from turnloom.discovery.endpoint_names import EndpointNamer
from turnloom.discovery.names import Meaning, name_groups
from turnloom.discovery.phrases import Request, _requests, find_parser, pattern_requests
from turnloom.errors import TurnloomError
from turnloom.runtime.endpoint import KEY_VARIABLE

GROUPS = [[wording.format(7) for wording in wordings] for wordings in TOPICS.values()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("could you please cancel my order from Monday", Request("cancel", ("order",))),
        ("i want to open a savings account", Request("open", ("savings", "account"), True)),
        ("please cancel it", None),
        ("how do i top up my card", Request("top up", ("card",))),
        ("hello there", None),
    ],
)
def test_patterns_find_verb_and_object(text: str, wanted: Request | None) -> None:
    assert pattern_requests([text]) == [[wanted] if wanted else []]


@pytest.mark.slow
def test_a_parse_gives_verbs_with_objects_prepositions_and_negation() -> None:
    spacy = pytest.importorskip("spacy")
    doc = spacy.tokens.Doc(
        spacy.blank("en").vocab,
        words=["my", "card", "has", "not", "arrived", "i", "talk", "to", "an", "agent"],
        heads=[1, 4, 4, 4, 4, 6, 4, 6, 9, 7],
        deps=["poss", "nsubj", "aux", "neg", "ROOT", "nsubj", "conj", "prep", "det", "pobj"],
        pos=["PRON", "NOUN", "AUX", "PART", "VERB", "PRON", "VERB", "ADP", "DET", "NOUN"],
        lemmas=["my", "card", "have", "not", "arrive", "i", "talk", "to", "an", "agent"],
    )
    found = set(_requests(doc))
    assert Request("talk to", ("agent",), True) in found
    assert Request("", ("card", "not", "arrived")) in found
    assert Request("not arrive", ()) in found


@pytest.mark.slow
def test_a_pipeline_that_does_not_exist_is_a_mistake() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(TurnloomError, match="no-such-pipeline"):
        find_parser("no-such-pipeline")


def test_names_are_verb_and_object_with_an_article_if_people_use_one() -> None:
    names = [group.name for group in name_groups(GROUPS)]
    assert names[0] == "cancel an order"
    assert names[3] == "change an address"
    assert names[4] == "parcel late"
    assert len(set(names)) == len(names)


def test_praise_takes_no_article() -> None:
    praise = ["great trip to rome", "great trip home", "great trip today"]
    asked = ["please book a trip", "i want to book a trip", "could you book a trip for me"]
    assert name_groups([praise, asked])[0].name == "great trip"


def test_names_are_unique_and_short_whatever_is_said() -> None:
    names = [group.name for group in name_groups([*GROUPS, *GROUPS, ["so"], ["so"]], taken=["cancel an order"])]
    assert len(set(names)) == 12
    assert "cancel an order" not in names
    assert all(len(name.split()) <= 5 for name in names)


def test_meaning_chooses_among_what_is_said_equally_often() -> None:
    texts = [["want green refund", "got green refund"], ["some invoice here", "some invoice there"]]
    encoder = TopicEncoder()
    centres = encoder.encode(["refund", "invoice"])
    named = name_groups(texts, meaning=Meaning(encoder.encode, centres, np.zeros(32, np.float32)))
    assert "refund" in named[0].name
    swapped = name_groups(
        texts, meaning=Meaning(encoder.encode, encoder.encode(["green"] * 2), np.zeros(32, np.float32))
    )
    assert "green" in swapped[0].name


class Names(http.server.BaseHTTPRequestHandler):
    answers: ClassVar = ["Cancel an order.", "cancel an order", "a name that is much too long for it"]
    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        Names.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        content = Names.answers[len(Names.asked) - 1]
        data = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        pass


def test_an_endpoint_names_and_bad_answers_fall_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Names)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        namer = EndpointNamer(url=f"http://127.0.0.1:{server.server_port}/v1", model="namer")
        named = [group.name for group in namer.name(GROUPS[:3], None, ())]
    finally:
        server.shutdown()
        server.server_close()
    assert named[0] == "cancel an order"
    assert named[1:] == [group.name for group in name_groups(GROUPS[:3])][1:]
    assert Names.asked[0]["model"] == "namer"
    assert "please cancel my order" in Names.asked[0]["messages"][1]["content"]
