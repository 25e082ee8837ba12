import hashlib
import hmac
import json
import sys
import typing
from collections.abc import Mapping
from email.message import Message
from typing import Any

import httpx
import pytest

from payment_links import WebhookRefusedError, is_webhook, read_webhook
from payment_links.shapes import CompletedWebhook, WebhookType

secret = "whsec_" + "0123456789abcdef" * 4
now_seconds = 1_795_255_200
webhook = {
    "id": "evt_1",
    "type": "payment_link.completed",
    "createdAt": "x",
    "data": {"a": "é 💶"},
}
default_body = json.dumps(webhook).encode()
other_secret = "whsec_" + "1" * 64


def now() -> float:
    return now_seconds + 0.9


def sign(
    body: bytes = default_body,
    seconds: str = str(now_seconds),
    by: str = secret,
    prefix: str = "Service",
) -> dict[str, str]:
    digest = hmac.new(by.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return {f"{prefix}-Timestamp": seconds, f"{prefix}-Signature": f"v1={digest}"}


def get_rejection_reason(body: bytes, headers: Mapping[str, Any], **settings: Any) -> str:
    with pytest.raises(WebhookRefusedError) as caught:
        read_webhook(body, headers, **{"secret": secret, "now": now, **settings})
    assert str(caught.value) == f"webhook rejected: {caught.value.reason}"
    return caught.value.reason


class TestAccepts:
    def test_a_webhook_signed_by_another_implementation(self) -> None:
        headers = {
            "Acme-Signature": "v1=77e457f2c35cad80cfd04d153a64955f2abfa80c4842048f049e4db39265965c",
            "Acme-Timestamp": str(now_seconds),
        }
        # The signature is valid, but the body is not a webhook. The signature is checked first.
        reason = get_rejection_reason('{"a":"é 💶"}'.encode(), headers, header_prefix="Acme")
        assert reason == "body_not_understood"

    def test_bytes_of_any_type_and_text(self) -> None:
        bodies: list[bytes | bytearray | memoryview | str] = [
            default_body,
            bytearray(default_body),
            memoryview(default_body),
            default_body.decode(),
        ]
        for body in bodies:
            assert read_webhook(body, sign(), secret=secret, now=now) == webhook

    def test_headers_of_frameworks_in_any_letter_case(self) -> None:
        headers = sign()
        message = Message()
        for name, value in headers.items():
            message[name] = value
        variants: list[Any] = [
            {name.lower(): value for name, value in headers.items()},
            {name.upper(): [value] for name, value in headers.items()},
            {name.encode(): value.encode() for name, value in headers.items()},
            httpx.Headers(headers),
            message,
        ]
        for variant in variants:
            assert read_webhook(default_body, variant, secret=secret, now=now) == webhook

    def test_either_secret_during_a_rotation(self) -> None:
        for signing_secret in (secret, other_secret):
            secrets = [secret, other_secret]
            headers = sign(by=signing_secret)
            assert read_webhook(default_body, headers, secret=secrets, now=now) == webhook

    def test_a_timestamp_within_the_tolerance(self) -> None:
        for seconds in (now_seconds - 299, now_seconds + 300):
            headers = sign(seconds=str(seconds))
            assert read_webhook(default_body, headers, secret=secret, now=now) == webhook
        headers = sign(seconds=str(now_seconds - 599))
        assert (
            read_webhook(default_body, headers, secret=secret, now=now, tolerance_seconds=600)
            == webhook
        )

    def test_a_webhook_of_an_unknown_type(self) -> None:
        body = json.dumps({**webhook, "type": "payment_link.new"}).encode()
        received_webhook = read_webhook(body, sign(body), secret=secret, now=now)
        assert not is_webhook(received_webhook, "payment_link.completed")
        assert is_webhook(
            read_webhook(default_body, sign(), secret=secret, now=now), "payment_link.completed"
        )


valid_headers = sign()
signature = valid_headers["Service-Signature"]


class TestRejects:
    @pytest.mark.parametrize(
        ("body", "headers"),
        [
            pytest.param(default_body, sign(by=other_secret), id="another secret"),
            pytest.param(
                default_body.replace(b"evt_1", b"evt_2"), valid_headers, id="changed body"
            ),
            pytest.param(
                default_body,
                {**valid_headers, "Service-Timestamp": str(now_seconds + 1)},
                id="changed timestamp",
            ),
            *[
                pytest.param(
                    default_body, {**valid_headers, "Service-Signature": changed}, id=changed[:9]
                )
                for changed in (
                    signature[3:],
                    signature.replace("v1", "v2"),
                    signature.upper(),
                    signature[:-2],
                    signature + "\n",
                    "v1=",
                    "v1=" + "é" * 64,
                )
            ],
        ],
    )
    def test_an_invalid_signature(self, body: bytes, headers: dict[str, str]) -> None:
        assert get_rejection_reason(body, headers) == "signature_wrong"

    def test_text_that_no_bytes_decode_to(self) -> None:
        with pytest.raises(WebhookRefusedError, match="signature_wrong"):
            read_webhook("\ud83d", valid_headers, secret=secret, now=now)

    @pytest.mark.parametrize(
        "seconds",
        [
            str(now_seconds - 300),
            str(now_seconds + 301),
            f"+{now_seconds}",
            f"{now_seconds}.5",
            f"{now_seconds}\n",
            "0x6b01d1e0",
            "1_795_255_200",
            "١",
            "",
        ],
    )
    def test_a_correctly_signed_but_invalid_timestamp(self, seconds: str) -> None:
        assert get_rejection_reason(default_body, sign(seconds=seconds)) == "timestamp_off"

    @pytest.mark.parametrize(
        "headers",
        [
            pytest.param({}, id="no headers"),
            pytest.param(sign(prefix="Acme"), id="another prefix"),
            pytest.param(
                {**valid_headers, "Service-Signature": [signature, signature]},
                id="repeated signature",
            ),
            pytest.param(
                {**valid_headers, "service-signature": signature},
                id="signature in two letter cases",
            ),
        ],
    )
    def test_a_request_without_exactly_one_of_each_header(self, headers: dict[str, Any]) -> None:
        assert get_rejection_reason(default_body, headers) == "header_missing"

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"null",
            b"7",
            b"{",
            b'{"id":"evt_1"}',
            b'{"id":1,"type":"a"}',
            b"\xff",
            b"[" * 100_000,
        ],
    )
    def test_a_correctly_signed_body_that_is_not_a_webhook(self, body: bytes) -> None:
        assert get_rejection_reason(body, sign(body)) == "body_not_understood"


class TestSettings:
    @pytest.mark.parametrize(
        "invalid_secret",
        [None, "", [], [secret, ""], "None", "whsec_", secret[6:], f"{secret}\n", [secret, None]],
    )
    def test_reject_an_invalid_secret_without_showing_it(self, invalid_secret: Any) -> None:
        with pytest.raises(ValueError, match="secret must be") as caught:
            read_webhook(default_body, sign(), secret=invalid_secret, now=now)
        assert "0123456789abcdef" not in str(caught.value)

    def test_reject_a_body_that_is_already_parsed(self) -> None:
        body: Any = webhook
        with pytest.raises(TypeError, match="raw bytes"):
            read_webhook(body, sign(), secret=secret, now=now)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no typing.get_overloads")
def test_is_webhook_narrows_every_type_that_this_version_knows() -> None:
    overloads = typing.get_overloads(is_webhook)  # type: ignore[attr-defined,unused-ignore]
    narrowed = {
        typing.get_args(hints["type"])[0]: typing.get_args(hints["return"])[0]
        for hints in map(typing.get_type_hints, overloads)
    }
    assert set(narrowed) == set(typing.get_args(WebhookType))
    for type, shape in narrowed.items():
        assert typing.get_type_hints(shape)["type"] == typing.Literal[type]


def test_types_of_data_follow_from_the_type_of_the_webhook() -> None:
    received_webhook = read_webhook(default_body, sign(), secret=secret, now=now)
    assert is_webhook(received_webhook, "payment_link.completed")
    completed: CompletedWebhook = received_webhook
    assert completed["data"].get("a") == "é 💶"
