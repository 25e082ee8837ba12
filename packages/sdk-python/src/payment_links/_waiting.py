from collections.abc import Callable
from dataclasses import replace

from ._errors import NoAnswerError, PaymentLinksError, WaitTimeoutError
from ._requests import ClientSettings, require_seconds
from ._responses import get_retry_after_seconds
from ._runtime import Pause, Runtime
from .shapes import RetrievedPaymentLink

_TIMEOUT_SECONDS_MAX = 86_400
_INITIAL_DELAY_SECONDS = 1.0
_DELAY_SECONDS_MAX = 15.0
_DELAY_FACTOR = 1.5
_JITTER_FRACTION = 0.25


class Wait:
    """The polls of one link: whether the wait is over, and the delays between the polls."""

    def __init__(
        self,
        runtime: Runtime[Pause],
        until: Callable[[RetrievedPaymentLink], bool] | None,
        timeout_seconds: float,
    ) -> None:
        require_seconds("timeout_seconds", timeout_seconds, _TIMEOUT_SECONDS_MAX)
        self._random = runtime.random
        self._monotonic = runtime.monotonic
        self._until = until
        self._timeout_seconds = timeout_seconds
        self._deadline = runtime.monotonic() + timeout_seconds
        self._last_link: RetrievedPaymentLink | None = None
        self._next_delay = _INITIAL_DELAY_SECONDS

    def limit_attempt(self, settings: ClientSettings) -> ClientSettings:
        """Return the settings of a poll: one attempt within the remaining time."""
        remaining_seconds = max(self._deadline - self._monotonic(), 0.001)
        timeout_seconds = min(settings.timeout_seconds, remaining_seconds)
        return replace(settings, timeout_seconds=timeout_seconds, tries_max=1)

    def is_over(self, link: RetrievedPaymentLink) -> bool:
        self._last_link = link
        return link["status"] != "active" or (self._until is not None and self._until(link))

    def get_delay_seconds(self, error: PaymentLinksError | NoAnswerError | None) -> float:
        """Return the delay before the next poll. `error` is that of the last poll.

        Raises a `WaitTimeoutError` if the time is over before the next poll.
        """
        left_seconds = self._deadline - self._monotonic()
        retry_after_seconds = get_retry_after_seconds(error)
        if left_seconds <= 0 or retry_after_seconds > left_seconds:
            raise WaitTimeoutError(self._timeout_seconds, self._last_link) from error
        delay_seconds = self._next_delay * (1 + self._random() * _JITTER_FRACTION)
        self._next_delay = min(self._next_delay * _DELAY_FACTOR, _DELAY_SECONDS_MAX)
        # The last poll is at the end of the time.
        return max(retry_after_seconds, min(delay_seconds, left_seconds))
