"""Check digits of cards, accounts, wallets and national ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from turnloom.corpus.privacy.pattern import digits_of

__all__ = [
    "is_base58",
    "is_bech32",
    "is_brazilian",
    "is_card",
    "is_chinese",
    "is_fiscal_code",
    "is_french",
    "is_iban",
    "is_polish",
    "is_rut",
    "is_singaporean",
    "is_spanish",
    "luhn",
    "verhoeff",
]


def _weigh(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def luhn(value: str) -> bool:
    """Whether the last digit is the one of Luhn's check: cards, and ids of Canada, Sweden, South Africa, Israel."""
    digits = [int(digit) for digit in digits_of(value)]
    doubled = [digit if index % 2 == 0 else sum(divmod(2 * digit, 10)) for index, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def is_card(value: str, before: str = "") -> bool:
    """Whether a number passes the Luhn check and starts like a card number.

    Example:
        >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
        (True, False)
    """
    digits = digits_of(value)
    started = digits[:1] == "4" if len(digits) == 13 else digits[:1] in tuple("23456")
    return 13 <= len(digits) <= 19 and started and len(set(digits)) > 1 and luhn(digits)


def is_iban(value: str, before: str = "") -> bool:
    """Whether an IBAN's checksum is correct.

    Example:
        >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
        (True, False)
    """
    packed = re.sub(r"[\s-]", "", value).upper()
    moved = packed[4:] + packed[:4]
    return 15 <= len(packed) <= 34 and int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


_DIHEDRAL = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
]
_TURN = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]


def verhoeff(value: str) -> bool:
    """Whether the last digit is the one of Verhoeff's check: the Aadhaar number of India.

    Example:
        >>> verhoeff("2363"), verhoeff("2364")
        (True, False)
    """
    state, turned = 0, list(range(10))
    for digit in reversed(digits_of(value)):
        state = _DIHEDRAL[state][turned[int(digit)]]
        turned = [turned[step] for step in _TURN]
    return state == 0


def is_brazilian(value: str, before: str = "") -> bool:
    """Whether the check digits of a CPF or a CNPJ of Brazil are right.

    Example:
        >>> is_brazilian("529.982.247-25"), is_brazilian("529.982.247-26")
        (True, False)
    """
    digits = digits_of(value)
    if len(set(digits)) == 1:
        return False
    for length in (len(digits) - 2, len(digits) - 1):
        weights = (
            [*range(length + 1, 1, -1)] if len(digits) == 11 else [2 + (length - 1 - i) % 8 for i in range(length)]
        )
        if _weigh(digits[:length], weights) * 10 % 11 % 10 != int(digits[length]):
            return False
    return True


def is_spanish(value: str, before: str = "") -> bool:
    """Whether the letter of a DNI or NIE of Spain is right.

    Example:
        >>> is_spanish("12345678Z"), is_spanish("X1234567L"), is_spanish("12345678A")
        (True, True, False)
    """
    packed = re.sub(r"[\W_]", "", value).upper()
    digits = packed[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return digits.isdecimal() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == packed[-1]


def is_french(value: str, before: str = "") -> bool:
    """Whether the key of a French social security number is right."""
    digits = digits_of(value)
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


_ODD = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)) | dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        strict=True,
    )
)


def is_fiscal_code(value: str, before: str = "") -> bool:
    """Whether the last letter of an Italian codice fiscale is right.

    Example:
        >>> is_fiscal_code("RSSMRA85T10A562S"), is_fiscal_code("RSSMRA85T10A562T")
        (True, False)
    """
    code = value.upper()
    even = sum(int(one) if one.isdigit() else ord(one) - 65 for one in code[1:15:2])
    return (sum(_ODD[one] for one in code[0:15:2]) + even) % 26 == ord(code[15]) - 65


def is_chinese(value: str, before: str = "") -> bool:
    """Whether the last character of a Chinese resident identity number is right."""
    weights = [pow(2, 17 - index, 11) for index in range(17)]
    return "10X98765432"[_weigh(value[:17], weights) % 11] == value[17].upper()


def is_polish(value: str, before: str = "") -> bool:
    """Whether the last digit of a PESEL is right.

    Example:
        >>> is_polish("44051401359"), is_polish("44051401358")
        (True, False)
    """
    return (_weigh(value[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) + int(value[10])) % 10 == 0


def is_rut(value: str, before: str = "") -> bool:
    """Whether the last character of a Chilean RUT is right.

    Example:
        >>> is_rut("12.345.678-5"), is_rut("12.345.678-6")
        (True, False)
    """
    packed = re.sub(r"[\W_]", "", value).upper()
    total = sum(int(digit) * (2 + index % 6) for index, digit in enumerate(reversed(packed[:-1])))
    return "0K987654321"[total % 11] == packed[-1]


def is_singaporean(value: str, before: str = "") -> bool:
    """Whether the last letter of an NRIC or FIN of Singapore is right.

    Example:
        >>> is_singaporean("S1234567D"), is_singaporean("S1234567E")
        (True, False)
    """
    total = _weigh(value[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if value[0] in "TG" else 0)
    return ("JZIHGFEDCBA" if value[0] in "ST" else "XWUTRQPNMLK")[total % 11] == value[8]


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def is_base58(value: str, before: str = "") -> bool:
    """Whether the checksum of a Bitcoin, Litecoin, Dogecoin or Tron address is right.

    Example:
        >>> is_base58("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), is_base58("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
        (True, False)
    """
    number = 0
    for character in value:
        number = number * 58 + _BASE58.index(character)
    if number >> 200:
        return False
    packed = number.to_bytes(25, "big")
    return hashlib.sha256(hashlib.sha256(packed[:21]).digest()).digest()[:4] == packed[21:]


def is_bech32(value: str, before: str = "") -> bool:
    """Whether the checksum of a Bitcoin, Litecoin or Cardano address in bech32 is right.

    Example:
        >>> is_bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
        True
    """
    prefix, _, data = value.lower().rpartition("1")
    values = [ord(one) >> 5 for one in prefix] + [0] + [ord(one) & 31 for one in prefix]
    check = 1
    for number in [*values, *(_BECH32.index(one) for one in data)]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ number
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> bit & 1 else 0
    return check in (1, 0x2BC830A3)
