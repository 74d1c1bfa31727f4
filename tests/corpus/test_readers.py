"""Each format's oddities, on hand-written samples."""

from __future__ import annotations

import gzip
import io
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from turnloom.corpus.readers import READERS, ReadOptions
from turnloom.corpus.readers.detection import detect_format, read_head
from turnloom.corpus.readers.logfile import MAX_RECORD_BYTES, Parsed, Rejection
from turnloom.corpus.readers.rows import read_mapping
from turnloom.corpus.schema import Slot
from turnloom.errors import TurnloomError


def read(reader: str, content: bytes | str, **options: Any) -> list[Parsed | Rejection]:
    content = content.encode() if isinstance(content, str) else content
    stream = io.BufferedReader(io.BytesIO(content))
    return list(READERS[reader].read(stream, "log", ReadOptions("log", "log", **options)))


def only(entries: list[Parsed | Rejection]) -> Parsed:
    (entry,) = entries
    assert isinstance(entry, Parsed)
    return entry


def texts(entry: Parsed | Rejection) -> list[str]:
    assert isinstance(entry, Parsed)
    return [turn.text for turn in entry.dialogue.turns]


class TestMessages:
    def test_parts_are_joined_and_instructions_and_tools_left_out(self) -> None:
        record = {
            "id": 7,
            "messages": [
                {"role": "system", "content": "You are kind."},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "look:"}, {"type": "image_url", "image_url": {}}],
                },
                {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
                {"role": "tool", "content": "{}"},
                {"role": "assistant", "content": "a cat"},
            ],
        }
        entry = only(read("messages", json.dumps(record)))
        assert entry.dialogue.dialogue_id == "7"
        assert [(t.speaker, t.text) for t in entry.dialogue.turns] == [("user", "look:"), ("assistant", "a cat")]
        assert entry.dropped_turns == 3

    def test_sharegpt_roles_get_the_usual_names(self) -> None:
        record = {"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]}
        entry = only(read("messages", json.dumps([record], indent=1)))
        assert [turn.speaker for turn in entry.dialogue.turns] == ["user", "assistant"]
        assert entry.dialogue.dialogue_id == "log-2"

    @pytest.mark.parametrize(
        ("record", "reason"),
        [
            ({"messages": "hi"}, "no list of 'messages'"),
            ({"messages": [{"content": "hi"}]}, "no 'role'"),
            ({"messages": [{"role": "user"}]}, "no 'content'"),
            ({"messages": [{"role": "user", "content": 3}]}, "content is int"),
            ({"messages": ["hi"]}, "a message is str"),
            ({"messages": [{"role": "user", "content": "  "}]}, "no turn with text"),
            ({"id": [1], "messages": [{"role": "user", "content": "hi"}]}, "id is list"),
            ([1], "a record is int"),
        ],
    )
    def test_reasons(self, record: Any, reason: str) -> None:
        (entry,) = read("messages", json.dumps(record) + "\n{}")[:1]
        assert isinstance(entry, Rejection)
        assert reason in entry.reason


class TestTurns:
    def test_the_public_sets_variants(self) -> None:
        line = (
            '{"id":"a","services":["Hotels_1",null],"label":3,"turns":[{"speaker":"u","text":"hi","act":["greet"],'
            '"intent":["Find","Book"]},{"speaker":"s","text":" "},{"text":"yo","time":"2024-05-01T10:00:00Z"}]}'
        )
        dialogue = only(read("turns", line)).dialogue
        assert dialogue.domains == ["Hotels_1"]
        assert dialogue.labels == ["3"]
        assert dialogue.turns[0].acts == ["greet"]
        assert dialogue.turns[0].intent == "Find+Book"
        assert dialogue.turns[1].speaker == ""
        assert dialogue.turns[1].time is not None
        assert dialogue.turns[1].time.hour == 10

    def test_a_slot_outside_its_text_is_rejected(self) -> None:
        record = {
            "turns": [{"speaker": "u", "text": "hi", "slots": [{"name": "x", "value": "i", "start": 1, "end": 3}]}]
        }
        (entry,) = read("turns", json.dumps(record))
        assert isinstance(entry, Rejection)
        assert "outside its text" in entry.reason

    def test_a_broken_record_in_an_array_costs_that_record(self) -> None:
        good = '{"id": "%d", "turns": [{"speaker": "u", "text": "hi"}]}'
        entries = read("turns", f'[\n{good % 1},\n{{"id": "2", "turns": [\n{good % 3},\n{good % 4}]')
        ids = [entry.dialogue.dialogue_id for entry in entries if isinstance(entry, Parsed)]
        assert ids == ["1", "3", "4"]
        assert [entry.line for entry in entries if isinstance(entry, Rejection)] == [3]

    def test_a_cut_array_gives_what_came_before(self) -> None:
        entries = read("turns", '[{"id": "1", "turns": [{"speaker": "u", "text": "hi"}]},\n')
        assert isinstance(entries[0], Parsed)
        assert isinstance(entries[1], Rejection)
        assert "ends before the closing" in entries[1].reason

    def test_long_lines_are_passed_over(self) -> None:
        good = b'{"turns": [{"speaker": "u", "text": "hi"}]}'
        entries = read("turns", good + b"\n" + b"x" * (2 * MAX_RECORD_BYTES + 5) + b"\n\n" + good)
        assert [type(entry) for entry in entries] == [Parsed, Rejection, Parsed]
        assert isinstance(entries[1], Rejection)
        assert "longer than 8 MiB" in entries[1].reason
        assert isinstance(entries[2], Parsed)
        assert entries[2].dialogue.dialogue_id == "log-4"


class TestPublicSets:
    def test_sgd(self) -> None:
        turn = {
            "frames": [
                {
                    "actions": [
                        {"act": "INFORM", "slot": "time", "values": ["half past 11"]},
                        {"act": "AFFIRM", "slot": "", "values": []},
                    ],
                    "service": "Restaurants_2",
                    "slots": [{"slot": "time", "start": 3, "exclusive_end": 15}],
                    "state": {"active_intent": "Reserve", "requested_slots": [], "slot_values": {}},
                },
                {"service": "Hotels_1", "slots": [], "actions": [], "state": {"active_intent": "NONE"}},
            ],
            "speaker": "USER",
            "utterance": "At half past 11",
        }
        record = [{"dialogue_id": "1_00000", "services": ["Restaurants_2"], "turns": [turn]}]
        dialogue = only(read("sgd", json.dumps(record, indent=2))).dialogue
        assert dialogue.turns[0].speaker == "user"
        assert dialogue.turns[0].acts == ["AFFIRM", "INFORM:time"]
        assert dialogue.turns[0].slots == [Slot("time", "half past 11", 3, 15)]
        assert dialogue.turns[0].intent == "Reserve"

    def test_multiwoz_22_has_slots_without_spans(self) -> None:
        frame = {
            "service": "hotel",
            "slots": [{"slot": "hotel-area", "value": "east", "copy_from": "x"}],
            "state": {"active_intent": "find_hotel", "requested_slots": [], "slot_values": {"hotel-area": ["east"]}},
        }
        turn = {"turn_id": "0", "speaker": "USER", "utterance": "In the east", "frames": [frame]}
        content = json.dumps([{"dialogue_id": "PMUL1.json", "services": ["hotel"], "turns": [turn]}])
        dialogue = only(read("sgd", content)).dialogue
        assert dialogue.turns[0].slots is None
        assert dialogue.turns[0].intent == "find_hotel"

    def test_multiwoz_21(self) -> None:
        log = [
            {
                "text": "I want a hotel in the East . ",
                "metadata": {},
                "dialog_act": {"Hotel-Inform": [["Area", "east"]], "general-greet": [["none", "none"]]},
                "span_info": [["Hotel-Inform", "Area", "east", 6, 6], ["Hotel-Inform", "Name", "nowhere", 0, 0]],
            },
            {"text": "Sure", "metadata": {"hotel": {}}, "dialog_act": "No Annotation"},
        ]
        goal = {"taxi": {}, "hotel": {"info": {"area": "east"}}, "message": ["m"], "topic": {"taxi": False}}
        dialogue = only(read("multiwoz", json.dumps({"SNG01.json": {"goal": goal, "log": log}}, indent=1))).dialogue
        assert dialogue.dialogue_id == "SNG01"
        assert dialogue.domains == ["hotel"]
        assert [turn.speaker for turn in dialogue.turns] == ["user", "system"]
        assert dialogue.turns[0].text == "I want a hotel in the East ."
        assert dialogue.turns[0].acts == ["general-greet:none", "hotel-inform:area"]
        assert dialogue.turns[0].slots == [Slot("area", "East", 22, 26)]
        assert dialogue.turns[1].acts is None

    def test_taskmaster(self) -> None:
        record = {
            "conversation_id": "dlg-1",
            "instruction_id": "restaurant-table-2",
            "utterances": [
                {
                    "index": 0,
                    "speaker": "USER",
                    "text": "Korean food",
                    "segments": [
                        {
                            "start_index": 0,
                            "end_index": 99,
                            "text": "Korean food",
                            "annotations": [{"name": "food"}, {"name": "food"}, {"name": "type"}],
                        }
                    ],
                }
            ],
        }
        dialogue = only(read("taskmaster", json.dumps(record, indent=4))).dialogue
        assert dialogue.domains == ["restaurant-table"]
        assert dialogue.turns[0].slots == [Slot("food", "Korean food", 0, 11), Slot("type", "Korean food", 0, 11)]


class TestTables:
    def test_quotes_newlines_and_byte_order_mark(self) -> None:
        content = '\ufeffconv;who;body\n1;a;"two\nlines; and ""quotes"""\n1;b;5" screen\n'
        assert texts(only(read("csv", content))) == ['two\nlines; and "quotes"', '5" screen']

    def test_a_quote_that_is_never_closed_costs_one_line(self) -> None:
        entries = read("csv", 'conv,body\n1,"open\n1,next\n1,"fine, too"\n')
        assert isinstance(entries[0], Rejection)
        assert entries[0].line == 2
        assert texts(entries[1]) == ["next", "fine, too"]

    def test_the_rest_of_a_broken_record_goes_with_it(self) -> None:
        broken = '7,ann,"Where is it?\nI wait, and wait, and wait, really.\nAnn\n'
        rows = [f'{number},ben,"It ships.\nOn {number}, I think."\n' for number in range(1, 13)]
        content = "conv,author,text\n" + "".join(rows[:6]) + broken + "".join(rows[6:])
        entries = read("csv", content)
        rejections = [entry for entry in entries if isinstance(entry, Rejection)]
        assert [(entry.line, entry.reason) for entry in rejections] == [(14, "a quote is opened and never closed")]
        assert rejections[0].piece == broken.strip()
        assert [text for entry in entries if isinstance(entry, Parsed) for text in texts(entry)] == [
            f"It ships.\nOn {number}, I think." for number in range(1, 13)
        ]

    def test_each_row_that_is_cut_off_is_a_record(self) -> None:
        entries = read("csv", "conv,author,text\n1,ann,hi\n2,ann\n3,b\n4\n5,ben,bye\n")
        assert [entry.line for entry in entries if isinstance(entry, Rejection)] == [3, 4, 5]

    def test_wrong_rows_are_named(self) -> None:
        content = b"conv,turn,body\n1,1\n,1,hi\n1,x,hi\n1,1,\xff\n1,1," + b"y" * 100_001 + b"\n1,1,good\n"
        reasons = [entry.reason for entry in read("csv", content) if isinstance(entry, Rejection)]
        assert reasons == [
            "it has 2 fields, the header has 3",
            "column 'conv' is empty",
            "column 'turn' is not a number",
            "it is not UTF-8 (byte 4)",
            "a turn's text has 100,001 characters, more than 100,000",
        ]

    def test_dialogues_come_in_runs_with_their_order(self) -> None:
        entries = [e for e in read("csv", "conv,turn,body\na,2,x\na,1,y\nb,1,z\na,0,w\n") if isinstance(e, Parsed)]
        assert [(e.dialogue.dialogue_id, e.order, e.lines) for e in entries] == [
            ("a", [2, 1], [2, 3]),
            ("b", [1], [4]),
            ("a", [0], [5]),
        ]

    def test_unknown_columns_are_asked_for(self) -> None:
        with pytest.raises(TurnloomError, match="--map text=COLUMN"):
            read("csv", "conv,stuff\n1,2\n")
        with pytest.raises(TurnloomError, match="no column 'nope'"):
            read("csv", "conv,stuff\n1,2\n", mapping={"text": "nope"})
        with pytest.raises(TurnloomError, match="has no field 'words'"):
            read_mapping({"words": "a"})
        with pytest.raises(TurnloomError, match="names the speaker twice"):
            read_mapping({"speaker": "a", "role": "b"})

    def test_parquet_of_messages(self, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        rows = [{"messages": [{"role": "user", "content": "hi"}]}, {"messages": None}]
        path = tmp_path / "chat.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
        assert detect_format(read_head(str(path))).why == "it is a Parquet table with a 'messages' column"
        entries = read("parquet", path.read_bytes())
        assert texts(entries[0]) == ["hi"]
        assert isinstance(entries[1], Rejection)

    def test_parquet_with_a_language_that_is_none(self, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        rows = [{"conversation_id": "1", "message": "hi", "lang": ["en"]}]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "chat.parquet")
        (found,) = read("parquet", (tmp_path / "chat.parquet").read_bytes())
        assert isinstance(found, Rejection)


class TestTranscript:
    def test_blocks_times_and_continued_turns(self) -> None:
        content = (
            "[2024-05-01 10:32] Agent Smith: Hello: how are you?\r\nUser:\nUser: fine\n  and you?\n\n\nAgent: bye\n"
        )
        first, second = read("transcript", content)
        assert isinstance(first, Parsed)
        assert [turn.speaker for turn in first.dialogue.turns] == ["Agent Smith", "User"]
        assert texts(first) == ["Hello: how are you?", "fine\n  and you?"]
        assert first.dropped_turns == 1
        assert first.dialogue.turns[0].time is not None
        assert texts(second) == ["bye"]
        assert isinstance(second, Parsed)
        assert second.dialogue.dialogue_id == "log-7"

    def test_a_block_without_speaker_is_rejected(self) -> None:
        (entry,) = read("transcript", "no speaker here\nAgent: hi\n")
        assert isinstance(entry, Rejection)
        assert "line 1 starts no turn" in entry.reason


class TestDetection:
    @pytest.mark.parametrize(
        ("name", "content", "expected"),
        [
            ("a.jsonl", '{"messages": [{"role": "user", "content": "hi"}]}\n', "messages"),
            ("a.jsonl", 'broken\n{"turns": []}', None),
            ("a.jsonl", 'broken\n{"turns": [{"speaker": "u", "text": "hi"}]}\n', "turns"),
            ("a.jsonl", '{"cut\n{"turns": [{"speaker": "u", "text": "hi"}]}\n', "turns"),
            ("a.tsv", "conversation_id\ttext\n1\thi\n", "csv"),
            ("a.csv", "x,y\n1,hi\n", "csv"),
            ("a.txt", "Agent: hi\nUser: hello\n", "transcript"),
            ("a.txt", "[2024-05-01 10:32] Agent: hi\n[2024-05-01 10:33] User: hello\n", "transcript"),
            ("a.txt", "just some prose\nin lines\n", None),
        ],
    )
    def test_by_content(self, tmp_path: Path, name: str, content: str, expected: str | None) -> None:
        path = tmp_path / name
        path.write_text(content)
        if expected is None:
            with pytest.raises(TurnloomError, match="none of the known formats"):
                detect_format(read_head(str(path)))
        else:
            assert detect_format(read_head(str(path))).format == expected

    def test_brackets_without_end_are_soon_given_up(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.json"
        path.write_bytes(b'{\n"d.json": ' + b'{"a":' * 100_000 + b"\n}\n")
        start = time.process_time()
        with pytest.raises(TurnloomError, match="none of the known formats"):
            detect_format(read_head(str(path)))
        assert time.process_time() - start < 10

    def test_what_cannot_be_read_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "empty.csv").write_text("\n")
        (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"{}" * 1000)[:8])
        for name, message in (("empty.csv", "is empty"), ("cut.jsonl.gz", "cannot be read")):
            with pytest.raises(TurnloomError, match=message):
                detect_format(read_head(str(tmp_path / name)))
