from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.readers.markup import plain_cell, without_app_line, without_quotes

APP_LINES = [
    "Sent from my iPhone",
    "Sent from my iPhone 15 Pro Max.",
    "Sent from my Samsung Galaxy smartphone.",
    "Sent from my Samsung Galaxy S21 5G, an AT&T 5G smartphone",
    "Sent from my T-Mobile 5G Device",
    "Get Outlook for iOS",
    "Get Outlook for Android<https://aka.ms/AAb9ysg>",
    "Get [Outlook for iOS](https://aka.ms/o0ukef)",
    "Sent from Yahoo Mail on Android",
    "Von meinem iPhone gesendet",
    "Envoyé de mon iPhone",
    "Enviado desde mi iPhone",
    "发自我的iPhone",
]
ROWS = [
    ["7", "ann", "<p>Hi,</p><p>my parcel &amp; the bill are&nbsp;late.</p><div>Sent from my iPhone</div>"],
    ["7", "ben", "Where x < y and y > z, it ships.\n\nGet Outlook for iOS"],
    ["7", "ann", '<div>Thanks</div><div class="gmail_quote">On Monday Ben wrote: it ships</div>'],
    ["7", "ann", "Sent from my iPhone"],
]


@pytest.mark.parametrize("line", APP_LINES)
def test_a_mail_apps_line_at_the_end_goes(line: str) -> None:
    assert without_app_line(f"It works.\n\n{line}\n") == "It works."
    assert without_app_line(f"It works. {line}") == "It works."
    assert without_quotes(f"It works.\r\n{line}\r\n\r\nOn Mon, 1 Jan 2024, Ben wrote:\r\n> Try it") == "It works."


@pytest.mark.parametrize(
    "text",
    [
        "The mail was sent from my iPhone",
        "My mail says: Sent from my iPhone",
        "Sent from my account to hers",
        "It was late. Sent from my phone to your address",
        "Sent from my phone to my tablet",
        "Sent from my iPhone\nis what it says",
        "Get Outlook for free",
    ],
)
def test_what_people_say_of_sending_stays(text: str) -> None:
    assert without_app_line(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "x < y and y > z",
        "x <b and c> d",
        "if a<b or c>d",
        "How do I write <br> in a mail?",
        "List<String> and Map<A,B>",
        "Ann <ann@example.com>",
        "Hi <NAME>, mail <EMAIL>",
        "AT&amp;T",
        "i <3 you",
    ],
)
def test_text_with_brackets_is_no_html(text: str) -> None:
    assert plain_cell(text) == text


def _csv(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["Ticket ID", "Author", "Comment body"], *ROWS])


def _xlsx(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["Ticket ID", "Author", "Comment body"], *ROWS]:
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize(("ending", "write"), [("csv", _csv), ("xlsx", _xlsx)])
def test_cells_with_html_become_text(tmp_path: Path, ending: str, write: Callable[[Path], None]) -> None:
    path = tmp_path / f"tickets.{ending}"
    write(path)
    manifest = convert(find_logs([str(path)]), tmp_path / "table").manifest
    turns = next(iter(read_table(tmp_path / "table").select("turns").iter_rows()))["turns"]
    assert [turn["text"] for turn in turns] == [
        "Hi,\nmy parcel & the bill are late.",
        "Where x < y and y > z, it ships.",
        "Thanks",
    ]
    assert manifest.counts["dropped_turns"] == 1
