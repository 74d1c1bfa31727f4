from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from turnloom.errors import TurnloomError
from turnloom.intents import read_messages

ROWS = [
    {"text": "hello, you", "label": "greet"},
    {"text": 'the "first" one\nplease', "label": ["choose", "polite"], "context": ["which?", "these two"]},
    {"text": "bye", "label": ""},
]
EXPECTED = [
    (("hello, you",), ("greet",)),
    (("which?", "these two", 'the "first" one\nplease'), ("choose", "polite")),
    (("bye",), ()),
]
AS_CSV = (
    "Text,label,context\n"
    '"hello, you",greet,\n'
    '"the ""first"" one\nplease",choose | polite,"[""which?"", ""these two""]"\n'
    "bye,,\n"
)
FORMS = {
    "jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "json": json.dumps(ROWS, indent=1),
    "csv": AS_CSV,
    "tsv": AS_CSV.replace('"hello, you",greet,', "hello, you\tgreet\t")
    .replace("Text,label,context", "Text\tlabel\tcontext")
    .replace('please",choose | polite,"[', 'please"\tchoose | polite\t"[')
    .replace("bye,,", "bye\t\t"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_stream", [True, False])
def test_every_format_says_the_same(form: str, as_stream: bool, tmp_path: Path) -> None:
    path = tmp_path / f"messages.{form}"
    path.write_text(FORMS[form], encoding="utf-8")
    found = read_messages(io.StringIO(FORMS[form], newline="") if as_stream else path)
    assert [(message.turns, message.labels) for message in found] == EXPECTED


def test_lines_without_a_header_are_messages() -> None:
    found = read_messages(io.StringIO("my card, is lost\n\n  hi  \n"))
    assert [message.turns for message in found] == [("my card, is lost",), ("hi",)]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"\xef\xbb\xbftext\nhello\n")
    assert [message.turns for message in read_messages(path)] == [("hello",)]


def test_a_stream_is_read_as_it_comes() -> None:
    def lines() -> object:
        yield '{"text": "one"}\n'
        yield '{"text": "two"}\n'
        raise AssertionError("read too far")

    found = read_messages(lines())  # type: ignore[arg-type]
    assert next(found).turns == ("one",)
    assert next(found).turns == ("two",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a"}\n{"text": 3}\n', "standard input, line 2: no text"),
        ('{"text": "a"}\n{"text"\n', "standard input, line 2: "),
        ('{"text": "a"}\n[1]\n', "line 2: no JSON object"),
        ('{"text": "a", "label": 4}\n', "line 1: 'label' is neither a text nor a list of texts"),
        ('[{"text": "a"}, 5]', "element 2: no JSON object"),
        ("text,label\n,greet\n", "line 2: no text"),
    ],
)
def test_mistakes_name_the_line(text: str, message: str) -> None:
    with pytest.raises(TurnloomError, match=message):
        list(read_messages(io.StringIO(text)))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="is not a file"):
        list(read_messages(tmp_path / "none.csv"))
    with pytest.raises(TurnloomError, match="there is no format 'xml'"):
        list(read_messages(tmp_path / "none.csv", format="xml"))
    (tmp_path / "a.csv").write_text("message,label\nhi,greet\n")
    with pytest.raises(TurnloomError, match=r"has no column 'text'.*it has message, label"):
        list(read_messages(tmp_path / "a.csv"))
    (tmp_path / "b.csv").write_bytes(b"text\n\xff\xfe\n")
    with pytest.raises(TurnloomError, match="is not UTF-8"):
        list(read_messages(tmp_path / "b.csv"))
