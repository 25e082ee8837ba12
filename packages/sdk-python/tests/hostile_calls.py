"""Makes calls to a server that fails in every way, and checks their results against its ledger.

`python -m tests.hostile_calls URL sync|async SEED CALLS` prints the number of each outcome as JSON.
The server is `test/hostile-server`. The waits between attempts take no time.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from decimal import Decimal

import httpx

from payment_links import AsyncPaymentLinks, NoAnswerError, PaymentLinks, PaymentLinksError
from payment_links._runtime import Runtime
from payment_links.shapes import PaymentLinkCreationData

# A stalled response takes as long as this. A slow response that is taken for a stalled one is one
# more fault.
_TIMEOUT_SECONDS = 1
_TASK_COUNT = 4


class Expectations:
    """What the calls have asked for, and what they got."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.random = random.Random(seed)
        self.amounts: dict[str, str] = {}
        self.link_ids: dict[str, str] = {}
        self.outcomes: Counter[str] = Counter()

    def draw_create(self) -> tuple[str, Decimal]:
        key = f"{self.kind}-{len(self.amounts)}"
        amount = Decimal(self.random.randrange(1, 10**9)) / 10**6
        self.amounts[key] = format(amount, "f")
        return key, amount

    def draw_known_key(self) -> str | None:
        """Return the key of a link, or None if the next call is a create."""
        if not self.link_ids or self.random.random() < 0.6:
            return None
        return self.random.choice(list(self.link_ids)[-100:])

    def add_link(self, key: str, link: PaymentLinkCreationData) -> None:
        assert link["url"].endswith(link["id"])
        self.link_ids[key] = link["id"]
        self.outcomes["created"] += 1

    def add_error(self, key: str | None, error: PaymentLinksError | NoAnswerError) -> None:
        assert error.idempotency_key == key
        name = type(error).__name__ if isinstance(error, NoAnswerError) else str(error.status)
        self.outcomes[name] += 1

    def check_read(self, key: str, id: str, amount: str) -> None:
        assert (id, Decimal(amount)) == (self.link_ids[key], Decimal(self.amounts[key]))
        self.outcomes["read"] += 1

    def check_ledger(self, url: str) -> None:
        links_by_key = httpx.get(f"{url}/__ledger", timeout=60).json()["linksByKey"]
        for key in self.amounts:
            links = links_by_key.get(key, [])
            assert len(links) <= 1, f"{key} has {len(links)} links"
            for link in links:
                assert Decimal(link["toAmount"]) == Decimal(self.amounts[key])
                assert self.link_ids.get(key, link["id"]) == link["id"]
            assert links or key not in self.link_ids
        own_keys = {key for key in links_by_key if key.startswith(f"{self.kind}-")}
        assert own_keys <= set(self.amounts), "a link has an unknown key"


def make_sync_calls(url: str, expectations: Expectations, call_count: int) -> None:
    with PaymentLinks(url, "plk_1", timeout_seconds=_TIMEOUT_SECONDS) as client:
        client._runtime = Runtime(sleep=lambda _: None)
        for _ in range(call_count):
            known_key = expectations.draw_known_key()
            new_key = None
            try:
                if known_key is None:
                    new_key, amount = expectations.draw_create()
                    link = client.create_payment_link({"toAmount": amount}, idempotency_key=new_key)
                    expectations.add_link(new_key, link)
                else:
                    id = expectations.link_ids[known_key]
                    retrieved = client.retrieve_payment_link(id)
                    expectations.check_read(known_key, retrieved["id"], retrieved["toAmount"])
            except (PaymentLinksError, NoAnswerError) as error:
                expectations.add_error(new_key, error)


async def make_async_calls(url: str, expectations: Expectations, call_count: int) -> None:
    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    async def make_calls(client: AsyncPaymentLinks, count: int) -> None:
        for _ in range(count):
            known_key = expectations.draw_known_key()
            new_key = None
            try:
                if known_key is None:
                    new_key, amount = expectations.draw_create()
                    link = await client.create_payment_link(
                        {"toAmount": amount}, idempotency_key=new_key
                    )
                    expectations.add_link(new_key, link)
                else:
                    id = expectations.link_ids[known_key]
                    retrieved = await client.retrieve_payment_link(id)
                    expectations.check_read(known_key, retrieved["id"], retrieved["toAmount"])
            except (PaymentLinksError, NoAnswerError) as error:
                expectations.add_error(new_key, error)

    async with AsyncPaymentLinks(url, "plk_1", timeout_seconds=_TIMEOUT_SECONDS) as client:
        client._runtime = Runtime(sleep=sleep)
        counts = [call_count // _TASK_COUNT] * _TASK_COUNT
        await asyncio.gather(*(make_calls(client, count) for count in counts))


def main(url: str, kind: str, seed: str, call_count: str) -> None:
    expectations = Expectations(kind, int(seed))
    if kind == "sync":
        make_sync_calls(url, expectations, int(call_count))
    else:
        asyncio.run(make_async_calls(url, expectations, int(call_count)))
    expectations.check_ledger(url)
    print(json.dumps(expectations.outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
