from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from anyio.from_thread import BlockingPortal

from payment_links import AsyncPaymentLinkChanges, AsyncPaymentLinks, PaymentLinkChanges
from payment_links.shapes import (
    NewPaymentLink,
    PaymentLinkCreationData,
    PaymentLinkData,
    PaymentLinkPage,
    PaymentLinkStatus,
    RetrievedPaymentLink,
)


class Client(Protocol):
    """What both clients can do."""

    def create_payment_link(
        self, link: NewPaymentLink, *, idempotency_key: str | None = None
    ) -> PaymentLinkCreationData: ...

    def list_payment_links(
        self,
        *,
        status: PaymentLinkStatus | None = None,
        updated_after: str | datetime | None = None,
        offset: int | None = None,
    ) -> PaymentLinkPage: ...

    def retrieve_payment_link(self, id: str) -> RetrievedPaymentLink: ...

    def each_payment_link(
        self,
        *,
        status: PaymentLinkStatus | None = None,
        updated_after: str | datetime | None = None,
    ) -> Iterator[PaymentLinkData]: ...

    def reconcile_payment_links(
        self, *, since: str | datetime | None = None
    ) -> PaymentLinkChanges: ...

    def wait_for_payment_link(
        self,
        id: str,
        *,
        until: Callable[[RetrievedPaymentLink], bool] | None = None,
        timeout_seconds: float = 600,
    ) -> RetrievedPaymentLink: ...


CreateClient = Callable[..., Client]


class BlockingClient:
    """Calls the methods of an asynchronous client from a test that is not asynchronous."""

    def __init__(self, client: AsyncPaymentLinks, portal: BlockingPortal) -> None:
        self._client = client
        self._portal = portal

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        if name == "each_payment_link":
            return lambda **kwargs: self._iterate(method(**kwargs))
        if name == "reconcile_payment_links":
            return lambda **kwargs: BlockingChanges(method(**kwargs), self._iterate)
        return lambda *args, **kwargs: self._portal.call(partial(method, *args, **kwargs))

    def _iterate(self, iterator: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._portal.call(iterator.__anext__)
                except StopAsyncIteration:
                    return
        finally:
            self._portal.call(iterator.aclose)


class BlockingChanges:
    """Iterates over asynchronous changes in a test that is not asynchronous."""

    def __init__(
        self, changes: AsyncPaymentLinkChanges, iterate: Callable[[Any], Iterator[Any]]
    ) -> None:
        self._changes = changes
        self._iterate = iterate

    @property
    def next_since(self) -> str | None:
        return self._changes.next_since

    def __iter__(self) -> Iterator[Any]:
        return self._iterate(self._changes.__aiter__())
