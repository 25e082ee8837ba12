from decimal import Decimal
from typing import Any

import pytest

from payment_links import compare_amounts


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("25", "25", 0),
        ("25", "25.00", 0),
        ("9", "10", -1),
        ("0.1", "0.09", 1),
        ("0.30000000000000004", "0.3", 1),
        ("0", "0.000000000000000001", -1),
        # As floats, these two are equal.
        ("9007199254740993", "9007199254740992", 1),
        ("1" + "0" * 78, "9" * 78, 1),
        (Decimal("1E-18"), "0.000000000000000001", 0),
        (Decimal("0.1") + Decimal("0.2"), "0.3", 0),
    ],
)
def test_compares_amounts_exactly(left: str | Decimal, right: str | Decimal, expected: int) -> None:
    assert compare_amounts(left, right) == expected
    assert compare_amounts(right, left) == -expected


@pytest.mark.parametrize("amount", [0.3, 25, None, True, b"25"])
def test_rejects_what_is_not_text_or_a_decimal(amount: Any) -> None:
    with pytest.raises(TypeError):
        compare_amounts(amount, "1")
    with pytest.raises(TypeError):
        compare_amounts("1", amount)


@pytest.mark.parametrize(
    "amount",
    ["", "-1", "1e3", "0x10", " 1", "1 ", "1\n", "1.", ".5", "1,5", "1_000", "NaN", "١"]
    + list(map(Decimal, ["-1", "NaN", "Infinity", "1E+1000000"])),
)
def test_rejects_what_is_not_a_plain_decimal(amount: str | Decimal) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        compare_amounts(amount, "1")
