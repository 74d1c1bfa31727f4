"""Passwords, keys, tokens, one-time codes and what else opens an account."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern, cued

__all__ = ["SECRETS"]

# Shapes that vendors give their keys, so that they can be found.
_KEYS = (
    r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,200}|sk-[A-Za-z0-9_-]{20,250}|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|"
    r"AIza[\w-]{30,45}|"
    r"gh[opusr]_[A-Za-z0-9]{30,260}|github_pat_\w{30,260}|glpat-[\w-]{18,60}|xox[a-z]-[A-Za-z0-9-]{10,260}|"
    r"SG\.[\w-]{16,40}\.[\w-]{30,60}|"
    r"hf_[A-Za-z0-9]{30,60}|npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{30,260}|whsec_[A-Za-z0-9+/=]{20,100}|shp(?:at|ca|pa|"
    r"ss)_[0-9a-fA-F]{20,80}|"
    r"ya29\.[\w-]{20,260}|dop_v1_[0-9a-f]{40,80}|key-[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}|EAA[A-Za-z0-9]{40,260}|"
    r"eyJ[\w-]{8,2000}\.[\w-]{4,4000}(?:\.[\w-]{0,2000})?"
)
_KEY_HINT = (
    r"[srp]k_(?:live|test)_|sk-\w|A[KSRI][IDO]A[A-Z0-9]{16}|AIza|gh[opusr]_|github_pat_|glpat-|xox[a-z]-|SG\.|hf_|"
    r"npm_|pypi-|whsec_|shp[acps]{2}_|"
    r"ya29\.|dop_v1_|key-[0-9a-f]|(?:AC|SK)[0-9a-f]{32}|EAA[A-Za-z0-9]{40}|eyJ"
)
_OPAQUE = r"[A-Za-z0-9+/_.~-]{16,4000}={0,2}"
_PASSWORDS = (
    r"pass ?words?|pass ?wort|kennwort|passwd|pwd|pw|pass ?phrase|passcode|contrase[ñn]a|clave|senha|mot de passe|"
    r"wachtwoord|has[łl]o|"
    r"lösenord|adgangskode|salasana|heslo|parola|şifre|пароль|(?:wi-?fi|network|security) key|login code"
)
_STRONG = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[A-Za-z])[^\s<>@\"'(),;:]{0,40}[!$%&*#?^~+_][^\s<>\"'(),;]{0,40}"
_MIXED = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[a-z])(?=[^\s<>]{0,40}[A-Z])[A-Za-z0-9.-]{6,40}"
_OTHER_CODES = re.compile(
    r"(?:product|promo|promotion|error|exit|zip|area|postal|post|booking|discount|voucher|coupon|gift|country|sort|"
    r"swift|dress|qr|bar|item|source|"
    r"status|referral|tax|reservation|airport|fare|colou?r|reason|http|response|store|branch|bank|department|"
    r"supplier|customer|vendor|order|model|"
    r"part|stock|article|tracking|dialling|dialing|fault|flight|airline|record|offer|campaign|shipping|iata|ticket)"
    r"[ -]?codes?\b[^\n]*$",
    re.IGNORECASE,
)
_CODE_KINDS = (
    r"verification|one[- ]time|otp|2fa|two[- ]factor|mfa|sms|text|log-?in|sign-?in|security|authenticator|auth|"
    r"authentication|access|activation|"
    r"confirmation|unlock|reset"
)
_CODE_CUES = (
    rf"(?:(?:{_CODE_KINDS})[ -])?(?:pass)?code|(?:{_CODE_KINDS})[ -](?:pin|password|number)|otp|2fa|m?tan|"
    rf"authenticator|"
    r"c[oó]digo(?: de (?:verificaci[oó]n|seguridad|segurança|verificação|acceso))?|code de (?:s[ée]curit[ée]|"
    r"v[ée]rification|validation)|code reçu|"
    r"(?:best[äa]tigungs|sicherheits|verifizierungs|freischalt|verificatie|einmal)-?code|codice (?:di verifica|otp)"
    r"|kod weryfikacyjny|код"
)
_CODE = r"\d{3}[ -]\d{3,4}|\d{4}[ -]\d{2,4}|\d{2}[ -]\d{2}[ -]\d{2}|\d{4,8}|[A-Z0-9]{3}-[A-Z0-9]{3}(?!-)"
_CARD_CODES = (
    r"cvv2?|cvc2?|csc|cid|(?:karten)?pr[üu]f(?:nummer|ziffer|code)|cryptogramme(?: visuel)?|security code|(?:3|"
    r"three|4|four)[- ]?digit (?:security )?code|"
    r"digits? on (?:the|its|my) (?:back|front|reverse)(?: of (?:the|my) card)?|on the back|code on the (?:back|"
    r"front)|c[oó]digo de seguridad|codice (?:di sicurezza|cvv)"
)
_UNSAID = frozenset(
    """
    wrong incorrect not expired invalid still required correct weak strong protected never being changed reset
    missing empty case sensitive error again field page link problem issue recovery manager please help forgotten
    the your this that what how when where why and but because will would must should can could has have had was
    were does doesn't isn't won't or for with hint rules policy login email
    """.split()
)


def _is_password(value: str, before: str) -> bool:
    """Whether what follows the word password is one: with a digit or a sign, or after a colon."""
    if value.lower().strip(".!?,") in _UNSAID or len(value) < 4:
        return False
    if re.search(r"[:=]\s*[\"'“(\[]?$", before):
        return True
    return any(map(str.isdigit, value)) or re.search(r"\w[!$%&*#?^~+_@]\w", value) is not None


def _is_opaque(value: str, before: str) -> bool:
    """Whether a long word looks random: letters and digits, and no path or sentence."""
    digits = sum(map(str.isdigit, value))
    return 2 <= digits < len(value) or (digits >= 1 and value.lower() != value and value.count(".") < 2)


def _is_random(value: str, before: str) -> bool:
    """Whether a word of 32 characters or more mixes cases and digits as no name does."""
    return sum(map(str.isdigit, value)) >= 3 and sum(map(str.islower, value)) >= 6 and sum(map(str.isupper, value)) >= 6


def _is_code(value: str, before: str) -> bool:
    if _OTHER_CODES.search(before):
        return False
    said = re.search(r"(?i)(?:c[oó]digo|code|код)(?P<gap>[^\n]*)$", before)
    plain = (
        said is not None
        and re.search(
            rf"(?i)(?:{_CODE_KINDS}|your|my|pass|code de|reçu)[ -]?(?:code|c[oó]digo)"
            rf"[^\n]*$",
            before,
        )
        is None
    )
    told = said is None or re.search(r"(?i)\b(?:is|es|est|ist|lautet|sms|text)\b|:", said["gap"]) is not None
    return (told or not plain) and any(map(str.isdigit, value))


_YOURS = r"(?:your|my|the|a|dein|ihr|tu|su|votre|ton|il tuo|o seu)"
SECRETS = (
    Pattern("SECRET", _KEY_HINT, re.compile(rf"(?<![A-Za-z0-9_])(?:{_KEYS})(?![A-Za-z0-9])"), digits=False),
    Pattern(
        "SECRET",
        r"-----BEGIN",
        re.compile(r"-----BEGIN [A-Z ]{0,30}KEY-----\s{0,3}(?P<value>[A-Za-z0-9+/=]{8,}(?:\s[A-Za-z0-9+/=]{8,})*)"),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:key|token|secret|bearer|basic|session|cookie|jwt|authori[sz]ation|sid|credential)",
        re.compile(
            r"(?i:key|token|secret|bearer|basic|sessionid|session|cookie|jwt|authori[sz]ation|sid|credential)"
            r"s?\b[^\n<]{0,24}?"
            rf"(?<![A-Za-z0-9+/_.~-])(?P<value>{_OPAQUE})(?![A-Za-z0-9])"
        ),
        _is_opaque,
    ),
    Pattern(
        "SECRET",
        r"[A-Za-z0-9_-]{32}",
        re.compile(r"(?<![\w/.+-])[A-Za-z0-9_-]{32,}(?![\w/.+-])"),
        _is_random,
    ),
    Pattern(
        "SECRET",
        r"(?i:seed|recovery|mnemonic|backup|secret) (?i:phrase|words)",
        re.compile(
            r"(?<![\w<])(?i:seed|recovery|mnemonic|backup|secret) (?i:phrase|words)\b(?: is| are)?[\s:=\"']{0,4}"
            r"(?P<value>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?!\w)"
        ),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?phrase|security answer|secret answer)",
        re.compile(
            r"(?<![\w<])(?i:pass ?phrase|security answer|secret answer)(?:\s(?:is|was))?[\s:=]{0,3}"
            r"(?P<value>[\"“'][^\"”'\n<]{4,80}(?=[\"”'])|[A-Z][A-Za-z]{3,30})(?!\w)"
        ),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:log-?in|username|user|credentials)[^\n]*/",
        re.compile(
            r"(?<![\w<])(?i:log-?in|username|user|credentials)(?:/(?i:pass|pw|pwd|password))?\b(?: is| are)"
            r"?[\s:]{1,3}"
            r"(?P<value>[A-Za-z][^\s/<>:]{1,40} ?/ ?(?=[^\s/]{0,40}[A-Za-z])(?=[^\s/]{0,40}\d)[^\s/<>]{4,40})"
            r"(?![\w/])"
        ),
    ),
    cued(
        "SECRET",
        _PASSWORDS,
        r"[^\s<>\"“”„,;:=(\[][^\s<>\"“”,;]{3,63}",
        _is_password,
        script="密码|密碼|パスワード|비밀번호",
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass|passphrase) ?[:=]",
        re.compile(r"(?<![\w<])(?i:pass) ?[:=]\s?(?P<value>[^\s<>\"',;]{4,64})"),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?wor[dt]|pwd|kennwort|passphrase|log ?in)",
        re.compile(
            rf"(?<![\w<])(?i:pass ?wor[dt]|pwd|kennwort|passphrase|log ?in)\b[^\n<]{{0,40}}?(?<=[\s\"'(])"
            rf"(?P<value>{_STRONG}|{_MIXED})(?!\S?\w)"
        ),
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?wor[dt]|pwd|kennwort|passphrase)",
        re.compile(
            rf"(?<![^\s\"'(])(?P<value>{_STRONG}|{_MIXED})(?=[\s,.;\"')-][^\n<]{{0,30}}\b(?i:pass ?wor[dt]|pwd|"
            rf"kennwort|passphrase)\b)"
        ),
    ),
    cued("SECRET", r"pin(?: ?code| number)?", r"\d{4,8}", script=""),
    cued("SECRET", _CARD_CODES, r"\d{3,4}"),
    cued("SECRET", _CODE_CUES, _CODE, _is_code, script="验证码|驗證碼|認証コード|인증번호"),
    Pattern(
        "SECRET",
        rf"\d (?i:is|ist|es|est) (?i:{_YOURS}) ",
        re.compile(
            rf"(?<![\w-])(?:[A-Z]-)?(?P<value>{_CODE}) (?i:is|ist|es|est) (?i:{_YOURS})(?: [\w-]{{1,20}}){{0,3}} "
            rf"(?i:code|passcode|otp|pin|c[oó]digo)\b"
        ),
    ),
    Pattern(
        "SECRET",
        r"\d (?i:to|um|para|pour|as|by|via|received) ",
        re.compile(
            rf"(?<![\w-])(?P<value>{_CODE}) (?:(?i:to|um) (?i:verify|confirm|log ?in|sign ?in|complete|"
            rf"authenticate|unlock)\b|"
            r"as the (?:one-time |verification |security )?(?:code|passcode)|(?:by|via) (?:sms|SMS|text)\b|"
            r"received but)"
        ),
    ),
    Pattern(
        "SECRET",
        r"(?i:texted|sms)",
        re.compile(
            rf"(?<![\w<])(?i:texted|sms'?d?)(?: me)?(?: the| a)?(?: code)?[: ]{{1,2}}(?P<value>{_CODE})"
            rf"(?!\w)"
        ),
    ),
)
