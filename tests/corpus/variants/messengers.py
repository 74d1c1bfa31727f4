"""Slack, Microsoft Teams, WhatsApp, Telegram and Discord."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.variants.base import jsonl, pretty, variant, zipped

USERS = json.dumps(
    [
        {"id": "U01", "name": "ann", "profile": {"display_name": "Ann", "real_name": "Ann Ash"}},
        {"id": "U02", "name": "ben", "real_name": "Ben Bay", "profile": {"display_name": ""}},
        {"id": "U03", "name": "robo", "is_bot": True, "profile": {"real_name": "Robo"}},
    ]
)
CHANNELS = json.dumps([{"id": "C01", "name": "help", "created": 1714500000, "members": ["U01", "U02"]}])
DAY_1: list[dict[str, Any]] = [
    {"type": "message", "subtype": "channel_join", "user": "U01", "text": "<@U01> has joined the channel", "ts": "1714550000.000100"},
    {"type": "message", "user": "U01", "text": "My <https://x.example/o|order> is late, <@U02>", "ts": "1714550400.000200", "thread_ts": "1714550400.000200", "reply_count": 2},
    {"type": "message", "user": "U02", "text": "I look &amp; tell you", "ts": "1714550460.000300", "thread_ts": "1714550400.000200", "parent_user_id": "U01"},
    {"type": "message", "user": "U01", "text": "lunch?", "ts": "1714550470.000400"},
    {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "deploys", "text": "done", "ts": "1714550480.000500"},
    {"type": "message", "subtype": "tombstone", "user": "U02", "text": "This message was deleted.", "ts": "1714550490.000600"},
]  # fmt: skip
DAY_2 = [
    {"type": "message", "user": "U02", "text": "It arrives today", "ts": "1714640000.000100", "thread_ts": "1714550400.000200", "edited": {"user": "U02", "ts": "1714640001.000000"}},
]  # fmt: skip
SLACK = {
    "users.json": USERS,
    "channels.json": CHANNELS,
    "help/2024-05-01.json": pretty(DAY_1),
    "help/2024-05-02.json": pretty(DAY_2),
}
SLACK_SAID = [
    [
        ("Ann", "My order is late, @Ben Bay", "2024-05-01T08:00:00"),
        ("Ben Bay", "I look & tell you", "2024-05-01T08:01:00"),
        ("Ben Bay", "It arrives today", "2024-05-02T08:53:20"),
    ],
    [("Ann", "lunch?"), ("bot", "done")],
]
PROFILES = [
    {"client_msg_id": "1", "type": "message", "text": "hi", "user": "U9", "ts": "1714550400.000200", "user_profile": {"display_name": "cleo", "real_name": "Cleo Cox"}},
    {"type": "message", "text": "hello", "user": "U8", "ts": "1714550401.000200", "user_profile": {"display_name": "", "real_name": "Dan Dee"}},
    {"type": "message", "text": "", "user": "U8", "ts": "1714550402.000200", "files": [{"id": "F1"}]},
]  # fmt: skip


def graph(number: int, text: str, name: str | None, **more: Any) -> dict[str, Any]:
    sender = {"user": {"displayName": name, "id": f"u-{name}"}} if name else {"application": {"displayName": "Helper"}}
    return {
        "id": f"171455040{number}000",
        "messageType": "message",
        "createdDateTime": f"2024-05-01T10:0{number}:00Z",
        "deletedDateTime": None,
        "chatId": "19:abc@thread.v2",
        "from": sender,
        "body": {"contentType": "html", "content": text},
        **more,
    }


CHANNEL = {"channelIdentity": {"teamId": "t1", "channelId": "19:chan@thread.tacv2"}, "chatId": None}
GRAPH = [
    graph(3, '<p>Fixed&nbsp;now</p><attachment id="1"></attachment>', "Ben"),
    graph(2, "", None, messageType="systemEventMessage", **{"from": None}),
    graph(1, "<div><p>My mail is broken</p></div>", "Ann"),
    graph(0, "Hello, I am a bot", None, body={"contentType": "text", "content": "Hello, I am a bot"}),
]
SKYPE = {
    "userId": "8:ann",
    "exportDate": "2024-05-02T12:00",
    "conversations": [
        {
            "id": "8:live:ben",
            "displayName": "Ben",
            "properties": {"conversationblocked": False},
            "MessageList": [
                {"id": "2", "displayName": "Ann", "originalarrivaltime": "2024-05-01T10:01:00.5Z", "messagetype": "RichText", "content": "yes &lt;b&gt; <ss type=\"smile\">:)</ss>", "from": "8:ann"},
                {"id": "1", "displayName": "Ben", "originalarrivaltime": "2024-05-01T10:00:00Z", "messagetype": "Text", "content": "there?", "from": "8:live:ben"},
                {"id": "0", "displayName": None, "originalarrivaltime": "2024-05-01T09:59:00Z", "messagetype": "Event/Call", "content": "<partlist/>", "from": "8:live:ben"},
            ],
        }
    ],
}  # fmt: skip

ANDROID_US = (
    "12/31/23, 9:14\u202fPM - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.\n"
    "12/31/23, 9:15\u202fPM - Ann: Is table 5 free?\n12/31/23, 9:16\u202fPM - Shop Berlin: Yes: it is\nfor four people\n"
    "12/31/23, 9:17\u202fPM - Ann: <Media omitted>\n12/31/23, 9:18\u202fPM - Ann: This message was deleted\n"
    "1/2/24, 8:00\u202fAM - Ann: We are late <This message was edited>\n"
)
ANDROID_US_SAID = [
    [("Ann", "Is table 5 free?", "2023-12-31T21:15:00"), ("Shop Berlin", "Yes: it is\nfor four people")],
    [("Ann", "We are late", "2024-01-02T08:00:00")],
]
IOS_DE = (
    "[31.12.23, 21:14:59] Shop: \u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.\n"
    "[31.12.23, 21:15:01] Ann: Ist Tisch 5 frei?\n\u200e[31.12.23, 21:15:30] Ann: \u200eBild weggelassen\n"
    "[31.12.23, 21:16:02] \u202a+49\u00a0170\u00a01234567\u202c: Ja\n"
)
ANDROID_IN = "13/05/2024, 10:15 am - Ann: hello\n13/05/2024, 10:16 pm - Ann added Ben\n14/05/2024, 9:00 am - Ben: hi\n"
ANDROID_DE = "01.05.24, 10:15 - Ann: Guten Tag\n13.05.24, 10:15 - Ben: IMG-20240513-WA0001.jpg (Datei angehängt)\nso sieht es aus\n"
IOS_US = (
    "[5/13/24, 10:15:00 AM] Ann: hello\n[5/13/24, 10:15:30 AM] Ann: \u200e<attached: 00000012-PHOTO-2024-05-13.jpg>\n"
    "[5/13/24, 10:16:00 AM] ~\u202fBen: hi there\n"
)
ANDROID_BR = "13/05/2024 10:15 - Ann: oi\n13/05/2024 10:16 - Ben: Mensagem apagada\n13/05/2024 10:17 - Ben: bom dia\n"
ANDROID_ISO = "2024-05-13, 10:15 - Ann: hej\n2024-05-13, 10.16 - Ben: hejsan\n"


def telegram(number: int, name: str | None, text: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "type": "message", "date": f"2024-05-01T12:0{number}:00", "date_unixtime": str(1714557600 + 60 * number), "from": name, "from_id": f"user{name}", "text": text, **more}  # fmt: skip


TELEGRAM = {
    "name": "Ann",
    "type": "personal_chat",
    "id": 4242,
    "messages": [
        {"id": 0, "type": "service", "date": "2024-05-01T12:00:00", "date_unixtime": "1714557600", "actor": "Ann", "actor_id": "user1", "action": "phone_call", "text": ""},
        telegram(1, "Ann", ["see ", {"type": "link", "text": "https://x.example"}, "!"]),
        telegram(2, "Shop", "done", edited="2024-05-01T12:05:00"),
        telegram(3, "Shop", "", photo="photos/1.jpg"),
        telegram(4, None, "bye"),
    ],
}  # fmt: skip
TELEGRAM_SAID = [("Ann", "see https://x.example!", "2024-05-01T10:01:00"), ("Shop", "done"), ("userNone", "bye")]
TELEGRAM_ALL = {
    "about": "Here is the data you requested.",
    "contacts": {"about": "", "list": [{"first_name": "Ann", "date": "2020-01-01T00:00:00"}]},
    "chats": {
        "about": "",
        "list": [
            {"name": "Ann", "type": "personal_chat", "id": 1, "messages": [telegram(1, "Ann", "one"), telegram(2, "Me", "two")]},
            {"name": "Helper", "type": "bot_chat", "id": 2, "messages": [telegram(1, "Me", "/start"), telegram(2, "Helper", "welcome")]},
        ],
    },
}  # fmt: skip
TELEGRAM_OLD = {
    "name": "Team",
    "type": "private_supergroup",
    "id": 9,
    "messages": [
        {"id": 1, "type": "message", "date": "2019-05-01T12:00:00", "from": "Ann", "from_id": 7, "text": "hi"}
    ],
}


def discord(number: int, name: str, text: str, **more: Any) -> dict[str, Any]:
    author = {
        "id": f"1{number}",
        "name": name,
        "discriminator": "0000",
        "nickname": more.pop("nickname", None),
        "isBot": more.pop("bot", False),
    }
    return {"id": str(number), "type": "Default", "timestamp": f"2024-05-01T10:0{number}:00+02:00", "timestampEdited": None, "isPinned": False, "content": text, "author": author, "attachments": [], **more}  # fmt: skip


DISCORD = {
    "guild": {"id": "1", "name": "Shop", "iconUrl": ""},
    "channel": {"id": "2", "type": "GuildTextChat", "category": "Support", "name": "help", "topic": None},
    "dateRange": {"after": None, "before": None},
    "exportedAt": "2024-05-02T00:00:00+00:00",
    "messages": [
        discord(0, "ann", "", type="GuildMemberJoin"),
        discord(1, "ann", "it crashes", nickname="Ann A"),
        discord(2, "robo", "Have you tried again?", bot=True),
        discord(3, "ben", "fixed", type="Reply", timestampEdited="2024-05-01T12:00:00+02:00", reference={"messageId": "1"}),
    ],
    "messageCount": 4,
}  # fmt: skip
DISCORD_SAID = [[("Ann A", "it crashes", "2024-05-01T08:01:00"), ("bot", "Have you tried again?"), ("ben", "fixed")]]
DISCORD_OLD = {
    "guild": {"id": "0", "name": "Direct Messages"},
    "channel": {"id": "2", "type": "DirectTextChat", "name": "ann"},
    "messages": [
        {"id": "1", "type": "0", "timestamp": "2019-05-01T10:00:00+00:00", "content": "hi", "author": {"id": "3", "name": "ann", "isBot": False}},
        {"id": "2", "type": "19", "timestamp": "2019-05-03T10:00:00+00:00", "content": "back", "author": {"id": "3", "name": "ann", "isBot": False}},
    ],
}  # fmt: skip

VARIANTS = [
    variant("slack folder", "slack", dict(SLACK), SLACK_SAID, main="help/2024-05-01.json"),
    variant("slack zip", "slack", zipped(SLACK), SLACK_SAID, file="Acme Slack export.zip"),
    variant("slack single day with profiles", "slack", json.dumps(PROFILES), [[("cleo", "hi"), ("Dan Dee", "hello")]], file="2024-05-01.json"),
    variant("slack api history", "slack", pretty({"ok": True, "messages": PROFILES[1::-1], "has_more": False}), [[("cleo", "hi"), ("Dan Dee", "hello")]], file="history.json"),
    variant("teams graph chat, newest first", "teams", pretty({"@odata.count": 4, "value": GRAPH}), [[("bot", "Hello, I am a bot"), ("Ann", "My mail is broken", "2024-05-01T10:01:00"), ("Ben", "Fixed now")]], file="chat.json"),
    variant("teams channel with replies", "teams", pretty({"value": [graph(1, "<p>one</p>", "Ann", **CHANNEL), graph(3, "two", "Cleo", **CHANNEL), graph(2, "<p>re one</p>", "Ben", replyToId="1714550401000", **CHANNEL)]}), [[("Ann", "one"), ("Ben", "re one")], [("Cleo", "two")]], file="channel.json"),
    variant("teams deleted, one per line", "teams", jsonl(graph(1, "one", "Ann"), graph(2, "gone", "Ann", deletedDateTime="2024-05-01T11:00:00Z"), graph(3, "two", "Ben")), [[("Ann", "one"), ("Ben", "two")]], file="chat.jsonl"),
    variant("teams personal export", "teams", pretty(SKYPE), [[("Ben", "there?"), ("Ann", "yes <b> :)", "2024-05-01T10:01:00.5")]], file="messages.json"),
    variant("whatsapp android us", "whatsapp", ANDROID_US, ANDROID_US_SAID, file="WhatsApp Chat with Shop.txt"),
    variant("whatsapp ios german", "whatsapp", IOS_DE, [[("Ann", "Ist Tisch 5 frei?", "2023-12-31T21:15:01"), ("+49\u00a0170\u00a01234567", "Ja")]], file="_chat.txt"),
    variant("whatsapp ios zip with media", "whatsapp", zipped({"_chat.txt": IOS_US, "00000012-PHOTO-2024-05-13.jpg": b"\xff\xd8\xff"}), [[("Ann", "hello"), ("Ben", "hi there", "2024-05-13T10:16:00")]], file="WhatsApp Chat - Ben.zip"),
    variant("whatsapp android india", "whatsapp", ANDROID_IN, [[("Ann", "hello", "2024-05-13T10:15:00")], [("Ben", "hi", "2024-05-14T09:00:00")]], file="chat.txt"),
    variant("whatsapp android german with caption", "whatsapp", ANDROID_DE, [[("Ann", "Guten Tag", "2024-05-01T10:15:00")], [("Ben", "so sieht es aus", "2024-05-13T10:15:00")]], file="chat.txt"),
    variant("whatsapp android brazil", "whatsapp", ANDROID_BR, [[("Ann", "oi", "2024-05-13T10:15:00"), ("Ben", "bom dia")]], file="chat.txt"),
    variant("whatsapp android year first", "whatsapp", ANDROID_ISO, [[("Ann", "hej", "2024-05-13T10:15:00"), ("Ben", "hejsan", "2024-05-13T10:16:00")]], file="chat.txt"),
    variant("telegram one chat", "telegram", pretty(TELEGRAM), [TELEGRAM_SAID], file="result.json"),
    variant("telegram all chats", "telegram", pretty(TELEGRAM_ALL), [[("Ann", "one"), ("Me", "two")], [("Me", "/start"), ("bot", "welcome")]], file="result.json"),
    variant("telegram without unix times", "telegram", json.dumps(TELEGRAM_OLD), [[("Ann", "hi", "2019-05-01T12:00:00")]], file="result.json"),
    variant("discord channel", "discord", pretty(DISCORD), DISCORD_SAID, file="Shop - help [2].json"),
    variant("discord minified", "discord", json.dumps(DISCORD), DISCORD_SAID, file="help.json"),
    variant("discord old, two days", "discord", pretty(DISCORD_OLD), [[("ann", "hi")], [("ann", "back")]], file="dm.json"),
]  # fmt: skip
