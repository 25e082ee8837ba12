import re
from decimal import Decimal

_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# The service accepts at most 78 digits.
_DIGITS_MAX = 100


def compare_amounts(left: str | Decimal, right: str | Decimal) -> int:
    """Compare two amounts exactly.

    Returns -1 if `left` is smaller, 0 if they are equal, and 1 if `left` is larger. Text must be a
    plain decimal in whole tokens, as in every response and webhook.

    Raises:
        TypeError: An amount is not a `str` or a `Decimal`. Floats are inexact: 0.1 + 0.2 is greater
            than 0.3.
        ValueError: An amount is not a plain decimal.
    """
    left_amount, right_amount = _parse_amount(left), _parse_amount(right)
    return (left_amount > right_amount) - (left_amount < right_amount)


def format_amount(amount: str | Decimal | None, name: str) -> str:
    """Return an amount as the service reads it. Text stays as it is.

    A `Decimal` becomes a plain decimal without an exponent. Raises a `TypeError` for other types,
    and a `ValueError` for a `Decimal` that is not a number of at most 100 digits.
    """
    if isinstance(amount, str):
        return amount
    if not isinstance(amount, Decimal):
        raise TypeError(f"{name} must be a str or a Decimal in whole tokens, such as '0.1'")
    if not amount.is_finite() or not _has_few_digits(amount):
        raise ValueError(f"{name} must be a number of at most {_DIGITS_MAX} digits")
    return format(amount, "f")


def _has_few_digits(amount: Decimal) -> bool:
    exponent = amount.as_tuple().exponent
    return (
        isinstance(exponent, int) and exponent >= -_DIGITS_MAX and amount.adjusted() < _DIGITS_MAX
    )


def _parse_amount(amount: str | Decimal) -> Decimal:
    text = format_amount(amount, "an amount")
    if _AMOUNT.fullmatch(text) is None:
        raise ValueError("an amount must be a plain decimal, such as 25 or 0.1")
    # Creating and comparing decimals is exact, whatever the precision of the context is.
    return Decimal(text)
