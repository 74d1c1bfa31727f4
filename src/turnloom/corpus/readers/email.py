"""E-mail: mailboxes (mbox) and single messages (.eml). Messages are joined to threads, and quoted ones cut off."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import getaddresses

from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.chats import Message, group_messages
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection, shorten
from turnloom.corpus.readers.markup import plain_text, without_quotes

MAX_MESSAGE_BYTES = 64 * 2**20
"""With its attachments."""
MAX_HEADER_CHARS = 20_000
_FROM_LINE = re.compile(rb"^From \S+.*\d{4}|^From \S+ +\w{3} \w{3} ")
_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]{1,40}):\s")
_TELLING = frozenset(
    ["from", "to", "subject", "date", "message-id", "received", "mime-version", "return-path", "content-type", "cc"]
)
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,500}>")
_SUBJECT_PREFIX = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|antw|sv|vs|rv|r|tr)\s*(?:\[\d+\])?\s*:)+\s*", re.IGNORECASE)
_AUTOMATIC = ("auto-replied", "auto-generated")


def _header_names(lines: list[str]) -> list[str]:
    """Return the names of the headers that a text starts with."""
    names = []
    for line in lines:
        if match := _HEADER.match(line):
            names.append(match[1].lower())
        elif not line[:1].isspace() or not line.strip():
            break
    return names


class MailReader:
    """Reads a mailbox or a single message."""

    pieces = True
    spans_files = True

    def __init__(self, name: str, title: str, *, many: bool) -> None:
        self.name, self.title, self._many = name, title, many

    def recognise(self, head: Head) -> str | None:
        """Recognise the line before each message of a mailbox, or the headers of a single one."""
        content = head.content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
        if self._many:
            if not _FROM_LINE.match(content[:1_000].partition(b"\n")[0]):
                return None
            content = content.partition(b"\n")[2]
        names = _header_names(content[: 2**16].decode("utf-8", "replace").splitlines())
        telling = [name for name in dict.fromkeys(names) if name in _TELLING]
        if "from" not in telling or len(telling) < 3:
            return None
        start = "it starts with a 'From ' line and" if self._many else "it starts with"
        return f"{start} the headers of an e-mail ({', '.join(telling[:4])})"

    def check(self, head: Head, options: ReadOptions) -> None:
        """E-mails name their own fields, so there is nothing to check."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the threads of the mailbox, in pieces."""
        yield from group_messages(self._messages(stream, options), options, pieces=True)

    def _messages(self, stream: ByteStream, options: ReadOptions) -> Iterator[Message | Rejection]:
        threads = _Threads()
        for entry in _split(stream, many=self._many):
            yield entry if isinstance(entry, Rejection) else threads.message(*entry, options)


def _split(stream: ByteStream, *, many: bool) -> Iterator[tuple[int, bytes] | Rejection]:
    """Yield the messages of a mailbox with the number of their first line."""
    lines: list[bytes] = []
    number, first, size = 0, 1, 0
    after_blank = True
    while line := stream.readline(2**20):
        number += 1
        if many and after_blank and _FROM_LINE.match(line[:1_000]):
            yield from _whole(first, lines, size)
            lines, first, size = [], number, 0
        else:
            if many and line.startswith(b">From "):
                line = line[1:]  # Written so that it does not look like the start of a message.
            size += len(line)
            if size <= MAX_MESSAGE_BYTES:
                lines.append(line)
        after_blank = not line.strip()
    yield from _whole(first, lines, size)


def _whole(first: int, lines: list[bytes], size: int) -> Iterator[tuple[int, bytes] | Rejection]:
    if size > MAX_MESSAGE_BYTES:
        yield Rejection(first, f"the e-mail is longer than {MAX_MESSAGE_BYTES // 2**20} MiB", shorten(lines[0]))
    elif any(line.strip() for line in lines):
        yield first, b"".join(lines)


class _Threads:
    """The threads of a mailbox. Only the ids of messages are kept."""

    def __init__(self) -> None:
        self._by_message: dict[str, str] = {}

    def message(self, line: int, content: bytes, options: ReadOptions) -> Message | Rejection:
        try:
            mail = email.message_from_bytes(content.lstrip(b"\r\n"), policy=email.policy.default)
            return self._parsed(line, mail, options)
        except RecursionError:
            return Rejection(line, "the e-mail is nested too deeply", shorten(content))
        except Exception as error:  # The standard library raises many kinds at broken headers and parts.
            return Rejection(line, f"it is no e-mail: {type(error).__name__} {error}", shorten(content))

    def _parsed(self, line: int, mail: EmailMessage, options: ReadOptions) -> Message | Rejection:
        sender = getaddresses([_header(mail, "From")])
        name, address = sender[0] if sender else ("", "")
        if not name and not address:
            return Rejection(line, "the e-mail has no sender", shorten(str(mail)[:1_000]))
        automatic = _header(mail, "Auto-Submitted").lower().startswith(_AUTOMATIC)
        return Message(
            line,
            chat="",
            speaker=name.strip() or address,
            text="" if automatic else without_quotes(_body(mail)),
            time=options.times.read(_header(mail, "Date") or None),
            thread=self._thread(mail, line, options),
        )

    def _thread(self, mail: EmailMessage, line: int, options: ReadOptions) -> str:
        """Return the thread: its first message by References, else that of the one answered, else the subject's."""
        own = (_MESSAGE_ID.findall(_header(mail, "Message-ID")) or [""])[0]
        before = _MESSAGE_ID.findall(_header(mail, "References")) or _MESSAGE_ID.findall(_header(mail, "In-Reply-To"))
        subject = " ".join(_header(mail, "Subject").split())
        bare = _SUBJECT_PREFIX.sub("", subject).strip().lower()
        known = next((self._by_message[one] for one in before if one in self._by_message), None)
        answered = None if before or bare == subject.lower() else self._by_message.get(f"subject {bare}")
        thread = known or answered or (before[0] if before else own) or f"{options.stem}-{line}"
        for one in (own, *before, f"subject {bare}" if bare else ""):
            if one:
                self._by_message.setdefault(one, thread)
        return thread.strip("<>")[:500]


def _header(mail: EmailMessage, name: str) -> str:
    value = mail.get(name)
    return str(value)[:MAX_HEADER_CHARS] if value is not None else ""


def _body(mail: EmailMessage) -> str:
    """Return the plain text, or the text of the HTML if there is none; attachments are passed over."""
    part = mail.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, KeyError):  # An unknown charset or type.
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if not isinstance(content, str):
        return ""
    content = content.encode("utf-8", "replace").decode("utf-8")
    return plain_text(content, keep_quotes=False) if part.get_content_type() == "text/html" else content


MBOX = MailReader("mbox", "mailbox of e-mails (mbox)", many=True)
EML = MailReader("eml", "a single e-mail (.eml)", many=False)
