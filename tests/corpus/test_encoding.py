"""Files that are not UTF-8 are read, and the output says as what."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.schema import dialogues_from_arrow

LANGUAGES = {
    "cp1252": ("Schöne Grüße aus Köln – ich hätte gern 5 €", "où est ma commande passée à midi ?"),
    "latin-1": ("Schöne Grüße aus Köln", "¿Dónde está mi pedido, señor?"),
    "cp1250": ("Gdzie jest moja przesyłka? Zamówiłem ją tydzień temu", "Proszę o numer, żeby sprawdzić zamówienie"),
    "cp1251": (
        "Где мой заказ? Я жду уже неделю",
        "Здравствуйте, сейчас проверим",
        "Номер заказа не могу найти в письме, помогите пожалуйста",
        "Ваша посылка будет доставлена завтра утром",
    ),
    "cp932": ("注文した商品はどこですか?まだ届いていません", "確認いたします。少々お待ちください"),
    "gb18030": ("我的订单在哪里?我已经等了一个星期了", "您好,我们马上为您查询"),
    "utf-16": ("Schöne Grüße 👋", "hello"),
    "utf-16-le": ("Schöne Grüße aus Köln", "hello"),
    "utf-32": ("Schöne Grüße", "hello"),
}


def read_texts(path: Path) -> tuple[list[str], int, list[str]]:
    """The texts of a log, how many records were rejected, and what was said about the file."""
    said: list[str] = []
    conversion = convert(find_logs([str(path)], on_note=said.append), path.parent / "out", overwrite=True)
    found = dialogues_from_arrow(read_table(path.parent / "out").to_arrow())
    texts = [turn.text for dialogue in sorted(found, key=lambda d: d.dialogue_id) for turn in dialogue.turns]
    return texts, conversion.manifest.counts["rejected"], said


def table_of(texts: tuple[str, ...], separator: str = ",") -> str:
    rows = [("conversation_id", "role", "message"), *(("1", "user", text.replace(",", ";")) for text in texts)]
    return "".join(separator.join(row) + "\r\n" for row in rows)


@pytest.mark.parametrize("encoding", LANGUAGES)
def test_a_table_in_another_encoding(tmp_path: Path, encoding: str) -> None:
    texts = LANGUAGES[encoding]
    (tmp_path / "log.csv").write_bytes(table_of(texts).encode(encoding))
    found, rejected, said = read_texts(tmp_path / "log.csv")
    assert found == [text.replace(",", ";") for text in texts]
    assert rejected == 0
    name = {"latin-1": "cp1252"}.get(encoding, encoding)
    expected = name.upper() if name.startswith("utf") else name.replace("cp125", "Windows-125")
    assert len(said) == 1
    assert f" read as {expected}" in said[0]


def test_other_formats_and_packed_files(tmp_path: Path) -> None:
    text = "Schöne Grüße aus Köln"
    record = {"turns": [{"speaker": "u", "text": text}]}
    lines = (json.dumps(record, ensure_ascii=False) + "\n").encode("cp1252")
    for name, content in {
        "a.jsonl": lines,
        "b.jsonl.gz": gzip.compress(lines),
        "c.tsv.zst": pa.compress(table_of((text,), "\t").encode("utf-16"), "zstd", asbytes=True),
        "d.txt": f"Agent: {text}\n".encode("cp1252"),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert read_texts(tmp_path / name)[:2] == ([text], 0), name


def test_utf8_stays_utf8(tmp_path: Path) -> None:
    """With a mark, and with a broken byte, which costs its own row."""
    path = tmp_path / "log.csv"
    path.write_bytes(table_of(("Grüße",)).encode("utf-8-sig"))
    assert read_texts(path) == (["Grüße"], 0, [])
    path.write_bytes(table_of(("Grüße", "und Küsse")).encode() + b"1,user,caf\xe9\r\n")
    assert read_texts(path) == (["Grüße", "und Küsse"], 1, [])


def test_the_first_letter_that_tells_may_come_late(tmp_path: Path) -> None:
    """Behind the first megabyte, from which the format is recognised."""
    path = tmp_path / "log.csv"
    path.write_bytes(table_of(("hello " * 20,) * 12_000).encode() + "1,user,Grüße aus Köln\r\n".encode("cp1252"))
    found, rejected, said = read_texts(path)
    assert path.stat().st_size > 2**20
    assert (found[-1], rejected, len(said)) == ("Grüße aus Köln", 0, 1)
