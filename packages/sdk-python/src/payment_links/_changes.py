from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing

from ._seen_ids import each_link, each_link_async
from .shapes import PaymentLinkData, PaymentLinkPage

# Before the first link of any installation.
BEFORE_ALL_LINKS = "1970-01-01T00:00:00.000Z"


class PaymentLinkChanges:
    """The links that changed since an instant, the latest change first."""

    next_since: str | None = None
    """The `since` of the next run. None until a loop has read all links.

    Store it after you have handled the last one.
    """

    def __init__(self, list_page: Callable[[int], PaymentLinkPage]) -> None:
        self._list_page = list_page

    def __iter__(self) -> Iterator[PaymentLinkData]:
        page = self._list_page(0)
        # Only the first page has it. A later instant would miss the changes during this run.
        next_since = _get_next_since(page)
        yield from each_link(self._list_page, page)
        self.next_since = next_since


class AsyncPaymentLinkChanges:
    """The links that changed since an instant, the latest change first."""

    next_since: str | None = None
    """The `since` of the next run. None until a loop has read all links.

    Store it after you have handled the last one.
    """

    def __init__(self, list_page: Callable[[int], Awaitable[PaymentLinkPage]]) -> None:
        self._list_page = list_page

    async def __aiter__(self) -> AsyncIterator[PaymentLinkData]:
        page = await self._list_page(0)
        # Only the first page has it. A later instant would miss the changes during this run.
        next_since = _get_next_since(page)
        async with aclosing(each_link_async(self._list_page, page)) as links:
            async for link in links:
                yield link
        self.next_since = next_since


def _get_next_since(page: PaymentLinkPage) -> str:
    next_since = page.get("nextUpdatedAfter")
    if next_since is None:
        raise RuntimeError("This service does not support `updatedAfter` yet. Update it.")
    return next_since
