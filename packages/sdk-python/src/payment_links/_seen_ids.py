from collections.abc import Iterable, Iterator

from .shapes import PaymentLinkData

# More links than can be created between two page requests.
_SEEN_IDS_MAX = 10_000


class SeenIds:
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
