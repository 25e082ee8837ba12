"""Enforces rules that a schema cannot express: future expiries, payable amounts, new idempotency keys."""

import re
import uuid
from decimal import Context, InvalidOperation

import schemathesis

DATE_TIME = re.compile(r"^\d{4}(-\d\d-\d\d[Tt])")
WIDE = Context(prec=100_000, Emax=999_999_999_999, Emin=-999_999_999_999, traps=[InvalidOperation])
TINY = re.compile(r"[1-9].*[eE]-")
HUGE = re.compile(r"[1-9].*[eE][+-]?0*[1-9]\d{2,}")
BLANKS = re.compile(r"^[\s\ufeff]+|[\s\ufeff]+$")
KEY = re.compile(r"^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$")


def payable(amount):
    """Returns the amount, or 1 if a token with six decimals cannot express it."""
    if isinstance(amount, bool) or not isinstance(amount, (str, int, float)):
        return amount
    # Python treats these characters as white space. ECMA-262, which defines the patterns of a
    # schema, does not.
    if HUGE.search(str(amount)) or re.search("[\x1c-\x1f\x85]", str(amount)):
        return "1"
    try:
        value = WIDE.create_decimal(BLANKS.sub("", str(amount)))
    except InvalidOperation:
        return amount
    if not value.is_finite() or (value <= 0 and not TINY.search(str(amount))):
        return amount
    is_payable = value.normalize(WIDE).as_tuple().exponent >= -6 and value.adjusted() < 60
    return amount if is_payable and value > 0 else "1"


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, dict):
        for name in ("expirationDate", "expiresAt"):
            if isinstance(case.body.get(name), str):
                case.body[name] = DATE_TIME.sub(r"2099\1", case.body[name])
        if "toAmount" in case.body:
            case.body["toAmount"] = payable(case.body["toAmount"])
    if case.query and "amount" in case.query:
        case.query["amount"] = payable(case.query["amount"])
    if case.headers and KEY.match(str(case.headers.get("Idempotency-Key", ""))):
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
