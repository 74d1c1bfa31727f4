"""Cards, bank accounts and wallets."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.checksums import is_base58, is_bech32, is_card, is_iban
from turnloom.corpus.privacy.pattern import IDENTIFIER, NUMBERING, Pattern, count_digits, cued, is_elsewhere, near

__all__ = ["MONEY"]

_ACCOUNTS = (
    r"(?:bank|savings|checking|current|giro)?\s?(?:account|acct|acc|a/c)(?:\.? (?:number|no|num|nr))?|kontonummer|"
    r"konto(?:-?nr)?|"
    r"bank details|numer konta|rekening(?:nummer)?|ag[êe]ncia|conta(?: corrente| poupança)?|cuenta(?: corriente| "
    r"de ahorro)?|"
    r"compte(?: bancaire| courant)?|clabe(?: interbancaria)?|bankgiro"
)
_BANKS = (
    r"sort[ -]?code|s/c|r/?t ?(?:#|no|number|nr)?|routing|aba(?: routing)?|rtn|transit|institution|bsb|blz|"
    r"bankleitzahl|ag[êe]ncia|"
    r"clearing(?:nummer)?"
)
_CARDS = r"card|visa|master ?card|amex|american express|debit|credit|karte|kreditkarte|tarjeta|cart[aã]o|carte|carta"
_DIGITS_13 = r"(?:\d[ .-]?){12}\d"


def _is_account(value: str, before: str) -> bool:
    """Whether there are enough digits, and no sentence ends before them."""
    return count_digits(4, 24)(value, before) and re.search(r"(?i)account\.\s+$", before) is None


_NEAR = (
    rf"{_BANKS}|iban|direct deposit|clabe|(?:account|acct|acc|a/c) ?(?:number|numbers|no|num|nr|#)|acct|savings|"
    rf"checking|"
    rf"(?:my|ur|your|the) (?:check|cheque|bank)|"
    r"credit union|wire transfer|rib|giro|payee|payout|standing order|bacs|sepa|rt ?#|r/t|ach|payroll|bank details"
)
_NUMBERS = (
    r"(?<!\d )(?<!\d-)(?:\d{6,18}|\d(?: \d){7,11}|\d\d[ -]\d\d[ -]\d\d|(?!\d?[ -]?\d{3}[ -]\d{3}[ "
    r"-]\d{4})\d{3,4}(?:[ -]\d{"
    r"2,4}){2,3}|\d{3}-\d{3}|\d{2}-\d{4}-\d{7}-\d{2,3})(?![ -]?\d)"
)


_PAYING = r"refund\w*|pay\w*|paid|charge\w*|balance|(?:micro-?)?deposit\w*|amount|total"
_SPELLED_NUMBER = (
    r"(?:oh?|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
    r"nine)teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|double|triple)"
)
_PAID = (
    r"(?:pay|paid|refund(?:ed)?|transfer(?:red)?|send|sent|deposit(?:ed)?|credit(?:ed)?)(?: (?:it|this|that|me|the "
    r"\w+))? "
    r"(?:in)?to|pay in|direct debit|wire(?:d)?(?: it| this| the money)? to|standing order|nationwide|barclays|"
    r"lloyds|natwest|"
    r"hsbc|santander|monzo|starling|halifax|tsb|chase|wells fargo|citibank|hdfc|icici|sbi|axis bank|commonwealth "
    r"bank|anz|"
    r"westpac|nab|building society|roll number|my bank|bank"
)


def _is_payable(value: str, before: str) -> bool:
    """Whether digits near a word of banks are an account's or a bank's number."""
    return NUMBERING.search(re.sub(r"(?i)account|acct", "", before[-30:]).rstrip()) is None


MONEY = (
    Pattern(
        "IBAN",
        r"[A-Za-z]{2}\d{2}[ -]?[A-Za-z0-9]",
        re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?\b"),
        is_iban,
    ),
    # In other groups than those of four, after the word.
    Pattern(
        "IBAN",
        r"(?i:iban)",
        re.compile(r"(?i:\biban\b)[^\d\n<]{0,20}\b(?P<value>[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30})\b"),
        is_iban,
    ),
    Pattern(
        "CARD", _DIGITS_13, re.compile(r"(?<![\w.])(?!\d{3}-\d{7}-\d{7})\d(?:[ .-]?\d){12,18}(?![\w]|\.\d)"), is_card
    ),
    # Masked, but not enough.
    Pattern(
        "CARD",
        r"\d[*xX•#]|\d [*xX•#]",
        re.compile(r"(?<![\w.])\d{4}[ -]?\d{2}[ -]?[*xX•#]{2}(?:[ -]?[*xX•#]){2,8}[ -]?\d{3,4}(?!\w)"),
    ),
    # With its name before it, a mistyped one is a card too.
    cued("CARD", _CARDS, r"[2-6]\d{3}(?:[ .-]?\d{4}){2,3}(?:[ .-]?\d{1,4})?|3\d{3}[ .-]?\d{6}[ .-]?\d{5}"),
    # A second look sees the placeholder.
    Pattern(
        "SECRET",
        r"<CARD>",
        re.compile(
            r"<CARD>[^\w<]{1,3}(?:(?:exp|valid|g[üu]ltig|vence|val)[a-z]*\.?(?: (?:date|thru|until|bis))?[ :]{0,3})?"
            r"(?P<value>(?:0[1-9]|1[0-2]) ?/ ?(?:20)?\d\d)(?!\d)"
        ),
    ),
    # The date and the code some words after the card: "<CARD>, it runs out 08/27 and then 915".
    Pattern(
        "SECRET",
        r"<CARD>[^\n]*\d\d",
        re.compile(
            r"<CARD>[^\d\n<]{1,40}?(?P<value>(?:0[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4]\d)(?![\w/-]|[.,]\d)|"
            r"<CARD>[^\d\n<]{0,20}\b(?i:exp|valid|runs out|until|thru|good to|bis|caduca|vence|vto)[a-z.]{0,8}[ :]{1,2}"
            r"(?P<said>(?:0[1-9]|1[0-2])[23]\d|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
            r"[a-z]{0,6} (?:20)?[23]\d)(?!\w)"
        ),
    ),
    Pattern(
        "SECRET",
        r"<CARD>[^\n]*\d{3}",
        re.compile(
            r"<CARD>(?:[^\d\n<]{1,40}?|[ ,]{1,2}<SECRET>[^\d\n<]{1,25}?)(?<![\w$€£#.])"
            r"(?P<value>\d{3})(?![\w%€£$]|[.,:/-]\d| \d| (?i:times|days?|euros?|eur|usd|dollars?|pounds?|bucks|"
            r"points?))"
        ),
        lambda value, before: not is_elsewhere(before[-30:]),
    ),
    Pattern(
        "WALLET",
        r"[13LMDTA9][1-9A-HJ-NP-Za-km-z]{25}",
        re.compile(r"(?<![A-Za-z0-9])[13LMDTA9][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])"),
        is_base58,
    ),
    Pattern(
        "WALLET",
        r"(?i:bc1|ltc1|addr1)",
        re.compile(
            r"(?<![A-Za-z0-9])(?i:bc1|ltc1|addr1)(?:[ac-hj-np-z02-9]{25,120}|[AC-HJ-NP-Z02-9]{25,120})(?![A-Za-z0-9])"
        ),
        is_bech32,
    ),
    Pattern(
        "WALLET",
        r"0x[0-9A-Fa-f]{40}|4[0-9AB][1-9A-HJ-NP-Za-km-z]{93}|r[1-9A-HJ-NP-Za-km-z]{24}",
        re.compile(
            r"(?<![A-Za-z0-9])(?:0x[0-9A-Fa-f]{40}|[48][1-9A-HJ-NP-Za-km-z]{94}|"
            r"r(?=[a-z]{0,24}[A-Z1-9])[1-9A-HJ-NP-Za-km-z]{24,34})(?![A-Za-z0-9])"
        ),
        lambda value, before: any(map(str.isdigit, value)) and (value != value.lower() or value[:2] == "0x"),
    ),
    Pattern(
        "WALLET",
        r"(?i:solana|phantom|wallet|sol|xmr|monero|xrp|ripple|crypto|btc|bitcoin|ltc|litecoin|doge|dash|tron|trx|"
        r"usdt|eth)",
        re.compile(
            r"(?<![\w<])(?i:solana|phantom|wallet|sol|xmr|monero|xrp|ripple|crypto|btc|bitcoin|ltc|litecoin|doge|"
            r"dogecoin|dash|tron|trx|usdt|eth)\b[^\n]{0,30}?(?<![A-Za-z0-9])"
            r"(?P<value>[1-9A-HJ-NP-Za-km-z]{26,110})(?![A-Za-z0-9])"
        ),
        lambda value, before: any(map(str.isdigit, value)) or len(re.findall("[a-z][A-Z]", value)) >= 4,
    ),
    cued("ACCOUNT", "swift(?:/bic)?|bic(?:/swift)?", r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?", digits=False),
    cued("ACCOUNT", "ifsc", r"[A-Za-z]{4}0[A-Za-z0-9]{6}"),
    cued("ACCOUNT", _BANKS, r"\d{2,4}[ -]\d{2,3}(?:[ -]\d{2,3})?|\d{3,9}", count_digits(3, 9)),
    cued("ACCOUNT", "SC|RT|RTN|AN|AC|A/C", r"\d{6,12}", exact=True),
    # Spelled out: "sort code's twenty, thirty-four, eleven".
    cued(
        "ACCOUNT",
        rf"{_BANKS}|(?:account|acct)(?: number)?",
        rf"(?i:{_SPELLED_NUMBER}(?:[ ,.-]{{1,3}}{_SPELLED_NUMBER}){{2,20}})",
        digits=False,
    ),
    Pattern(
        "ACCOUNT",
        r"\d\d-\d{4}-\d{7}-\d\d|[*x•]{2}\d{4} \d{3}",
        re.compile(r"(?<![\w-])(?P<value>\d\d-\d{4}-\d{7}-\d{2,3}|[*xX•]{2,8}\d{4} \d{3,4} \d{3,4})(?![\w-])"),
    ),
    cued("ACCOUNT", "sc|sort", r"\d{2}[ -]?\d{2}[ -]?\d{2}(?!\d)"),
    Pattern(
        "ACCOUNT",
        r"\d{7}[ ,]+(?:and )?(?i:sort|s/c|sc |<ACCOUNT>)",
        re.compile(r"(?<![\w.,#$€£/-])(?P<value>\d{7,10})(?=,? (?:and |with )?(?i:sort\b|s/c|sc\b|<ACCOUNT>))"),
    ),
    # A sort code and an account beside it: "20-44-11 / 33819022".
    Pattern(
        "ACCOUNT",
        r"\d\d[ -]?\d\d[ -]?\d\d[^\w\n]{1,4}[a-z/ ]*\d{8}",
        re.compile(
            r"(?<![\w.,#$€£-])(?<!\d )(?P<value>\d\d([ -])\d\d\2\d\d\W{1,4}(?:(?i:account|acct|acc|a/c|and|number|"
            r"no)[ .:]{1,2})"
            r"{0,3}\d{8})(?![\w-])"
        ),
    ),
    # Where money goes to or comes from: "pay into 33819022".
    *near(
        "ACCOUNT",
        _PAID,
        r"(?<!\d )(?<!\d-)(?:\d{8}|\d{9,12})(?![ -]?\d)",
        _is_payable,
        ahead=50,
        behind=30,
        harmless=_PAYING,
    ),
    cued("ACCOUNT", _ACCOUNTS, IDENTIFIER, _is_account),
    Pattern(
        "ACCOUNT",
        r"(?i:(?:savings|checking|bank) account)",
        re.compile(r"(?<![\w<])(?i:savings|checking|bank) account\b[^\d\n<]{0,40}(?P<value>\d{8,17})(?![\w])"),
    ),
    *near("ACCOUNT", _NEAR, _NUMBERS, _is_payable, ahead=50, behind=50, harmless=_PAYING),
    Pattern(
        "ACCOUNT",
        r"<ACCOUNT>",
        re.compile(r"<ACCOUNT>(?: ?[/,] ?|[^\d\n<]{1,30}? (?=\d{8}))(?P<value>\d[\d -]{5,20}\d)(?!\w)"),
    ),
)
