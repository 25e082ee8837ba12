import json
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ._errors import NoAnswerError, PaymentLinksError, Problem
from ._requests import ApiRequest, ClientSettings
from ._runtime import Pause, Runtime

# If `Retry-After` is longer than this, the call raises the error response and the caller decides
# what to do.
_WAIT_SECONDS_MAX = 60
_INITIAL_BACKOFF_SECONDS = 1.0
_JITTER_FRACTION = 0.25
# 408: the request arrived too slowly. 429: there were too many requests.
_RETRYABLE_STATUSES = frozenset({408, 429})
# The first attempt is still in progress.
_RETRYABLE_CODES = frozenset({"IDEMPOTENCY_KEY_IN_USE"})


@dataclass(frozen=True)
class Success:
    """The JSON body of a successful response. It is not validated, because TLS protects it."""

    body: Any
    ignored_fields: str
    """The header with the names of ignored fields, separated by commas."""


@dataclass(frozen=True)
class Failure:
    """An attempt that failed."""

    error: PaymentLinksError | NoAnswerError
    is_retryable: bool


def read_response(
    settings: ClientSettings, request: ApiRequest, response: httpx.Response, body: bytes, now: float
) -> Success | Failure:
    if response.is_success:
        value, is_json = _parse_json(body)
        if not is_json:
            return no_answer(settings, request, ValueError("the response is not JSON"))
        return Success(value, response.headers.get("Payment-Links-Ignored-Fields", ""))
    error = PaymentLinksError(
        response.status_code,
        _parse_problems(body),
        response.headers.get("X-Request-Id"),
        request.idempotency_key,
        settings.origin,
        _parse_retry_after(response.headers.get("Retry-After", ""), now),
    )
    is_retryable = (
        is_temporary_error(error)
        or error.code in _RETRYABLE_CODES
        or error.code == request.internal_error_code
    )
    return Failure(error, is_retryable)


def is_temporary_error(error: PaymentLinksError | NoAnswerError) -> bool:
    """Return whether a later attempt of any call can succeed."""
    if isinstance(error, NoAnswerError):
        return True
    return error.status >= 500 or error.status in _RETRYABLE_STATUSES


def no_answer(settings: ClientSettings, request: ApiRequest, cause: Exception) -> Failure:
    error = NoAnswerError(request.idempotency_key, settings.origin)
    # Error trackers store the frames and attributes of a cause, and httpx's contain the API key.
    if isinstance(cause, httpx.HTTPError):
        cause.request = httpx.Request(request.method, f"{settings.origin}{request.path}")
    cause.__traceback__ = cause.__context__ = cause.__cause__ = None
    error.__cause__ = cause
    return Failure(error, is_retryable=True)


def no_response_within(settings: ClientSettings) -> TimeoutError:
    return TimeoutError(f"no response within {settings.timeout_seconds} s")


def get_wait_seconds(
    settings: ClientSettings, failure: Failure, attempt_number: int, runtime: Runtime[Pause]
) -> float:
    """Return the wait before the next attempt. Raises the error if there must not be one."""
    retry_after_seconds = get_retry_after_seconds(failure.error)
    is_exhausted = attempt_number >= settings.tries_max or retry_after_seconds > _WAIT_SECONDS_MAX
    if not failure.is_retryable or is_exhausted:
        raise failure.error
    backoff_seconds = (
        _INITIAL_BACKOFF_SECONDS
        * 2.0 ** (attempt_number - 1)
        * (1 + runtime.random() * _JITTER_FRACTION)
    )
    return max(retry_after_seconds, min(backoff_seconds, _WAIT_SECONDS_MAX))


def get_retry_after_seconds(error: PaymentLinksError | NoAnswerError | None) -> float:
    return error.retry_after_seconds if isinstance(error, PaymentLinksError) else 0


def _parse_retry_after(header: str, now: float) -> float:
    """Parse `Retry-After`.

    The service sends it in seconds. A proxy can send a date instead (RFC 9110, section 10.2.3).
    """
    if re.fullmatch("[0-9]+", header):
        return float(header)
    try:
        return max(parsedate_to_datetime(header).timestamp() - now, 0)
    except (ValueError, OverflowError, TypeError):
        return 0


def _parse_problems(body: bytes) -> list[Problem]:
    """Return the entries of the error envelope.

    Returns an empty list if the response does not come from the service.
    """
    envelope, _ = _parse_json(body)
    entries = envelope.get("errors") if isinstance(envelope, dict) else None
    return [
        Problem(entry["code"], entry["message"])
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
        and isinstance(entry.get("code"), str)
        and isinstance(entry.get("message"), str)
    ]


def _parse_json(body: bytes) -> tuple[Any, bool]:
    """Return the value, and whether the body is JSON."""
    try:
        return json.loads(body), True
    except (ValueError, RecursionError):
        return None, False
