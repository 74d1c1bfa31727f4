"""Salesforce tables, transcripts in cells, Excel, and the tables that hold a turn per row."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import openpyxl

from tests.corpus import formats
from tests.corpus.formats import sample
from tests.corpus.variants.base import Said, variant

COMMENTS = (
    '"Id","ParentId","IsPublished","CommentBody","CreatedById","CreatedBy.UserType","CreatedDate","IsDeleted"\n'
    '"00a2","500A","true","It is\n""on"" again","005B","Standard","2024-05-01T10:02:00.000Z","false"\n'
    '"00a1","500A","true","No power","005A","CspLitePortal","2024-05-01T10:01:00.000Z","false"\n'
    '"00a3","500A","false","call him","005B","Standard","2024-05-01T10:03:00.000Z","false"\n'
    '"00a4","500B","true","Hi","005C","CustomerSuccess","2024-05-01T10:04:00.000Z","false"\n'
)
REPORT = (
    "Case Number;Case Comments;Case Comment Created By;Case Comment Created Date;Case Comment Published\n"
    "00001026;No power;Ann Ash;13/05/2024 10:01;1\n00001026;It is on again;Ben Bay;13/05/2024 10:02;1\n"
)
EMAILS = (
    "Id,ParentId,Incoming,FromAddress,Subject,TextBody,MessageDate,IsDeleted\n"
    '02s1,500A,true,ann@x.example,Power,"No power\n\nSent from my phone",2024-05-01T10:01:00Z,false\n'
    '02s2,500A,false,help@x.example,RE: Power,"Try now\n\n--------------- Original Message ---------------\nNo power",2024-05-01T10:02:00Z,false\n'
)
CELLS = (
    "call_id,duration,transcript\n"
    '1,12,"Agent: Hi, how can I help? Customer: My card is lost. Note: it was new. Agent: I block it now."\n'
    '2,30,"Agent: Hello\nCustomer: I moved:\nto Graz\nAgent: Noted"\n3,5,"Agent: Anyone? Customer: Yes."\n'
)
CELLS_SAID: list[Said] = [
    [
        ("Agent", "Hi, how can I help?"),
        ("Customer", "My card is lost. Note: it was new."),
        ("Agent", "I block it now."),
    ],
    [("Agent", "Hello"), ("Customer", "I moved:\nto Graz"), ("Agent", "Noted")],
    [("Agent", "Anyone?"), ("Customer", "Yes.")],
]
LIVE_AGENT = (
    "Name,Body\n"
    '000001,"<p align=""center"">Chat Started: Monday</p>( 5s ) Ben: Hello, I am Ben<br>( 1m 2s ) Ann: My card is gone<br>( 1m 30s ) Ben: I block it<br>"\n'
    '000002,"( 1s ) Ben: Hello<br>( 9s ) Cleo: Hi<br>( 12s ) Ben: Well?<br>"\n'
)
PIPES = "id\tchat\n7\tVisitor 12: hi there|Support: hello|Visitor 12: bye\n8\tVisitor 3: hi|Support: hello\n"
DIALOGUES = [sample(number) for number in range(3)]
PLAIN_SAID: list[Said] = [[(turn.speaker, turn.text) for turn in dialogue.turns] for dialogue in DIALOGUES]


def workbook(*sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"Sheet{number}")
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


ROWS = [
    ["conversation_id", "timestamp", "role", "message"],
    [17, dt.datetime(2024, 5, 1, 10, 1), "user", "hi"],
    [17, dt.datetime(2024, 5, 1, 10, 2), "agent", "hello"],
    [None, None, None, None],
    [18, dt.datetime(2024, 5, 2, 10, 1), "user", "12"],
]
ROWS_SAID: list[Said] = [[("user", "hi", "2024-05-01T10:01:00"), ("agent", "hello")], [("user", "12")]]

VARIANTS = [
    variant("salesforce data export", "salesforce", COMMENTS, [[("customer", "No power", "2024-05-01T10:01:00"), ("agent", 'It is\n"on" again')], [("customer", "Hi")]], file="CaseComment.csv"),
    variant("salesforce report", "salesforce", REPORT, [[("Ann Ash", "No power", "2024-05-13T10:01:00"), ("Ben Bay", "It is on again")]], file="report.csv"),
    variant("salesforce e-mails", "salesforce-email", EMAILS, [[("customer", "No power"), ("agent", "Try now")]], file="EmailMessage.csv"),
    variant("transcript cells", "transcript-cells", CELLS, CELLS_SAID, file="calls.csv"),
    variant("salesforce chat transcripts", "transcript-cells", LIVE_AGENT, [[("Ben", "Hello, I am Ben"), ("Ann", "My card is gone"), ("Ben", "I block it")], [("Ben", "Hello"), ("Cleo", "Hi"), ("Ben", "Well?")]], file="LiveChatTranscript.csv"),
    variant("transcript cells with bars", "transcript-cells", PIPES, [[("Visitor 12", "hi there"), ("Support", "hello"), ("Visitor 12", "bye")], [("Visitor 3", "hi"), ("Support", "hello")]], file="chats.tsv"),
    variant("excel rows", "excel", workbook(ROWS), ROWS_SAID, file="chats.xlsx"),
    variant("excel with a cover sheet", "excel", workbook([["Report of May", None], ["made by Ann", None]], ROWS), ROWS_SAID, file="report.xlsx"),
    variant("excel salesforce", "excel", workbook([["Case Number", "Comment", "Created By", "Created Date"], ["0001", "No power", "Ann", "2024-05-01T10:01:00Z"]]), [[("Ann", "No power", "2024-05-01T10:01:00")]], file="cases.xlsx"),
    variant("excel transcript cells", "excel", workbook([["Call ID", "Transcript"], [5, "Agent: Hi\nCustomer: Hello"], [6, "Agent: Hi\nCustomer: Bye"]]), [[("Agent", "Hi"), ("Customer", "Hello")], [("Agent", "Hi"), ("Customer", "Bye")]], file="calls.xlsx"),
    variant("csv", "csv", formats.write_rows(formats.rows_of(DIALOGUES), ","), PLAIN_SAID, file="log.csv"),
    variant("tsv", "csv", formats.write_rows(formats.rows_of(DIALOGUES), "\t"), PLAIN_SAID, file="log.tsv"),
    variant("csv with semicolons and other names", "csv", "ticket_id;author;body;sent_at\n1;Ann;hi;13.05.2024 10:00\n1;Ben;hello;13.05.2024 10:01\n", [[("Ann", "hi", "2024-05-13T10:00:00"), ("Ben", "hello")]], file="log.csv"),
    variant("parquet rows", "parquet", formats.write_parquet_rows(DIALOGUES), PLAIN_SAID, file="log.parquet"),
    variant("parquet turns", "parquet", formats.write_parquet_turns(DIALOGUES), PLAIN_SAID, file="log.parquet"),
]  # fmt: skip
