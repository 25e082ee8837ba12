import json
import logging
import pickle
import re
import traceback
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx
import pytest

from payment_links import (
    AsyncPaymentLinks,
    NoAnswerError,
    PaymentLinks,
    PaymentLinksError,
    Problem,
    WaitTimeoutError,
)
from payment_links.shapes import PaymentLinksFilter

from .clients import CreateClient
from .conftest import VirtualTime
from .server import (
    Handler,
    RecordedRequest,
    Responder,
    Server,
    drip,
    drop_connection,
    never_respond,
    respond,
    respond_with_error,
)

created_link = {"id": "plink_1", "url": "https://pay.example.com/@a/pay/plink_1"}


class TestCreatePaymentLink:
    def test_sends_the_api_key_the_amount_as_text_and_an_idempotency_key(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, created_link))
        client = create_client()
        assert (
            client.create_payment_link({"toAmount": "0.1", "description": "é 💶"}) == created_link
        )
        [request] = server.requests
        assert request.line == "POST /v1/payment-link"
        assert json.loads(request.body) == {"toAmount": "0.1", "description": "é 💶"}
        assert request.headers["content-type"] == "application/json"
        assert request.headers["idempotency-key"] == "drawn-1"
        assert request.headers["x-api-key"] == "plk_1"

    @pytest.mark.parametrize(
        ("amount", "text"),
        [
            ("0.10", "0.10"),
            (Decimal("25"), "25"),
            (Decimal("0.10"), "0.10"),
            (Decimal("1E+3"), "1000"),
            (Decimal("1E-18"), "0.000000000000000001"),
            (Decimal("9" * 78), "9" * 78),
        ],
    )
    def test_sends_an_amount_exactly(
        self, server: Server, create_client: CreateClient, amount: str | Decimal, text: str
    ) -> None:
        server.respond_with(respond(200, created_link))
        create_client().create_payment_link({"toAmount": amount})
        assert json.loads(server.requests[0].body) == {"toAmount": text}

    @pytest.mark.parametrize("amount", [25, 0.1, 0.0, None, True, b"25"])
    def test_rejects_an_amount_that_is_not_text_or_a_decimal(
        self, server: Server, create_client: CreateClient, amount: Any
    ) -> None:
        with pytest.raises(TypeError, match="toAmount must be a str or a Decimal"):
            create_client().create_payment_link({"toAmount": amount})
        assert server.requests == []

    def test_rejects_a_link_without_an_amount(
        self, server: Server, create_client: CreateClient
    ) -> None:
        link: Any = {"to_amount": "25"}
        with pytest.raises(TypeError, match="toAmount"):
            create_client().create_payment_link(link)
        assert server.requests == []

    @pytest.mark.parametrize("amount", ["NaN", "Infinity", "1E+999999", "1E-999999"])
    def test_rejects_a_decimal_that_is_no_amount(
        self, create_client: CreateClient, amount: str
    ) -> None:
        with pytest.raises(ValueError, match="toAmount must be a number"):
            create_client().create_payment_link({"toAmount": Decimal(amount)})

    def test_sends_an_expiration_date_with_its_time_zone(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, created_link))
        client = create_client()
        local_time = datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
        client.create_payment_link({"toAmount": "1", "expirationDate": local_time})
        body = json.loads(server.requests[0].body)
        assert body["expirationDate"] == "2030-01-02T03:04:05+02:00"
        with pytest.raises(ValueError, match="time zone"):
            client.create_payment_link({"toAmount": "1", "expirationDate": datetime(2030, 1, 2)})

    def test_retries_with_the_same_bytes_and_idempotency_key(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(
            drop_connection,
            respond_with_error(500, "CANNOT_CREATE_PAYMENT_LINK"),
            respond(200, created_link),
        )
        client = create_client()
        assert client.create_payment_link({"toAmount": "25"}) == created_link
        assert len(server.requests) == 3
        assert len({request.body for request in server.requests}) == 1
        client.create_payment_link({"toAmount": "25"})
        keys = [request.headers["idempotency-key"] for request in server.requests]
        assert keys == ["drawn-1", "drawn-1", "drawn-1", "drawn-2"]

    def test_names_the_callers_idempotency_key_if_no_response_arrives(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(drop_connection)
        with pytest.raises(NoAnswerError, match=server.url) as caught:
            create_client().create_payment_link({"toAmount": "25"}, idempotency_key="order-1001")
        assert caught.value.idempotency_key == "order-1001"
        assert isinstance(caught.value.__cause__, httpx.RemoteProtocolError)

    def test_warns_once_about_each_ignored_field_and_a_failing_callback_fails_no_call(
        self, server: Server, create_client: CreateClient
    ) -> None:
        name = "Payment-Links-Ignored-Fields"
        server.respond_with(
            respond(200, created_link, {name: "max_usage, success_url, <b>"}),
            respond(200, created_link, {name: "max_usage, currency"}),
            respond(200, created_link),
        )
        warnings: list[str] = []

        def on_warning(message: str) -> None:
            warnings.append(message)
            raise RuntimeError("the logger fails")

        client = create_client(on_warning=on_warning)
        for _ in range(3):
            assert client.create_payment_link({"toAmount": "25"}) == created_link
        assert len(server.requests) == 3
        assert [message.split('"')[1] for message in warnings] == [
            "max_usage",
            "success_url",
            "currency",
        ]

    @pytest.mark.parametrize(
        ("responders", "status"),
        [
            pytest.param([respond(504, "<html>")], 504, id="a proxy's 504 on every try"),
            pytest.param(
                [drop_connection, respond_with_error(401, "INVALID_API_KEY")],
                401,
                id="no response and then an error",
            ),
            pytest.param(
                [drop_connection, respond_with_error(429, "429", {"Retry-After": "61"})],
                429,
                id="no response and then a `Retry-After` that is too long",
            ),
        ],
    )
    def test_names_the_idempotency_key_when_the_link_may_exist(
        self,
        server: Server,
        create_client: CreateClient,
        responders: list[Responder],
        status: int,
    ) -> None:
        server.respond_with(*responders)
        with pytest.raises(PaymentLinksError) as caught:
            create_client().create_payment_link({"toAmount": "25"})
        assert (caught.value.status, caught.value.idempotency_key) == (status, "drawn-1")

    @pytest.mark.parametrize(
        "key", ["", " a", "a ", "é", "a\nb", "a" * 256, {"order": 1}, 1, "a\n"]
    )
    def test_rejects_an_invalid_idempotency_key(
        self, server: Server, create_client: CreateClient, key: Any
    ) -> None:
        with pytest.raises(ValueError, match="idempotency_key"):
            create_client().create_payment_link({"toAmount": "1"}, idempotency_key=key)
        assert server.requests == []


class TestRetries:
    @pytest.mark.parametrize(
        "first_responder",
        [
            pytest.param(drop_connection, id="the connection was closed"),
            pytest.param(respond_with_error(429, "429"), id="429"),
            pytest.param(respond_with_error(408, "REQUEST_TIMEOUT"), id="408"),
            pytest.param(respond_with_error(500, "INTERNAL_ERROR"), id="500"),
            pytest.param(respond_with_error(503, "SERVICE_UNAVAILABLE"), id="503"),
            pytest.param(respond(502, "<html>Bad Gateway</html>"), id="a proxy's 502"),
            pytest.param(respond_with_error(409, "IDEMPOTENCY_KEY_IN_USE"), id="in progress"),
            pytest.param(respond(200, "<html>"), id="200 without JSON"),
            pytest.param(respond(200, "[" * 100_000), id="200 with deep JSON"),
        ],
    )
    def test_sends_the_call_again(
        self,
        server: Server,
        time: VirtualTime,
        create_client: CreateClient,
        first_responder: Responder,
    ) -> None:
        server.respond_with(first_responder, respond(200, created_link))
        assert create_client().create_payment_link({"toAmount": "25"}) == created_link
        assert time.waits == [1]

    def test_retries_cannot_find_payment_link_for_a_list_but_not_for_a_single_link(
        self, server: Server, create_client: CreateClient
    ) -> None:
        not_found = respond_with_error(404, "CANNOT_FIND_PAYMENT_LINK")
        server.respond_with(not_found, respond(200, {"data": [], "nextOffset": None}))
        client = create_client()
        assert client.list_payment_links()["data"] == []
        server.respond_with(not_found)
        with pytest.raises(PaymentLinksError) as caught:
            client.retrieve_payment_link("plink_1")
        assert caught.value.status == 404
        assert len(server.requests) == 3

    def test_stops_after_five_tries_and_doubles_the_wait_each_time_plus_jitter(
        self, server: Server, time: VirtualTime, create_client: CreateClient
    ) -> None:
        server.respond_with(respond_with_error(503, "SERVICE_UNAVAILABLE"))
        time.random = 0.4
        with pytest.raises(PaymentLinksError) as caught:
            create_client().retrieve_payment_link("plink_1")
        assert (caught.value.status, caught.value.code) == (503, "SERVICE_UNAVAILABLE")
        assert len(server.requests) == 5
        assert time.waits == pytest.approx([1.1, 2.2, 4.4, 8.8])

    def test_stops_after_tries_max(self, server: Server, create_client: CreateClient) -> None:
        server.respond_with(drop_connection)
        with pytest.raises(NoAnswerError):
            create_client(tries_max=1).retrieve_payment_link("plink_1")
        assert len(server.requests) == 1

    @pytest.mark.parametrize("retry_after", ["61", "9" * 5_000])
    def test_waits_as_long_as_retry_after_says_and_gives_up_after_a_minute(
        self, server: Server, time: VirtualTime, create_client: CreateClient, retry_after: str
    ) -> None:
        server.respond_with(
            respond_with_error(429, "429", {"Retry-After": "7"}), respond(200, created_link)
        )
        client = create_client()
        client.create_payment_link({"toAmount": "1"})
        assert time.waits == [7]
        server.respond_with(respond_with_error(429, "429", {"Retry-After": retry_after}))
        with pytest.raises(PaymentLinksError) as caught:
            client.create_payment_link({"toAmount": "1"})
        assert (caught.value.status, caught.value.code) == (429, "429")
        assert time.waits == [7]

    def test_waits_until_a_retry_after_date(
        self, server: Server, time: VirtualTime, create_client: CreateClient
    ) -> None:
        def unavailable_for(seconds: float) -> Responder:
            headers = {"Retry-After": formatdate(time.now + seconds, usegmt=True)}
            return respond_with_error(503, "SERVICE_UNAVAILABLE", headers)

        client = create_client()
        server.respond_with(unavailable_for(50), respond(200, created_link))
        client.create_payment_link({"toAmount": "1"})
        assert time.waits == [50]
        server.respond_with(unavailable_for(300))
        with pytest.raises(PaymentLinksError):
            client.create_payment_link({"toAmount": "1"})
        server.respond_with(unavailable_for(-50), respond(200, created_link))
        client.create_payment_link({"toAmount": "1"})
        assert time.waits == [50, 1]

    @pytest.mark.parametrize(
        "retry_after", ["soon", "²", "-7", "1.5", "Mon, 01 Jan 10000 00:00:00 GMT"]
    )
    def test_ignores_an_invalid_retry_after(
        self, server: Server, time: VirtualTime, create_client: CreateClient, retry_after: str
    ) -> None:
        headers = {"Retry-After": retry_after}
        server.respond_with(
            respond_with_error(503, "SERVICE_UNAVAILABLE", headers), respond(200, created_link)
        )
        create_client().create_payment_link({"toAmount": "1"})
        assert time.waits == [1]

    def test_waits_at_most_a_minute_between_tries(
        self, server: Server, time: VirtualTime, create_client: CreateClient
    ) -> None:
        server.respond_with(respond_with_error(500, "INTERNAL_ERROR"))
        with pytest.raises(PaymentLinksError):
            create_client(tries_max=9).retrieve_payment_link("plink_1")
        assert len(server.requests) == 9
        assert time.waits == [1, 2, 4, 8, 16, 32, 60, 60]

    @pytest.mark.parametrize("first_responder", [never_respond, drip(created_link)])
    def test_retries_after_a_timeout(
        self, server: Server, create_client: CreateClient, first_responder: Responder
    ) -> None:
        # The second attempt has the same timeout, so the timeout must be much longer than a
        # response takes.
        server.respond_with(first_responder, respond(200, created_link))
        client = create_client(timeout_seconds=1)
        assert client.create_payment_link({"toAmount": "1"}) == created_link
        assert len(server.requests) == 2


class TestErrorResponses:
    @pytest.mark.parametrize(
        ("status", "code"),
        [
            (401, "INVALID_API_KEY"),
            (403, "INSUFFICIENT_API_SCOPE"),
            (409, "PAYMENT_LINK_ACCOUNT_NOT_READY"),
            (422, "greater_than"),
        ],
    )
    def test_are_not_retried(
        self, server: Server, time: VirtualTime, create_client: CreateClient, status: int, code: str
    ) -> None:
        server.respond_with(respond_with_error(status, code, {"X-Request-Id": "req_1"}))
        with pytest.raises(PaymentLinksError) as caught:
            create_client().create_payment_link({"toAmount": "1"})
        error = caught.value
        assert (error.status, error.code, error.request_id) == (status, code, "req_1")
        assert str(error) == f"{code}: For people. (request req_1)"
        assert (len(server.requests), time.waits) == (1, [])

    def test_list_all_problems_of_a_failed_validation(
        self, server: Server, create_client: CreateClient
    ) -> None:
        problems = [{"code": code, "message": "a"} for code in ("missing", "string_too_long")]
        server.respond_with(respond(422, {"errors": problems}))
        with pytest.raises(PaymentLinksError) as caught:
            create_client().create_payment_link({"toAmount": "1"})
        assert caught.value.code == "missing"
        assert caught.value.problems == (Problem("missing", "a"), Problem("string_too_long", "a"))
        assert caught.value.request_id is None

    @pytest.mark.parametrize(
        "body", ["<html>", "null", {"errors": "all"}, {"errors": [{"code": 7}]}, {"errors": [7]}]
    )
    def test_from_a_proxy_get_their_code_from_the_status(
        self, server: Server, create_client: CreateClient, body: object
    ) -> None:
        server.respond_with(respond(403, body))
        with pytest.raises(PaymentLinksError) as caught:
            create_client().retrieve_payment_link("plink_1")
        assert (caught.value.code, caught.value.problems) == ("HTTP_403", ())
        # Usually the URL is wrong, for example that of the shop itself.
        assert str(caught.value) == (
            f"HTTP_403: The response from {server.url} is not from Payment Links."
            " Check the `url` of PaymentLinks."
        )

    @pytest.mark.parametrize("is_following", [False, True])
    def test_are_also_redirects_so_that_the_api_key_never_reaches_another_origin(
        self, server: Server, create_client: CreateClient, is_following: bool
    ) -> None:
        other_server = Server()
        try:
            location = {"Location": f"{other_server.url}/v1/payment-link"}
            server.respond_with(respond(307, "", location))
            with pytest.raises(PaymentLinksError) as caught:
                create_client().create_payment_link({"toAmount": "1"})
            assert (caught.value.status, caught.value.code) == (307, "HTTP_307")
            assert other_server.requests == []
        finally:
            other_server.close()

    def test_can_be_pickled(self) -> None:
        errors: list[Exception] = [
            PaymentLinksError(422, [Problem("missing", "a")], "req_1", "order-1", "https://a"),
            NoAnswerError("order-1", "https://a"),
            WaitTimeoutError(60, None),
        ]
        for error in errors:
            copy = pickle.loads(pickle.dumps(error))
            assert (str(copy), vars(copy)) == (str(error), vars(error))


class TestSecrets:
    def test_no_error_repr_or_log_contains_the_api_key(
        self,
        server: Server,
        create_client: CreateClient,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        for responder in (drop_connection, respond_with_error(401, "INVALID_API_KEY")):
            server.respond_with(responder)
            client = create_client(api_key="plk_secret", tries_max=1)
            with pytest.raises((NoAnswerError, PaymentLinksError)) as caught:
                client.retrieve_payment_link("plink_1")
            # What an error tracker stores: the locals of all frames, and the attributes.
            report = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            texts = [*report.format(), repr(caught.value), repr(vars(caught.value)), caplog.text]
            cause = caught.value.__cause__
            if cause is not None:
                request: httpx.Request = vars(cause)["_request"]
                texts.append(repr(dict(request.headers)))
            assert "plk_secret" not in "\n".join(texts)
        assert server.requests[0].headers["x-api-key"] == "plk_secret"

    def test_the_repr_of_a_client_does_not_contain_the_api_key(self) -> None:
        with PaymentLinks("https://pay.example.com", "plk_secret") as client:
            assert repr(client) == "PaymentLinks('https://pay.example.com')"
            assert "plk_secret" not in repr(vars(client))
        async_client = AsyncPaymentLinks("https://pay.example.com", "plk_secret")
        assert repr(async_client) == "AsyncPaymentLinks('https://pay.example.com')"


class TestReadingLinks:
    def test_requests_a_link_by_its_encoded_id_without_an_api_key(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, {"id": "plink_1"}))
        create_client(api_key=None).retrieve_payment_link("../a?b")
        [request] = server.requests
        assert request.line == "GET /v1/payment-link/..%2Fa%3Fb"
        assert "x-api-key" not in request.headers
        assert "idempotency-key" not in request.headers

    @pytest.mark.parametrize("id", ["", ".", "..", None])
    def test_rejects_an_id_that_is_none(
        self, server: Server, create_client: CreateClient, id: Any
    ) -> None:
        with pytest.raises(ValueError, match="id must be"):
            create_client().retrieve_payment_link(id)
        assert server.requests == []

    def test_sends_the_filter_as_query_parameters(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, {"data": [], "nextOffset": None}))
        client = create_client()
        client.list_payment_links(status="completed", offset=20)
        client.list_payment_links(offset=0)
        assert [request.line for request in server.requests] == [
            "GET /v1/payment-link?status=completed&offset=20",
            "GET /v1/payment-link?offset=0",
        ]

    def test_sends_every_parameter_of_the_list(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, {"data": [], "nextOffset": None}))
        parameters: dict[str, Any] = {
            re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name): "1"
            for name in PaymentLinksFilter.__annotations__
        }
        create_client().list_payment_links(**parameters)
        query = parse_qs(urlsplit(server.requests[0].line).query)
        assert set(query) == set(PaymentLinksFilter.__annotations__)

    def test_yields_each_link_once_while_new_links_are_created(
        self, server: Server, create_client: CreateClient
    ) -> None:
        ids = serve_growing_list(server, count=35, added_per_page=3)
        assert [link["id"] for link in create_client().each_payment_link()] == ids

    def test_stops_requesting_pages_when_the_loop_ends_early(
        self, server: Server, create_client: CreateClient
    ) -> None:
        serve_growing_list(server, count=35, added_per_page=0)
        for link in create_client().each_payment_link(status="active"):
            if link["id"] == "plink_24":
                break
        assert [request.line for request in server.requests] == [
            "GET /v1/payment-link?status=active&offset=0",
            "GET /v1/payment-link?status=active&offset=10",
        ]


def serve_growing_list(server: Server, count: int, added_per_page: int) -> list[str]:
    """Serve a list, newest first. New links are added before each page after the first."""
    ids = [f"plink_{count - index}" for index in range(count)]
    original_ids = list(ids)

    def respond_with_page(handler: Handler, request: RecordedRequest) -> None:
        page_number = len(server.requests)
        if page_number > 1:
            ids[:0] = [f"plink_new_{page_number}_{number}" for number in range(added_per_page)]
        offset = int(parse_qs(urlsplit(request.line).query)["offset"][0])
        data = [{"id": id} for id in ids[offset : offset + 10]]
        next_offset = offset + 10 if offset + 10 < len(ids) else None
        respond(200, {"data": data, "nextOffset": next_offset})(handler, request)

    server.respond_with(respond_with_page)
    return original_ids


class TestOptions:
    @pytest.mark.parametrize(
        "url",
        [
            "pay.example.com",
            "ftp://pay.example.com",
            "https://pay.example.com/v1",
            "https://pay.example.com/?a=b",
            "https://pay.example.com/#a",
            "https://a:b@pay.example.com",
            "https://pay.example.com:99999",
            "https://",
            "",
            None,
        ],
    )
    def test_reject_the_origin(self, create_client: CreateClient, url: Any) -> None:
        with pytest.raises(ValueError, match="url must be"):
            create_client(url=url)

    @pytest.mark.parametrize("api_key", ["plk_secret\n", "", " plk_secret", 7])
    def test_reject_an_invalid_api_key_without_showing_it(
        self, create_client: CreateClient, api_key: Any
    ) -> None:
        with pytest.raises(ValueError, match=r"^api_key must be an API key") as caught:
            create_client(api_key=api_key)
        assert "plk_secret" not in str(caught.value)

    def test_reject_an_api_key_as_the_url_without_showing_it(
        self, create_client: CreateClient
    ) -> None:
        with pytest.raises(ValueError, match=r"^url must be") as caught:
            create_client(url="plk_secret")
        assert "plk_secret" not in str(caught.value)

    @pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e9, "5", True])
    def test_reject_an_invalid_timeout_or_number_of_tries(
        self, create_client: CreateClient, value: Any
    ) -> None:
        with pytest.raises(ValueError, match="timeout_seconds"):
            create_client(timeout_seconds=value)
        with pytest.raises(ValueError, match="tries_max"):
            create_client(tries_max=value)

    def test_accept_an_origin_with_a_trailing_slash(
        self, server: Server, create_client: CreateClient
    ) -> None:
        server.respond_with(respond(200, {"id": "plink_1"}))
        create_client(url=f"{server.url}/").retrieve_payment_link("plink_1")
        assert server.requests[0].line == "GET /v1/payment-link/plink_1"

    def test_close_the_own_http_client(self, server: Server) -> None:
        server.respond_with(respond(200, {"id": "plink_1"}))
        with PaymentLinks(server.url) as client:
            client.retrieve_payment_link("plink_1")
        assert client._http.is_closed

        async def retrieve() -> bool:
            async with AsyncPaymentLinks(server.url) as async_client:
                await async_client.retrieve_payment_link("plink_1")
            return async_client._http.is_closed

        assert anyio.run(retrieve)

    def test_leave_the_callers_http_client_open(self, server: Server) -> None:
        server.respond_with(respond(200, {"id": "plink_1"}))
        with httpx.Client(headers={"X-Shop": "1"}, follow_redirects=True) as http_client:
            with PaymentLinks(server.url, http_client=http_client) as client:
                client.retrieve_payment_link("plink_1")
            assert not http_client.is_closed
        assert server.requests[0].headers["x-shop"] == "1"

    def test_warn_about_an_ignored_field_where_the_link_is_created(self, server: Server) -> None:
        server.respond_with(
            respond(200, created_link, {"Payment-Links-Ignored-Fields": "max_usage"})
        )
        with (
            PaymentLinks(server.url) as client,
            pytest.warns(UserWarning, match='ignored the field "max_usage"') as caught,
        ):
            client.create_payment_link({"toAmount": "1"})
        assert caught[0].filename == __file__
