"""Finds personal data in an answer that the prompt does not hold, to keep it from being shared.

What the prompt itself says belongs to every caller who says it. Numbers with a check digit count
only when it is right, so that ordinary long numbers pass. Nothing is stored, masked or logged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass

from semcache.admit.shape import answer_text

__all__ = ["answer_text", "personal_data"]

_SEPARATORS = re.compile(r"[\s\-.()/]+")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECK = "10X98765432"
# Numbers that are everybody's: switchboards and hot lines.
_PUBLIC_PHONE = re.compile(
    r"(?:\+?1)?8(?:00|33|44|55|66|77|88)\d{7}|0?800\d+|[48]00\d{7}|\+?1?555\d{7}"
)
_PUBLIC_MAIL = re.compile(
    r"(?i)^(?:info|support|help|contact|sales|hello|admin|office|service|noreply|no-reply|press|"
    r"privacy|legal|jobs|careers|webmaster|billing|team|security|customerservice|feedback|you|user|"
    r"username|name|yourname|your\.name|your\.email|youremail|email|example|test|someone|me|john\.doe|"
    r"jane\.doe|git)@|@(?:[\w-]+\.)*(?:example|test|invalid|localhost)(?:\.(?:com|org|net|edu))?$"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]


def personal_data(answer: object, prompt: str) -> tuple[str, ...]:
    """Return the kinds of personal data in `answer` that `prompt` does not contain.

    Kinds: "e-mail", "phone", "identity number", "card number", "IBAN", "order number", "SSN".
    `answer` is a text or any result that `answer_text` reads.

    >>> personal_data("Your order A-4471902 has left.", "Where is my order?")
    ('order number',)
    >>> personal_data("Order A-4471902 has left.", "Where is order A-4471902?")
    ()
    """
    text = answer_text(answer) or "\n".join(_leaves(answer, 0))
    if "@" not in text and sum(map(text.count, "0123456789")) < 5:
        return ()
    known = _SEPARATORS.sub("", prompt).casefold()
    found = (kind.name for kind in _KINDS if any(_unknown(kind, text, known)))
    return tuple(dict.fromkeys(found))


def _leaves(value: object, depth: int) -> Iterator[str]:
    """The texts and whole numbers inside a result of one's own shape, with their names."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield str(value)
    elif depth < 8 and isinstance(value, Mapping):
        for name, part in value.items():
            for leaf in _leaves(part, depth + 1):
                yield f"{name}: {leaf}"
    elif depth < 8 and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for leaf in _leaves(getattr(value, field.name), depth + 1):
                yield f"{field.name}: {leaf}"
    elif depth < 8 and isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _leaves(part, depth + 1)


def _unknown(kind: _Kind, text: str, known: str) -> Iterator[bool]:
    for found in kind.pattern.finditer(text):
        quoted = found["it"]
        bare = _SEPARATORS.sub("", quoted).casefold()
        if bare not in known and kind.holds(quoted):
            yield True


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isdigit())


def is_luhn(number: str) -> bool:
    """Check the last digit of a card number (ISO/IEC 7812).

    >>> is_luhn("4111 1111 1111 1111"), is_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(digit) for digit in reversed(_digits(number))]
    doubled = (digit * 2 for digit in digits[1::2])
    total = sum(digits[0::2]) + sum(digit - 9 if digit > 9 else digit for digit in doubled)
    return len(digits) >= 13 and total % 10 == 0 and len(set(digits)) > 1


def is_chinese_id(number: str) -> bool:
    """Check month, day and check digit of a Chinese identity number (GB 11643, ISO 7064 mod 11-2).

    >>> is_chinese_id("11010519491231002X"), is_chinese_id("110105194912310021")
    (True, False)
    """
    month, day = int(number[10:12]), int(number[12:14])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True))
    return _ID_CHECK[total % 11] == number[17].upper()


def is_iban(number: str) -> bool:
    """Check the two check digits of an IBAN (ISO 13616, ISO 7064 mod 97-10).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    bare = re.sub(r"\s", "", number).upper()
    if not 15 <= len(bare) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in bare[4:] + bare[:4])) % 97 == 1


def is_ssn(number: str) -> bool:
    """Check that a US social security number lies in a range that was ever given out."""
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _is_phone(number: str) -> bool:
    digits = _digits(number)
    if not 8 <= len(digits) <= 15 or len(set(digits)) < 3:
        return False
    return _PUBLIC_PHONE.fullmatch(("+" if number.startswith("+") else "") + digits) is None


def _is_private_mail(address: str) -> bool:
    return _PUBLIC_MAIL.search(address) is None


def _is_order(number: str) -> bool:
    return len(_digits(number)) >= 5


def _kind(name: str, pattern: str, holds: Callable[[str], bool]) -> _Kind:
    return _Kind(name, re.compile(pattern, re.IGNORECASE), holds)


_ORDER_WORDS = (
    r"(?:\b(?:order|tracking|shipment|parcel|package|invoice|booking|reservation|confirmation|"
    r"reference|ticket|case|account|customer|policy|claim|member(?:ship)?|passport|transaction)"
    r"(?:[ _](?:number|no\.?|id|code|ref(?:erence)?))?(?: is| was)?[ :#]{1,3}"
    r"|(?:订单|运单|快递|物流|工单|单|流水|保单|会员|账|帐|卡|护照|预订|案件|包裹)号码?"
    r"(?:是|为|:|：)?\s{0,2})"
)
_CARRIER_NUMBER = (
    r"1z[0-9a-z]{16}|[a-z]{2}\d{9}(?:cn|us|gb|de|fr|jp)|sf\d{12,15}|(?:yt|jt|zto|sto)\d{12,15}"
    r"|\d{3}-\d{7}-\d{7}"
)
_PHONE = (
    r"\+\d{1,3}[ \-.]?(?:\(\d{1,4}\)[ \-.]?)?\d{1,4}(?:[ \-.]?\d{2,4}){1,4}"
    r"|\(\d{3}\) ?\d{3}[ \-.]\d{4}|\d{3}[\-.]\d{3}[\-.]\d{4}"
    r"|(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}|0\d{2,3}-\d{7,8}"
    r"|(?<=tel: )\d[\d \-]{6,14}\d|(?<=phone: )\d[\d \-]{6,14}\d|(?<=电话[:：])\d[\d\-]{6,12}"
)
_CARD = r"[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}"
_IBAN = r"[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?"
_MAIL = r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,4}[a-z]{2,18}"
_KINDS = (
    _kind("e-mail", rf"(?<![\w.+-])(?P<it>{_MAIL})\b", _is_private_mail),
    _kind("phone", rf"(?<![A-Za-z0-9_.+-])(?P<it>{_PHONE})(?![A-Za-z0-9_-])", _is_phone),
    _kind("identity number", r"(?<![\da-z])(?P<it>[1-9]\d{16}[\dx])(?![\da-z])", is_chinese_id),
    _kind("card number", rf"(?<![\d.-])(?P<it>{_CARD})(?![\d.-]\d|\d)", is_luhn),
    _kind("IBAN", rf"(?<![A-Za-z0-9_])(?P<it>{_IBAN})(?![A-Za-z0-9_])", is_iban),
    _kind(
        "order number",
        rf"{_ORDER_WORDS}(?P<it>(?=[a-z\-]{{0,6}}\d)[a-z0-9][a-z0-9\-]{{4,34}})(?![A-Za-z0-9_-])",
        _is_order,
    ),
    _kind("order number", rf"(?<![a-z0-9_])(?P<it>{_CARRIER_NUMBER})(?![a-z0-9_])", _is_order),
    _kind("SSN", r"(?<![\d-])(?P<it>\d{3}-\d{2}-\d{4})(?![\d-])", is_ssn),
)
