from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator

from .shapes import PaymentLinkData, PaymentLinkPage

# More links than can be created between two page requests.
_SEEN_IDS_MAX = 10_000


class _SeenIds:
    """The ids of the latest links of a list. New links shift the pages, so links repeat."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def select_new(self, links: Iterable[PaymentLinkData]) -> Iterator[PaymentLinkData]:
        for link in links:
            if link["id"] in self._ids:
                continue
            self._ids[link["id"]] = None
            yield link
        while len(self._ids) > _SEEN_IDS_MAX:
            del self._ids[next(iter(self._ids))]


def each_link(
    list_page: Callable[[int], PaymentLinkPage], page: PaymentLinkPage
) -> Iterator[PaymentLinkData]:
    """Yield the links of this page and of the following ones, without duplicates."""
    seen_ids = _SeenIds()
    yield from seen_ids.select_new(page["data"])
    while page["nextOffset"] is not None:
        page = list_page(page["nextOffset"])
        yield from seen_ids.select_new(page["data"])


async def each_link_async(
    list_page: Callable[[int], Awaitable[PaymentLinkPage]], page: PaymentLinkPage
) -> AsyncGenerator[PaymentLinkData, None]:
    """Like `each_link`. Use it with `aclosing`, because a loop around it can end early."""
    seen_ids = _SeenIds()
    for link in seen_ids.select_new(page["data"]):
        yield link
    while page["nextOffset"] is not None:
        page = await list_page(page["nextOffset"])
        for link in seen_ids.select_new(page["data"]):
            yield link
