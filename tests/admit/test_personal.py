"""Personal data in answers: what the prompt did not say stays out of shared storage."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.admit.personal import is_chinese_id, is_iban, is_luhn, personal_data

FOUND = [
    ("Write to ana.silva@mail.com", "e-mail"),
    ("Ring +44 20 7946 0958 after nine", "phone"),
    ("Her number is (212) 736-5000.", "phone"),
    ("他的手机号是13812345678。", "phone"),
    ("请拨打+86 138-1234-5678", "phone"),
    ("身份证号：11010519491231002X", "identity number"),
    ("The card 4111 1111 1111 1111 is active", "card number"),
    ("Amex 378282246310005 was charged", "card number"),
    ("Pay to DE89 3704 0044 0532 0130 00 today", "IBAN"),
    ("Your order number is 83920174.", "order number"),
    ("Tracking: 1Z999AA10123456784", "order number"),
    ("您的订单号：202405318842", "order number"),
    ("快递单号SF1234567890123", "order number"),
    ("His SSN is 536-90-4399", "SSN"),
]


@pytest.mark.parametrize(("answer", "kind"), FOUND)
def test_each_kind_is_found(answer: str, kind: str) -> None:
    """A text with one personal detail yields its kind."""
    assert kind in personal_data(answer, "Tell me about it")


@pytest.mark.parametrize(("answer", "kind"), FOUND)
def test_what_the_prompt_says_is_not_personal(answer: str, kind: str) -> None:
    """Whoever writes the detail into the prompt may have it in the answer."""
    assert personal_data(answer, f"Is this right: {answer}") == ()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Lima is the capital of Peru.",
        "The speed of light is 299792458 m/s and pi is 3.14159265358979.",
        "In 2023-05-17 the population was 1,411,750,000.",
        "Call our switchboard on 1-800-555-0199 or write to support@company.com.",
        "Use you@example.com as a placeholder.",
        "The card 4111 1111 1111 1112 has a wrong check digit.",
        "11010519491231002A is not a number at all, 110105194912310021 fails its check.",
        "GB82 WEST 1234 5698 7654 33 fails its check.",
        "Version 10.15.7, build 19H2026, port 8080, 192.168.100.200.",
        "Error code 40001: see case study 2021.",
        "1234567890 1111111111 0000000000",
        "The order of operations is: brackets, powers, products, sums.",
        "SHA-256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ],
)
def test_ordinary_numbers_pass(answer: str) -> None:
    """Everyday numbers, public numbers and numbers with a wrong check digit are not personal."""
    assert personal_data(answer, "Tell me about it") == ()


def test_spacing_in_the_prompt_does_not_matter() -> None:
    """The same number with other separators counts as said."""
    assert personal_data("Your card 4111-1111-1111-1111", "my card is 4111111111111111") == ()


def test_several_kinds_come_in_a_fixed_order() -> None:
    """Each kind is named once."""
    answer = "a.b@mail.com, c.d@mail.com, order no. 7741-20931, card 4111111111111111"

    assert personal_data(answer, "") == ("e-mail", "card number", "order number")


@dataclass
class Customer:
    name: str
    phone: str


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"message": {"content": "Ring 13812345678"}}]},
        [{"choices": [{"delta": {"content": "Ring 138123"}}]}, "45678"],
        {"customer": {"phone": "13812345678"}},
        Customer("Li", "13812345678"),
        [{"tel": 13812345678}],
    ],
    ids=str,
)
def test_results_of_every_shape_are_read(value: object) -> None:
    """Chat results, streams and values of one's own shape are searched alike."""
    assert personal_data(value, "") == ("phone",)


@given(st.text(alphabet="0123456789", min_size=12, max_size=18))
def test_one_digit_in_ten_completes_a_card_number(start: str) -> None:
    """For any start there is exactly one last digit that passes the check of Luhn."""
    fitting = [digit for digit in "0123456789" if is_luhn(start + digit)]

    assert len(fitting) == 1 or set(start) == {"0"}


@given(st.integers(1900, 2030), st.integers(1, 12), st.integers(1, 28), st.integers(0, 999))
def test_one_check_digit_completes_an_identity_number(y: int, m: int, d: int, n: int) -> None:
    """For any birthday and serial there is exactly one check digit."""
    start = f"110105{y:04}{m:02}{d:02}{n:03}"

    assert sum(is_chinese_id(start + digit) for digit in "0123456789X") == 1


def test_a_changed_digit_breaks_an_iban() -> None:
    """Every single-digit change is noticed."""
    good = "DE89370400440532013000"
    changed = [
        good[:at] + digit + good[at + 1 :]
        for at in range(2, len(good))
        for digit in "0123456789"
        if digit != good[at]
    ]

    assert is_iban(good)
    assert not any(is_iban(number) for number in changed)
