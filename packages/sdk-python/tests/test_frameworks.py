import time

import anyio
import django
from django.conf import settings
from django.http import HttpRequest
from django.test import RequestFactory
from flask import Flask, request
from starlette.requests import Request as StarletteRequest
from starlette.types import Message

from payment_links import read_webhook

from .test_webhooks import default_body, secret, sign, webhook


def test_reads_a_request_of_flask() -> None:
    app = Flask(__name__)
    headers = sign(seconds=str(int(time.time())))
    with app.test_request_context("/", method="POST", data=default_body, headers=headers):
        assert read_webhook(request.get_data(), request.headers, secret=secret) == webhook


def test_reads_a_request_of_django() -> None:
    if not settings.configured:
        settings.configure()
        django.setup()
    headers = sign(seconds=str(int(time.time())))
    django_request: HttpRequest = RequestFactory().post(
        "/", data=default_body, content_type="application/json", headers=headers
    )
    assert read_webhook(django_request.body, django_request.headers, secret=secret) == webhook


def test_reads_a_request_of_starlette_and_fastapi() -> None:
    headers = sign(seconds=str(int(time.time())))
    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": default_body, "more_body": False}

    async def read() -> object:
        starlette_request = StarletteRequest(scope, receive)
        return read_webhook(
            await starlette_request.body(), starlette_request.headers, secret=secret
        )

    assert anyio.run(read) == webhook
