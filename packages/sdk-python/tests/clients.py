from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

from anyio.from_thread import BlockingPortal

from payment_links import AsyncPaymentLinks
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
        self, *, status: PaymentLinkStatus | None = None, offset: int | None = None
    ) -> PaymentLinkPage: ...

    def retrieve_payment_link(self, id: str) -> RetrievedPaymentLink: ...

    def each_payment_link(
        self, *, status: PaymentLinkStatus | None = None
    ) -> Iterator[PaymentLinkData]: ...


CreateClient = Callable[..., Client]


class BlockingClient:
    """Calls the methods of an asynchronous client from a test that is not asynchronous."""

    def __init__(self, client: AsyncPaymentLinks, portal: BlockingPortal) -> None:
        self._client = client
        self._portal = portal

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        if name.startswith("each_"):
            return partial(self._iterate, method)
        return lambda *args, **kwargs: self._portal.call(partial(method, *args, **kwargs))

    def _iterate(self, method: Callable[..., Any], **kwargs: Any) -> Iterator[Any]:
        iterator = method(**kwargs)
        try:
            while True:
                try:
                    yield self._portal.call(iterator.__anext__)
                except StopAsyncIteration:
                    return
        finally:
            self._portal.call(iterator.aclose)
