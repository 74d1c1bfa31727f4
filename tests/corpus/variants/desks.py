"""Zendesk, Zendesk Chat, Intercom, Freshdesk, HubSpot and LiveChat."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.variants.base import jsonl, pretty, variant


def at(minute: int) -> str:
    return f"2024-05-01T10:{minute:02}:00Z"


def comment(number: int, author_id: int, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "Comment",
        "author_id": author_id,
        "body": text,
        "html_body": f"<p>{text}</p>",
        "plain_body": text,
        "public": True,
        "created_at": at(number),
        **more,
    }


TICKET = {
    "id": 35,
    "subject": "Late",
    "description": "Where is it?",
    "requester_id": 7,
    "submitter_id": 7,
    "assignee_id": 2,
    "tags": ["shipping"],
    "comments": [
        comment(1, 7, "Where is it?"),
        comment(3, 2, "On its way.\n\nOn Wed, May 1, 2024 at 10:01 AM Ann <ann@x.example> wrote:\n> Where is it?"),
        comment(2, 2, "she asks again", public=False),
        comment(4, -1, "This ticket was closed."),
    ],
}
TICKET_SAID = [
    ("customer", "Where is it?", "2024-05-01T10:01:00"),
    ("agent", "On its way."),
    ("bot", "This ticket was closed."),
]
TICKET_2 = {
    **TICKET,
    "id": 36,
    "comments": [comment(1, 8, "Hi", author={"role": "end-user"}), comment(2, 9, "Hello", author={"role": "admin"})],
}
HTML_ONLY = {
    "id": 37,
    "requester_id": 7,
    "comments": [
        {
            "id": 1,
            "author_id": 7,
            "html_body": '<div>One<br>two</div><blockquote class="gmail_quote">old</blockquote>',
            "created_at": at(1),
        }
    ],
}
WITH_USERS = {
    "ticket": {"id": 38, "requester_id": 1},
    "comments": [comment(1, 1, "a"), comment(2, 5, "b")],
    "users": [{"id": 1, "role": "end-user"}, {"id": 5, "role": "agent"}],
}


def event(minute: int, nick: str, text: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "chat.msg", "nick": nick, "name": nick.title(), "msg": text, "timestamp": at(minute), **more}


CHAT = {
    "id": "2405.1.ABC",
    "type": "chat",
    "visitor": {"name": "Visitor 1", "email": ""},
    "agent_names": ["Ben"],
    "timestamp": at(0),
    "history": [
        {"type": "chat.memberjoin", "nick": "visitor", "name": "Visitor 1", "timestamp": at(0)},
        event(1, "agent:trigger", "How can we help?"),
        event(2, "visitor", "My code fails"),
        event(3, "agent:1234", "Which one?"),
        {"type": "chat.rating", "nick": "visitor", "new_rating": "good", "timestamp": at(4)},
    ],
}
CHAT_SAID = [("bot", "How can we help?"), ("customer", "My code fails", "2024-05-01T10:02:00"), ("agent", "Which one?")]
OFFLINE = {
    "id": "2405.2.DEF",
    "type": "offline_msg",
    "visitor": {"name": "Cleo"},
    "message": "Call me",
    "timestamp": at(5),
}
SENDERS = {
    "id": "3",
    "type": "chat",
    "history": [
        event(1, "a", "hi", sender_type="Visitor"),
        event(2, "b", "hello", sender_type="Agent"),
        event(3, "c", "beep", sender_type="Trigger"),
    ],
}


def part(number: int, written_by: str, text: str | None, what: str = "comment", **more: Any) -> dict[str, Any]:
    return {
        "type": "conversation_part",
        "id": str(number),
        "part_type": what,
        "body": text,
        "created_at": 1714557600 + 60 * number,
        "author": {"type": written_by, "id": "1", "name": "N"},
        **more,
    }


INTERCOM = {
    "type": "conversation",
    "id": "147",
    "created_at": 1714557600,
    "source": {
        "type": "conversation",
        "delivered_as": "customer_initiated",
        "body": "<p>I need a refund</p>",
        "author": {"type": "user", "id": "9", "name": "Ann"},
    },
    "conversation_parts": {
        "type": "conversation_part.list",
        "conversation_parts": [
            part(1, "bot", "<p>One moment</p>"),
            part(2, "admin", None, "assignment"),
            part(3, "admin", "<p>check &amp; pay</p>", "note"),
            part(4, "admin", "<p>It is <b>done</b></p>"),
        ],
    },
}
INTERCOM_SAID = [("customer", "I need a refund", "2024-05-01T10:00:00"), ("bot", "One moment"), ("agent", "It is done")]
INTERCOM_OLD = {
    "type": "conversation",
    "id": "1",
    "created_at": 1714557600,
    "conversation_message": {"body": "Hi", "author": {"type": "lead", "id": "1"}},
    "conversation_parts": {"conversation_parts": [part(1, "admin", "Hello"), part(2, "lead", "gone", redacted=True)]},
}
INTERCOM_FLAT = {
    "id": "2",
    "source": {"body": "Hi", "author": {"type": "contact"}},
    "created_at": 1714557600,
    "conversation_parts": [part(1, "team", "Hello")],
}

FRESHDESK = {
    "id": 12,
    "subject": "Refund",
    "requester_id": 5,
    "description": "<div>I want my money</div>",
    "description_text": "I want my money",
    "created_at": at(0),
    "conversations": [
        {
            "id": 2,
            "body": "<div>Sure</div>",
            "body_text": "Sure",
            "incoming": False,
            "private": False,
            "user_id": 2,
            "created_at": at(2),
        },
        {
            "id": 1,
            "body": "<div>check him</div>",
            "body_text": "check him",
            "incoming": False,
            "private": True,
            "user_id": 2,
            "created_at": at(1),
        },
        {
            "id": 3,
            "body": "<div>Thanks</div>",
            "body_text": "Thanks\n\nFrom: Shop\nSent: Wednesday\nTo: Ann\nSure",
            "incoming": True,
            "private": False,
            "user_id": 5,
            "created_at": at(3),
        },
    ],
}
FRESHDESK_SAID = [("customer", "I want my money", "2024-05-01T10:00:00"), ("agent", "Sure"), ("customer", "Thanks")]
FRESHDESK_OLD = {
    "helpdesk_ticket": {
        "display_id": 12,
        "requester_id": 5,
        "description": "I want my money",
        "created_at": "2024-05-01T12:00:00+02:00",
        "notes": [
            {
                "helpdesk_note": {
                    "id": 1,
                    "body": "Sure",
                    "incoming": False,
                    "private": False,
                    "deleted": False,
                    "created_at": "2024-05-01T12:02:00+02:00",
                }
            },
            {
                "id": 2,
                "body": "Oops",
                "incoming": False,
                "private": False,
                "deleted": True,
                "created_at": "2024-05-01T12:02:30+02:00",
            },
            {
                "id": 3,
                "body": "Thanks",
                "incoming": True,
                "private": False,
                "deleted": False,
                "created_at": "2024-05-01T12:03:00+02:00",
            },
        ],
    }
}


def hubspot(minute: int, actor: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m{minute}",
        "type": "MESSAGE",
        "conversationsThreadId": "77",
        "createdAt": at(minute),
        "senders": [{"actorId": actor, "name": "N"}],
        "direction": "INCOMING" if actor[0] == "V" else "OUTGOING",
        "text": text,
        "richText": f"<p>{text}</p>",
        **more,
    }


HUBSPOT = [
    hubspot(5, "A-1", "It is off now"),
    hubspot(4, "A-1", "ask Ben", type="COMMENT"),
    hubspot(3, "V-2", "Turn it off"),
    hubspot(2, "B-3", "Welcome!"),
    {
        "id": "m1",
        "type": "THREAD_STATUS_CHANGE",
        "conversationsThreadId": "77",
        "createdAt": at(1),
        "newStatus": "OPEN",
    },
]
HUBSPOT_SAID = [("bot", "Welcome!"), ("customer", "Turn it off", "2024-05-01T10:03:00"), ("agent", "It is off now")]
HUBSPOT_THREADS = {
    "results": [
        {"id": "1", "status": "CLOSED", "messages": {"results": [hubspot(1, "V-1", "a"), hubspot(2, "A-1", "b")]}}
    ]
}

LIVECHAT = {
    "id": "PJ0MRSHTDG",
    "users": [{"id": "c1", "type": "customer", "name": "Ann"}, {"id": "ben@x.example", "type": "agent", "name": "Ben"}],
    "thread": {
        "id": "K600PKZON8",
        "created_at": "2024-05-01T10:00:00.000000Z",
        "events": [
            {
                "id": "e0",
                "type": "system_message",
                "text": "Chat started",
                "created_at": "2024-05-01T10:00:00.000000Z",
                "system_message_type": "routing.assigned",
            },
            {
                "id": "e1",
                "type": "message",
                "text": "Hello?",
                "author_id": "c1",
                "created_at": "2024-05-01T10:01:00.000000Z",
                "visibility": "all",
            },
            {
                "id": "e2",
                "type": "message",
                "text": "she is nice",
                "author_id": "ben@x.example",
                "created_at": "2024-05-01T10:02:00.000000Z",
                "visibility": "agents",
            },
            {
                "id": "e3",
                "type": "message",
                "text": "Hi Ann",
                "author_id": "ben@x.example",
                "created_at": "2024-05-01T10:03:00.000000Z",
                "visibility": "all",
            },
            {
                "id": "e4",
                "type": "file",
                "name": "a.png",
                "author_id": "c1",
                "created_at": "2024-05-01T10:04:00.000000Z",
            },
        ],
    },
}
LIVECHAT_SAID = [("customer", "Hello?", "2024-05-01T10:01:00"), ("agent", "Hi Ann")]
LIVECHAT_2 = {
    "chats": [
        {
            "type": "chat",
            "id": "MH022RD0K5",
            "messages": [
                {
                    "author_name": "Ann",
                    "text": "Hello?",
                    "date": "Wed, 05/01/24 10:01:00 am",
                    "timestamp": 1714557660,
                    "user_type": "visitor",
                },
                {
                    "author_name": "Ben",
                    "text": "Hi Ann",
                    "date": "Wed, 05/01/24 10:03:00 am",
                    "timestamp": 1714557780,
                    "user_type": "agent",
                    "agent_id": "ben@x.example",
                },
            ],
        }
    ],
    "total": 1,
}

VARIANTS = [
    variant("zendesk, a ticket per line", "zendesk", jsonl(TICKET, TICKET_2), [TICKET_SAID, [("customer", "Hi"), ("agent", "Hello")]], file="tickets.json"),
    variant("zendesk list of tickets", "zendesk", pretty({"tickets": [TICKET], "next_page": None}), [TICKET_SAID], file="tickets.json"),
    variant("zendesk html bodies", "zendesk", pretty([HTML_ONLY]), [[("customer", "One\ntwo")]], file="t.json"),
    variant("zendesk ticket with users", "zendesk", pretty(WITH_USERS), [[("customer", "a"), ("agent", "b")]], file="38.json"),
    variant("zendesk chat list", "zendesk-chat", pretty({"chats": [CHAT, OFFLINE]}), [CHAT_SAID, [("customer", "Call me")]], file="chats.json"),
    variant("zendesk chat per line", "zendesk-chat", jsonl(CHAT), [CHAT_SAID], file="chats.jsonl"),
    variant("zendesk chat with sender types", "zendesk-chat", json.dumps([SENDERS]), [[("customer", "hi"), ("agent", "hello"), ("bot", "beep")]], file="c.json"),
    variant("intercom conversation", "intercom", pretty(INTERCOM), [INTERCOM_SAID], file="147.json"),
    variant("intercom list", "intercom", pretty({"type": "conversation.list", "conversations": [INTERCOM]}), [INTERCOM_SAID], file="list.json"),
    variant("intercom older api", "intercom", jsonl(INTERCOM_OLD), [[("customer", "Hi"), ("agent", "Hello")]], file="old.jsonl"),
    variant("intercom flat parts", "intercom", pretty([INTERCOM_FLAT]), [[("customer", "Hi"), ("N", "Hello")]], file="flat.json"),
    variant("freshdesk api", "freshdesk", pretty([FRESHDESK]), [FRESHDESK_SAID], file="tickets.json"),
    variant("freshdesk per line", "freshdesk", jsonl(FRESHDESK), [FRESHDESK_SAID], file="tickets.jsonl"),
    variant("freshdesk account export", "freshdesk", pretty([FRESHDESK_OLD]), [FRESHDESK_SAID], file="Tickets0.json"),
    variant("hubspot thread, newest first", "hubspot", pretty({"results": HUBSPOT, "paging": {}}), [HUBSPOT_SAID], file="77.json"),
    variant("hubspot messages per line", "hubspot", jsonl(*HUBSPOT), [HUBSPOT_SAID], file="messages.jsonl"),
    variant("hubspot threads with messages", "hubspot", pretty(HUBSPOT_THREADS), [[("customer", "a"), ("agent", "b")]], file="threads.json"),
    variant("livechat version 3", "livechat", pretty({"chats": [LIVECHAT], "found_chats": 1}), [LIVECHAT_SAID], file="archives.json"),
    variant("livechat version 2", "livechat", pretty(LIVECHAT_2), [LIVECHAT_SAID], file="chats.json"),
    variant("livechat several threads", "livechat", jsonl({**{k: v for k, v in LIVECHAT.items() if k != "thread"}, "threads": [LIVECHAT["thread"]]}), [LIVECHAT_SAID], file="chats.jsonl"),
]  # fmt: skip
