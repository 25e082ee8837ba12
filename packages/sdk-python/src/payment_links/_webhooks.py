import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeGuard, cast, overload

from .shapes import (
    CompletedWebhook,
    TransactionSucceededWebhook,
    TransactionUnappliedWebhook,
    Webhook,
)

WebhookRefusal = Literal[
    "header_missing", "timestamp_off", "signature_wrong", "body_not_understood"
]
"""Why a request was not accepted as a webhook."""

_SECRET = re.compile(r"whsec_[0-9A-Za-z+/=_-]{16,}")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v1=[0-9a-f]{64}")


class Headers(Protocol):
    """The headers of a request in a framework, or a dictionary. The case of names is ignored."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


class WebhookRefusedError(Exception):
    """The request is not a genuine webhook, or it replays an old one.

    Respond with 401 and do nothing.
    """

    reason: WebhookRefusal

    def __init__(self, reason: WebhookRefusal) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"webhook rejected: {self.reason}"


def read_webhook(
    body: bytes | bytearray | memoryview | str,
    headers: Headers,
    *,
    secret: str | Sequence[str],
    header_prefix: str = "Service",
    tolerance_seconds: float = 300,
    now: Callable[[], float] = time.time,
) -> Webhook:
    """Verify and parse a webhook.

    Checks the HMAC-SHA256 of the timestamp, a period and the bytes of the body in constant time.
    Events can repeat and arrive in any order. Deduplicate them by the `id` of the result. That id
    is signed, but the id in the header is not.

    Args:
        body: The raw bytes of the body, before any parsing. Pass text only if it is the exact UTF-8
            decoding of the bytes.
        headers: The request's headers, such as `request.headers` of Flask, Django and FastAPI.
        secret: The endpoint's signing secret as shown in the console, including `whsec_`. Pass
            several while two endpoints share this address, for example during a rotation. Each
            endpoint then sends every event under its own id. Deduplicate payments by
            `transaction.id` and completed links by `paymentLinkId`.
        header_prefix: The prefix of the header names: the service's `WEBHOOK_HEADER_PREFIX`.
        tolerance_seconds: The maximum difference between the timestamp and the current time.
        now: Returns the current time in Unix seconds.

    Raises:
        WebhookRefusedError: A check failed.
        ValueError: The secret is invalid.
        TypeError: The body is not bytes or text.
    """
    secrets = _parse_secrets(secret)
    content = _to_bytes(body)
    timestamp = _get_single_header(headers, f"{header_prefix}-Timestamp")
    signature = _get_single_header(headers, f"{header_prefix}-Signature")
    if timestamp is None or signature is None:
        raise WebhookRefusedError("header_missing")
    is_within_tolerance = (
        _TIMESTAMP.fullmatch(timestamp) is not None
        and abs(now() - int(timestamp)) <= tolerance_seconds
    )
    if not is_within_tolerance:
        raise WebhookRefusedError("timestamp_off")
    signed_payload = timestamp.encode() + b"." + content
    if _SIGNATURE.fullmatch(signature) is None or not any(
        hmac.compare_digest(signature, _sign(candidate, signed_payload)) for candidate in secrets
    ):
        raise WebhookRefusedError("signature_wrong")
    return _parse_webhook(content)


@overload
def is_webhook(
    webhook: Webhook, type: Literal["payment_link.transaction.succeeded"]
) -> TypeGuard[TransactionSucceededWebhook]: ...


@overload
def is_webhook(
    webhook: Webhook, type: Literal["payment_link.completed"]
) -> TypeGuard[CompletedWebhook]: ...


@overload
def is_webhook(
    webhook: Webhook, type: Literal["payment_link.transaction.unapplied"]
) -> TypeGuard[TransactionUnappliedWebhook]: ...


def is_webhook(webhook: Webhook, type: str) -> bool:
    """Return whether a webhook has this type, and narrow its `data` accordingly.

    New types may be added. Respond with 2xx to types that you do not know.
    """
    return webhook["type"] == type


def _parse_secrets(secret: str | Sequence[str]) -> list[str]:
    """Validate the secrets.

    For example, an unset variable must not become a secret that attackers can guess.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    if not secrets or not all(
        isinstance(candidate, str) and _SECRET.fullmatch(candidate) for candidate in secrets
    ):
        raise ValueError(
            "secret must be the endpoint's signing secret, including its whsec_ prefix"
        )
    return secrets


def _to_bytes(body: bytes | bytearray | memoryview | str) -> bytes:
    if isinstance(body, str):
        # No bytes decode to a lone surrogate, so the signature of such a text is wrong.
        return body.encode(errors="surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError("body must be the raw bytes of the request, before any parsing")


def _get_single_header(headers: Headers, name: str) -> str | None:
    """Return a header that occurs exactly once.

    Ignores the case of names, because proxies and frameworks change it.
    """
    values: list[str] = []
    for key, value in headers.items():
        if _to_text(key).lower() == name.lower():
            values += map(_to_text, value if isinstance(value, (list, tuple)) else [value])
    return values[0] if len(values) == 1 else None


def _to_text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _sign(secret: str, signed_payload: bytes) -> str:
    return "v1=" + hmac.new(secret.encode(), signed_payload, hashlib.sha256).hexdigest()


def _parse_webhook(content: bytes) -> Webhook:
    try:
        webhook = json.loads(content.decode())
    except (ValueError, RecursionError):
        # The cause is omitted because it would contain the body.
        raise WebhookRefusedError("body_not_understood") from None
    if not isinstance(webhook, dict) or not all(
        isinstance(webhook.get(name), str) for name in ("id", "type")
    ):
        raise WebhookRefusedError("body_not_understood")
    return cast(Webhook, webhook)
