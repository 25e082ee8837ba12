import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

Pause = TypeVar("Pause", None, Awaitable[None])


@dataclass(frozen=True)
class Runtime(Generic[Pause]):
    """What a client needs from its environment besides the network."""

    sleep: Callable[[float], Pause]
    """Waits for a number of seconds."""

    random: Callable[[], float] = random.random
    """Returns a number from 0 (inclusive) to 1 (exclusive)."""

    now: Callable[[], float] = time.time
    """Returns the current time in Unix seconds."""

    monotonic: Callable[[], float] = time.monotonic
    """Returns the seconds of a clock that never goes back."""

    new_idempotency_key: Callable[[], str] = lambda: str(uuid.uuid4())


system_runtime: Runtime[None] = Runtime(sleep=time.sleep)
async_system_runtime: Runtime[Awaitable[None]] = Runtime(sleep=anyio.sleep)
