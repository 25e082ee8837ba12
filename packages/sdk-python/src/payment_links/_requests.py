import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from ._amounts import format_amount
from .shapes import NewPaymentLink

_BASE_PATH = "/v1/payment-link"
_TIMEOUT_SECONDS_MAX = 600
_TRIES_MAX_LIMIT = 100
_PORT_MAX = 65_535
_IDEMPOTENCY_KEY_LENGTH_MAX = 255
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ORIGIN = re.compile(r"https?://[^\s/?#@\\]+/?", re.IGNORECASE)


@dataclass(frozen=True)
class ClientSettings:
    """The validated options of a client."""

    origin: str
    api_key: str | None = field(repr=False)
    timeout_seconds: float
    tries_max: int


@dataclass(frozen=True)
class ApiRequest:
    """One call. Every attempt sends the same bytes."""

    method: str
    path: str
    """The path after the origin, including the query."""
    body: bytes | None = None
    idempotency_key: str | None = None
    internal_error_code: str | None = None
    """The error code that means an internal error for this operation, whatever the status is."""


def parse_settings(
    url: str, api_key: str | None, timeout_seconds: float, tries_max: int
) -> ClientSettings:
    # httpx would also reject the key, but its error message could include the key.
    if api_key is not None and not _is_header_value(api_key):
        raise ValueError("api_key must be an API key exactly as shown in the console")
    require_seconds("timeout_seconds", timeout_seconds, _TIMEOUT_SECONDS_MAX)
    is_integer = isinstance(tries_max, int) and not isinstance(tries_max, bool)
    if not is_integer or not 1 <= tries_max <= _TRIES_MAX_LIMIT:
        raise ValueError(f"tries_max must be an integer from 1 to {_TRIES_MAX_LIMIT}")
    return ClientSettings(_parse_origin(url), api_key, timeout_seconds, tries_max)


def require_seconds(name: str, value: float, maximum: int) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= maximum:
        raise ValueError(f"{name} must be above 0 and at most {maximum}")


def _parse_origin(url: str) -> str:
    """Return the origin of `url`.

    Errors never include the value, because it may be an API key that was passed by mistake.
    """
    try:
        if isinstance(url, str) and _ORIGIN.fullmatch(url) is not None:
            parsed_url = httpx.URL(url)
            if parsed_url.host and (parsed_url.port or 0) <= _PORT_MAX:
                return f"{parsed_url.scheme}://{parsed_url.netloc.decode('ascii')}"
    except (httpx.InvalidURL, ValueError):
        pass
    raise ValueError("url must be the service's origin, such as https://pay.example.com")


def create_request(
    link: NewPaymentLink, idempotency_key: str | None, new_idempotency_key: Callable[[], str]
) -> ApiRequest:
    key = new_idempotency_key() if idempotency_key is None else idempotency_key
    if not _is_header_value(key) or len(key) > _IDEMPOTENCY_KEY_LENGTH_MAX:
        raise ValueError(
            "idempotency_key must be 1 to 255 printable ASCII characters"
            " without spaces at either end"
        )
    return ApiRequest("POST", _BASE_PATH, body=_serialize_link(link), idempotency_key=key)


def list_request(parameters: Mapping[str, str | int | datetime | None]) -> ApiRequest:
    query = urlencode(
        {
            name: format_instant(value, name) if isinstance(value, datetime) else value
            for name, value in parameters.items()
            if value is not None
        }
    )
    # For the list, this error code means that the service failed to read the links.
    return ApiRequest(
        "GET", f"{_BASE_PATH}?{query}", internal_error_code="CANNOT_FIND_PAYMENT_LINK"
    )


def retrieve_request(id: str) -> ApiRequest:
    # With these three ids, the URL would be that of the list or of another resource.
    if not isinstance(id, str) or id in ("", ".", ".."):
        raise ValueError("id must be a link id, such as plink_…")
    return ApiRequest("GET", f"{_BASE_PATH}/{quote(id, safe='')}")


def build_headers(settings: ClientSettings, request: ApiRequest) -> dict[str, str]:
    headers = {"Accept": "application/json"}
    if settings.api_key is not None:
        headers["X-API-Key"] = settings.api_key
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = request.idempotency_key
    return headers


def _serialize_link(link: NewPaymentLink) -> bytes:
    fields: dict[str, Any] = dict(link)
    fields["toAmount"] = format_amount(link.get("toAmount"), "toAmount")
    expiration_date = fields.get("expirationDate")
    if isinstance(expiration_date, datetime):
        fields["expirationDate"] = format_instant(expiration_date, "expirationDate")
    return json.dumps(fields, allow_nan=False).encode()


def format_instant(instant: str | datetime, name: str) -> str:
    """Return an instant as the service reads it. Text stays as it is."""
    if isinstance(instant, str):
        return instant
    # The service would read a time without an offset as UTC, but Python means local time.
    if not isinstance(instant, datetime) or instant.utcoffset() is None:
        raise ValueError(f"{name} must be text or a datetime with a time zone")
    return instant.isoformat()


def _is_header_value(value: object) -> bool:
    """Return whether the value is printable ASCII without leading or trailing spaces."""
    return isinstance(value, str) and _HEADER_VALUE.fullmatch(value) is not None
