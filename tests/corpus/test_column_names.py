from __future__ import annotations

from pathlib import Path

import pytest

from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.readers.column_names import column_names, folded_name
from turnloom.corpus.readers.rows import find_columns

HEADERS = {
    "German": ["Gesprächs-ID", "Absender", "Nachricht", "Zeitstempel"],
    "Spanish": ["ID Conversación", "Remitente", "Mensaje", "Fecha y hora"],
    "French": ["Échange", "Expéditeur", "Texte", "Horodatage"],
    "Italian": ["Conversazione", "Mittente", "Messaggio", "Data e ora"],
    "Portuguese": ["ID da conversa", "Remetente", "Mensagem", "Horário"],
    "Chinese": ["会话 ID", "发送者", "消息内容", "发送时间"],
    "Japanese": ["会話ID", "送信者", "メッセージ", "送信日時"],
    "Arabic": ["معرف المحادثة", "المرسل", "نص الرسالة", "الوقت"],
    "Hindi": ["बातचीत आईडी", "प्रेषक", "संदेश", "समय"],
    "Russian": ["ID диалога", "Отправитель", "Сообщение", "Дата и время"],
}


@pytest.mark.parametrize("language", HEADERS)
def test_a_header_is_recognised(language: str) -> None:
    names = HEADERS[language]
    assert find_columns(names, {}, "chats.csv") == dict(
        zip(("dialogue_id", "speaker", "text", "time"), names, strict=True)
    )


def test_no_name_stands_for_two_fields() -> None:
    fields = column_names()
    names = [name for known in fields.values() for name in set(known)]
    assert len(names) == len(set(names))
    assert all(folded_name(name) == name for name in names)


def test_english_comes_first() -> None:
    assert find_columns(["texto", "text", "conversation_id"], {}, "a.csv")["text"] == "text"


@pytest.mark.parametrize(
    "name", ["Comment body", "comment_body", "Comment", "Message Body", "Body (plain)", "Plain body", "Comment text"]
)
def test_a_help_desks_name_for_the_text_is_recognised(name: str) -> None:
    columns = find_columns(["Ticket #", "Ticket number", "Author", name], {}, "tickets.csv")
    assert columns == {"dialogue_id": "Ticket number", "text": name, "speaker": "Author"}
    assert find_columns(["Ticket #", name], {}, "tickets.csv") == {"dialogue_id": "Ticket #", "text": name}


def test_a_message_beside_a_comment_is_the_text() -> None:
    assert find_columns(["Ticket ID", "Comment", "Message"], {}, "tickets.csv")["text"] == "Message"


def test_a_chinese_table_is_converted(tmp_path: Path) -> None:
    (tmp_path / "聊天.csv").write_text(
        "对话ID,角色,内容\n1,客户,我的包裹在哪里？\n1,客服,您好，正在派送。\n", encoding="utf-8"
    )
    convert(find_logs([str(tmp_path / "聊天.csv")]), tmp_path / "table")
    turns = next(iter(read_table(tmp_path / "table").select("turns").iter_rows()))["turns"]
    assert [(turn["speaker"], turn["text"]) for turn in turns] == [
        ("客户", "我的包裹在哪里？"),
        ("客服", "您好，正在派送。"),
    ]
