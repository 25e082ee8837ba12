import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from payment_links import AsyncPaymentLinks, PaymentLinks
from payment_links._runtime import Runtime

from .clients import BlockingClient, Client, CreateClient
from .server import Server


@dataclass
class VirtualTime:
    """Records how long the clients wait, and does not wait."""

    now: float = 1_795_255_200
    random: float = 0
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture(params=["sync", "asyncio", "trio"])
def create_client(
    request: pytest.FixtureRequest, server: Server, time: VirtualTime
) -> Iterator[CreateClient]:
    """Creates clients with one interface, with virtual time and numbered idempotency keys.

    They get an HTTP client that loads no certificates, because loading takes long.
    """
    default_options: dict[str, Any] = {"url": server.url, "api_key": "plk_1"}
    numbers = itertools.count(1)
    seams: Any = {
        "random": lambda: time.random,
        "now": lambda: time.now,
        "monotonic": lambda: time.now,
        "new_idempotency_key": lambda: f"drawn-{next(numbers)}",
    }

    def create_sync(**options: Any) -> Client:
        http_client = stack.enter_context(httpx.Client(verify=False))
        client = PaymentLinks(**{**default_options, "http_client": http_client, **options})
        client._runtime = Runtime(sleep=time.sleep, **seams)
        return client

    def create_async(**options: Any) -> Client:
        http_client = httpx.AsyncClient(verify=False)
        stack.callback(portal.call, http_client.aclose)
        client = AsyncPaymentLinks(**{**default_options, "http_client": http_client, **options})
        client._runtime = Runtime(sleep=time.sleep_async, **seams)
        return cast(Client, BlockingClient(client, portal))

    with ExitStack() as stack:
        if request.param == "sync":
            yield create_sync
        else:
            portal = stack.enter_context(start_blocking_portal(request.param))
            yield create_async
