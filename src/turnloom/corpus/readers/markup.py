"""The plain text of HTML, and of a reply without the messages that it quotes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html import unescape

_TAG = re.compile(
    r"<(?P<closing>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)(?P<attributes>(?:[\s/][^<>]*)?)>|<!--|<![a-zA-Z][^<>]*>"
)
"""Each part ends at the next bracket, so that no text takes quadratic time, as it does in the standard library."""
_BLOCKS = frozenset(
    (
        *("p", "div", "br", "tr", "li", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre"),
        *("hr", "section", "article", "header", "footer"),
    )
)
_UNSEEN = frozenset(("script", "style", "head", "title"))
_QUOTES = ("gmail_quote", "yahoo_quoted", "moz-cite-prefix", "quote_container", "OutlookMessageHeader", "zmail_extra")
_VOID = frozenset(("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr"))
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_BLANK_LINES = re.compile(r" ?\n[ \n]*")


def plain_text(text: str, *, keep_quotes: bool = True) -> str:
    """Return the visible text of HTML; text without tags only loses its character references.

    Example:
        >>> plain_text("<p>Hi Ann,</p><p>2 &lt; 3</p>")
        'Hi Ann,\\n2 < 3'
    """
    if not _TAG.search(text):
        return unescape(text) if "&" in text else text
    lines = _SPACES.sub(" ", unescape("".join(_visible(_without_comments(text), keep_quotes=keep_quotes))))
    return _BLANK_LINES.sub("\n", lines).strip()


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def _visible(text: str, *, keep_quotes: bool) -> Iterator[str]:
    """Yield the pieces of text between tags, with line breaks for blocks, and without hidden and quoted elements."""
    hidden, depth, at = "", 0, 0  # The outermost hidden element, and how often its name is open.
    for tag in _TAG.finditer(text):
        if not hidden:
            yield text[at : tag.start()].replace("\n", " ")  # A line break between tags means as little as a space.
        at, name = tag.end(), (tag["name"] or "").lower()
        if hidden:
            if name == hidden:
                depth += -1 if tag["closing"] else 1
            hidden = hidden if depth else ""
        elif name and name not in _VOID and not tag["closing"] and _is_hidden(name, tag["attributes"], keep_quotes):
            hidden, depth = name, 1
        elif name in _BLOCKS:
            yield "\n"
    if not hidden:
        yield text[at:].replace("\n", " ")


def _is_hidden(name: str, attributes: str, keep_quotes: bool) -> bool:
    return name in _UNSEEN or (not keep_quotes and any(mark in attributes for mark in _QUOTES))


_HTML = re.compile(
    r"</?(?:p|div|br|span|a|b|i|u|em|strong|font|ul|ol|li|table|tbody|tr|td|th|blockquote|pre|h[1-6]|hr|img|html|body)"
    r"""(?:\s+[a-z-]+\s*=[^<>]*|\s*)/?>""",
    re.IGNORECASE,
)
"""A tag with nothing in it but attributes: `x <b and c> d` has none."""


def _is_html(text: str) -> bool:
    """Whether a text has several tags, one at its start or end, or a line break; a single tag may be talked about."""
    tags = list(itertools.islice(_HTML.finditer(text), 2))
    if len(tags) != 1:
        return bool(tags)
    start, end = tags[0].span()
    before, after = text[:start], text[end:]
    if not before.strip() or not after.strip():
        return True
    return tags[0][0].lower().startswith("<br") and not (before[-1].isspace() and after[0].isspace())


def plain_cell(text: str) -> str:
    """Return a table's cell without HTML, if it is HTML, and without a mail app's line at its end.

    Example:
        >>> plain_cell("<p>Hi Ann,<br>it works.</p><div>Sent from my iPhone</div>")
        'Hi Ann,\\nit works.'
        >>> plain_cell("x < y and y > z, how do I write <br> in a mail?")
        'x < y and y > z, how do I write <br> in a mail?'
    """
    if "<" in text and _is_html(text):
        text = plain_text(text, keep_quotes=False)
    return without_app_line(text)


_QUOTE_STARTS = re.compile(
    r"""^(?:
    -{2,}\s*(?:original\ message|forwarded\ message|urspr[üu]ngliche\ nachricht|mensaje\ original|message\ d'origine
        |messaggio\ originale|mensagem\ original|oorspronkelijk\ bericht|reply\ above\ this\ line)\s*-{2,}
    |\#{2,}-?\s*please\ type\ your\ reply\ above\ this\ line\s*-?\#{2,}
    |_{20,}
    |on\b.{4,200}\bwrote\s*:
    |am\b.{4,200}\bschrieb\b.{0,200}:
    |le\b.{4,200}\ba\ [ée]crit\s*:
    |el\b.{4,200}\bescribi[óo]\s*:
    |il\b.{4,200}\bha\ scritto\s*:
    |em\b.{4,200}\bescreveu\s*:
    |op\b.{4,200}\bschreef\b.{0,200}:
    )\s*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_HEADER = re.compile(r"^\s*\*?(?:from|von|de|da|van)\s*:\*?\s", re.IGNORECASE)
_NEXT_HEADER = re.compile(
    r"^\s*\*?(?:sent|date|to|subject|gesendet|datum|an|betreff|envoy[ée]|enviado|para|asunto|inviato|verzonden)\s*:\*?\s",
    re.IGNORECASE,
)


_DEVICE = (
    r"(?i:iphone|ipad|ipod|android|samsung|galaxy|huawei|xiaomi|redmi|pixel|oneplus|motorola|moto|nokia|blackberry"
    r"|smartphone|mobile|handy|phone|tablet|device|móvil|teléfono|téléphone|telefon|telefoon|celular|cellulare)"
)
_MAKER = r"(?:(?!(?:to|and|or|by)\b)[\w&'’.,+-]{1,20}[ ]){0,4}?"
_MODEL = r"(?:[ ]?(?:[\w+-]*\d[\w+-]*|(?i:plus|pro|max|ultra|mini|se|note|edge|fold|flip))){0,5}"
_APP_LINK = r"(?:\]?\s?[<(]https?://[^\s<>()]{1,300}[>)]|\])?"
_APP_LINE = re.compile(
    rf"""(?:^|(?<=[.!?…][ ]))(?:
    (?:Sent[ ]from[ ](?:my[ ]|a[ ])?|Gesendet[ ]von[ ](?:meinem[ ])?|Envoyé[ ](?:de|depuis)[ ](?:mon[ ])?
        |Enviado[ ](?:desde[ ](?:mi[ ])?|do[ ](?:meu[ ])?|de[ ](?:meu|mi)[ ])|Inviato[ ]da(?:l)?[ ](?:mio[ ])?
        |(?:Verzonden|Verstuurd)[ ]vanaf[ ](?:mijn[ ])?|S(?:endt|kickat)[ ]fr(?:a|ån)[ ]min[ ])
        {_MAKER}{_DEVICE}(?:[ ]{_DEVICE}){{0,3}}{_MODEL}(?:[ ]{_DEVICE}|,[ ]an?[ ]{_MAKER}{_DEVICE})?
    |Von[ ]meinem[ ]{_MAKER}{_DEVICE}[ ]gesendet
    |(?:Get|Sent[ ]from|Download|Holen[ ]Sie[ ]sich|Obtener|Obtenez|Baixe[ ]o)[ ]\[?
        (?:Outlook|Yahoo[ ]Mail|AOL[ ]Mail|Gmail|Mail|Proton[ ]?Mail|Proton[ ]Mail|Spark)
        (?:[ ](?:for|on|für|para|pour)[ ](?i:ios|iphone|ipad|android|mac|macos|mobile|windows(?:[ ]\d+)?))
    |发自我的[ ]?{_DEVICE}|{_DEVICE}から送信
    ){_APP_LINK}[.!]?\s*$""",
    re.VERBOSE,
)
_LONGEST_APP_LINE = 400
_APP_WORDS = (
    *("Sent from", "Get ", "Download ", "Gesendet von", "Von meinem", "Holen Sie sich", "Envoyé ", "Obtenez "),
    *("Enviado ", "Obtener ", "Baixe o", "Inviato da", "Verzonden vanaf", "Verstuurd vanaf", "Sendt fra"),
    *("Skickat från", "发自我的", "から送信"),
)
"""One of these is in each such line. To look for them is much faster than to match."""


def without_app_line(text: str) -> str:
    """Return a text without what a mail app writes at its end: "Sent from my iPhone", "Get Outlook for iOS".

    Example:
        >>> without_app_line("It works now.\\n\\nSent from my Samsung Galaxy S21 smartphone.")
        'It works now.'
        >>> without_app_line("Sent from my account to hers")
        'Sent from my account to hers'
    """
    ending = text.rstrip()
    start = max(ending.rfind("\n") + 1, len(ending) - _LONGEST_APP_LINE)
    line = ending[start:]
    match = _APP_LINE.search(line) if any(words in line for words in _APP_WORDS) else None
    return ending[: start + match.start()].rstrip() if match else text


def without_quotes(text: str) -> str:
    """Return a message without the messages below it, lines quoted with `>`, and its signature.

    The signature is what follows `-- `, and a mail app's line such as "Sent from my iPhone".
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept: list[str] = []
    for index, line in enumerate(lines):
        if line.rstrip() == "--" or _starts_quote(lines, index):
            break
        if not line.lstrip().startswith(">"):
            kept.append(line)
    return without_app_line("\n".join(kept).strip())


def _starts_quote(lines: list[str], index: int) -> bool:
    line = lines[index].strip()
    if _QUOTE_STARTS.match(line):
        return True
    following = [one.strip() for one in lines[index + 1 : index + 3]]
    if "" in following:
        following = following[: following.index("")]
    # `On Monday, Ann Smith <ann@example.com>` may be wrapped before `wrote:`.
    if (
        following
        and len(line) < 200
        and re.match(r"(?i)(?:on|am|le|el|il|em|op)\s", line)
        and any(
            one.endswith(":") and _QUOTE_STARTS.match(" ".join([line, *following[: number + 1]]))
            for number, one in enumerate(following)
        )
    ):
        return True
    return bool(_HEADER.match(line)) and any(_NEXT_HEADER.match(one) for one in following)
