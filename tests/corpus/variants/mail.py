"""Mailboxes and single e-mails."""

from __future__ import annotations

from tests.corpus.variants.base import variant, zipped


def mail(number: int, sender: str, body: str, *, answers: str = "", subject: str = "Late order", more: str = "") -> str:
    references = (
        f"In-Reply-To: <{answers}@x.example>\nReferences: <1@x.example> <{answers}@x.example>\n" if answers else ""
    )
    return (
        f"Return-Path: <a@x.example>\nFrom: {sender}\nTo: Help <help@x.example>\nSubject: {subject}\n"
        f"Date: Wed, 1 May 2024 12:0{number}:00 +0200\nMessage-ID: <{number}@x.example>\n{references}"
        f"{more or 'Content-Type: text/plain; charset=utf-8' + chr(10)}\n{body}\n"
    )


FIRST = mail(1, "Ann Ash <ann@x.example>", "Where is it?\n\n-- \nAnn Ash\nGraz")
REPLY = mail(
    2,
    "Ben <ben@x.example>",
    "On its way.\n\nOn Wed, May 1, 2024 at 12:01 PM Ann Ash\n<ann@x.example> wrote:\n> Where is it?",
    answers="1",
    subject="Re: Late order",
)
THANKS = mail(
    3,
    '"Ash, Ann" <ann@x.example>',
    "Danke!\n\nAm 01.05.2024 um 12:02 schrieb Ben:\n> On its way.",
    answers="2",
    subject="AW: Late order",
)
MULTIPART = (
    "MIME-Version: 1.0\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@x.example>\nTo: help@x.example\nSubject: =?utf-8?b?w5xiZXI=?=\n"
    "Date: Wed, 1 May 2024 10:00:00 GMT\nMessage-ID: <9@y.example>\nContent-Type: multipart/mixed; boundary=B\n\n"
    "--B\nContent-Type: multipart/alternative; boundary=C\n\n--C\nContent-Type: text/plain; charset=iso-8859-1\n"
    "Content-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n\n--C\nContent-Type: text/html\n\n<p>Nope</p>\n--C--\n"
    "--B\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment\n\nAAAA\n--B--\n"
)  # fmt: skip
HTML = mail(
    4,
    "cleo@x.example",
    '<html><head><style>p{}</style></head><body><p>Hi&nbsp;you</p><div class="gmail_quote">old <div>x</div> one</div></body></html>',
    subject="New",
    more="Content-Type: text/html; charset=utf-8\n",
)
AWAY = mail(5, "ben@x.example", "I am away", answers="1", subject="Away", more="Auto-Submitted: auto-replied\n")
OUTLOOK = mail(
    6,
    "Dan <dan@x.example>",
    "Please call.\n\nFrom: Help\nSent: Wednesday, 1 May 2024 11:00\nTo: Dan\nSubject: Hello\n\nHow are you?",
    subject="Call",
)


def mbox(*mails: str) -> str:
    return "".join(f"From a@x.example Wed May  1 10:00:00 2024\n{one}\n" for one in mails)


THREAD = [("Ann Ash", "Where is it?", "2024-05-01T10:01:00"), ("Ben", "On its way."), ("Ash, Ann", "Danke!")]
VARIANTS = [
    variant("mbox thread and another mail", "mbox", mbox(FIRST, HTML, REPLY, AWAY, THANKS), [THREAD, [("cleo@x.example", "Hi you")]], file="help.mbox"),
    variant("mbox without references", "mbox", mbox(FIRST, mail(2, "Ben <ben@x.example>", ">From here on", subject="Re: Late order").replace(">From", ">>From"), mail(3, "Ben <ben@x.example>", "Soon.", subject="RE: Late order")), [[("Ann Ash", "Where is it?"), ("Ben", "Soon.")]], file="Sent"),
    variant("mbox with carriage returns", "mbox", mbox(FIRST, REPLY).replace("\n", "\r\n"), [THREAD[:2]], file="dos.mbox"),
    variant("eml multipart", "eml", MULTIPART, [[("Jürgen", "Grüße", "2024-05-01T10:00:00")]], file="one.eml"),
    variant("eml with an Outlook reply", "eml", OUTLOOK, [[("Dan", "Please call.")]], file="two.eml"),
    variant("eml folder of one thread", "eml", {"mails/a.eml": FIRST, "mails/b.eml": REPLY, "mails/c.eml": THANKS}, [THREAD], main="mails/b.eml"),
    variant("eml zip", "eml", zipped({"1.eml": FIRST, "2.eml": REPLY, "logo.png": b"\x89PNG"}), [THREAD[:2]], file="mails.zip"),
]  # fmt: skip
