from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from types import TracebackType
from typing import Any, cast

import anyio
import httpx

from ._changes import BEFORE_ALL_LINKS, AsyncPaymentLinkChanges
from ._errors import NoAnswerError, PaymentLinksError
from ._requests import (
    ApiRequest,
    ClientSettings,
    build_headers,
    create_request,
    format_instant,
    list_request,
    parse_settings,
    retrieve_request,
)
from ._responses import (
    Failure,
    Success,
    get_wait_seconds,
    is_temporary_error,
    no_answer,
    no_response_within,
    read_response,
)
from ._runtime import async_system_runtime
from ._seen_ids import each_link_async
from ._waiting import Wait
from ._warnings import FieldWarnings, warn
from .shapes import (
    NewPaymentLink,
    PaymentLinkCreationData,
    PaymentLinkData,
    PaymentLinkPage,
    PaymentLinkStatus,
    RetrievedPaymentLink,
)


class AsyncPaymentLinks:
    """A client of the public API for asyncio and trio.

    It has the methods, arguments and errors of `PaymentLinks`. The client holds connections, so use
    it in an `async with` statement, or close it. Tasks of one event loop can share a client. A
    cancelled create may have succeeded. To repeat it safely, pass your own idempotency key.

    Args:
        url: The service's origin, such as `https://pay.example.com`.
        api_key: An API key. It is not required for retrieving a single link.
        timeout_seconds: The timeout of one attempt.
        tries_max: The maximum number of attempts per call, from 1 to 100. A call is retried if no
            response arrives or if the response reports a temporary error. The delays are 1, 2, 4,
            8 s and so on, plus jitter, up to one minute. A delay is never shorter than
            `Retry-After`.
        http_client: The client that sends requests, for example with a proxy. The caller closes it.
        on_warning: Called with a text when the service ignores a field of a link, for example
            because it is misspelled. Called once per field name. Default: `warnings.warn`.

    Raises:
        ValueError: An argument is invalid.
    """

    _runtime = async_system_runtime

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout_seconds: float = 10,
        tries_max: int = 5,
        http_client: httpx.AsyncClient | None = None,
        on_warning: Callable[[str], None] = warn,
    ) -> None:
        self._settings = parse_settings(url, api_key, timeout_seconds, tries_max)
        self._field_warnings = FieldWarnings(on_warning)
        self._owns_http = http_client is None
        self._http = httpx.AsyncClient() if http_client is None else http_client

    def __repr__(self) -> str:
        return f"AsyncPaymentLinks({self._settings.origin!r})"

    async def __aenter__(self) -> AsyncPaymentLinks:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def create_payment_link(
        self, link: NewPaymentLink, *, idempotency_key: str | None = None
    ) -> PaymentLinkCreationData:
        """Create a link. Requires the scope `payment_link:create`.

        Send the payer to the `url` in the response.

        Args:
            link: Its fields. `toAmount` is in whole tokens, as a `str` or a `Decimal`.
            idempotency_key: 1 to 255 printable ASCII characters without leading or trailing spaces,
                unique for each link. For 24 hours, another create with the same key and with the
                same fields, values and field order returns the same link. The default is random and
                covers only the attempts of this call. If you pass the order number, a crash before
                the response arrives cannot lead to a second link either.

        Raises:
            PaymentLinksError: The response is an error.
            NoAnswerError: No response arrived.
            TypeError: The amount is not a `str` or a `Decimal`.
            ValueError: An argument is invalid.
        """
        request = create_request(link, idempotency_key, self._runtime.new_idempotency_key)
        return cast(PaymentLinkCreationData, await self._send(request))

    async def list_payment_links(
        self,
        *,
        status: PaymentLinkStatus | None = None,
        updated_after: str | datetime | None = None,
        offset: int | None = None,
    ) -> PaymentLinkPage:
        """Return one page of ten links. Requires the scope `payment_link:read`.

        The newest link is first or, with `updated_after`, the link with the latest change.

        Args:
            status: Only links with this status. Default: all links.
            updated_after: Only links that changed at or after this instant.
            offset: The number of entries to skip: `nextOffset` of the previous page.

        Raises:
            PaymentLinksError: The response is an error.
            NoAnswerError: No response arrived.
        """
        request = list_request({"status": status, "updatedAfter": updated_after, "offset": offset})
        return cast(PaymentLinkPage, await self._send(request))

    async def retrieve_payment_link(self, id: str) -> RetrievedPaymentLink:
        """Return one link with its owner's public profile. Does not require an API key.

        Raises:
            PaymentLinksError: The response is an error.
            NoAnswerError: No response arrived.
            ValueError: The id is empty.
        """
        return cast(RetrievedPaymentLink, await self._send(retrieve_request(id)))

    async def each_payment_link(
        self,
        *,
        status: PaymentLinkStatus | None = None,
        updated_after: str | datetime | None = None,
    ) -> AsyncIterator[PaymentLinkData]:
        """Yield every link of the list, newest first or, with `updated_after`, latest change first.

        Requests pages as the loop needs them. Links that are created during the loop may be
        missing. No link is yielded twice. If a link stops matching the `status` during the loop,
        another link may be skipped. If you need every link, omit the status.

        Raises:
            PaymentLinksError: A response is an error.
            NoAnswerError: No response arrived.
        """

        async def list_page(offset: int) -> PaymentLinkPage:
            return await self.list_payment_links(
                status=status, updated_after=updated_after, offset=offset
            )

        async with aclosing(each_link_async(list_page, await list_page(0))) as links:
            async for link in links:
                yield link

    def reconcile_payment_links(
        self, *, since: str | datetime | None = None
    ) -> AsyncPaymentLinkChanges:
        """List the links that changed since the previous run.

        They were created, got a payment, changed their status or expired. A link that changed in
        the last five minutes before the previous run is listed again, so handle a repeated link
        like a new one. Together, the runs miss no change. Requires the scope `payment_link:read`.

        Args:
            since: The `next_since` of the previous run. Default: all links are listed.

        Raises:
            PaymentLinksError: A response is an error.
            NoAnswerError: No response arrived.
            RuntimeError: The version of the service is too old.
        """
        updated_after = BEFORE_ALL_LINKS if since is None else format_instant(since, "since")
        return AsyncPaymentLinkChanges(
            lambda offset: self.list_payment_links(updated_after=updated_after, offset=offset)
        )

    async def wait_for_payment_link(
        self,
        id: str,
        *,
        until: Callable[[RetrievedPaymentLink], bool] | None = None,
        timeout_seconds: float = 600,
    ) -> RetrievedPaymentLink:
        """Return the link as soon as it is completed or no longer active.

        Polls it, at first every second and later every 15 seconds. A delay is never shorter than
        `Retry-After`, and temporary errors do not end the wait. Does not require an API key.

        Args:
            id: The id of the link.
            until: Also ends the wait as soon as it returns true, for example at the first payment.
            timeout_seconds: The maximum duration of the wait, at most 86,400 s.

        Raises:
            WaitTimeoutError: The time is over.
            PaymentLinksError: The response is an error that is not temporary.
            ValueError: An argument is invalid.
        """
        request = retrieve_request(id)
        wait = Wait(self._runtime, until, timeout_seconds)
        while True:
            failure: PaymentLinksError | NoAnswerError | None = None
            try:
                link = await self._send(request, wait.limit_attempt(self._settings))
            except (PaymentLinksError, NoAnswerError) as error:
                if not is_temporary_error(error):
                    raise
                failure = error
            else:
                if wait.is_over(link):
                    return cast(RetrievedPaymentLink, link)
            await self._runtime.sleep(wait.get_delay_seconds(failure))

    async def _send(self, request: ApiRequest, settings: ClientSettings | None = None) -> Any:
        """Send a call until it gets a final response or reaches `tries_max`.

        Every call can be repeated safely, because reads do not change anything and writes have an
        idempotency key.
        """
        settings = settings or self._settings
        attempt_number = 0
        while True:
            attempt_number += 1
            result = await self._attempt(settings, request)
            if isinstance(result, Success):
                self._field_warnings.report(result.ignored_fields)
                return result.body
            await self._runtime.sleep(
                get_wait_seconds(settings, result, attempt_number, self._runtime)
            )

    async def _attempt(self, settings: ClientSettings, request: ApiRequest) -> Success | Failure:
        try:
            # The timeouts of httpx limit single waits for the network, but not their sum.
            with anyio.fail_after(settings.timeout_seconds):
                response = await self._http.request(
                    request.method,
                    f"{settings.origin}{request.path}",
                    headers=build_headers(settings, request),
                    content=request.body,
                    timeout=settings.timeout_seconds,
                    # A redirect would send the API key to another address.
                    follow_redirects=False,
                )
        except TimeoutError:
            return no_answer(settings, request, no_response_within(settings))
        except httpx.HTTPError as cause:
            return no_answer(settings, request, cause)
        return read_response(settings, request, response, response.content, self._runtime.now())
