from collections.abc import Sequence
from dataclasses import dataclass

from .shapes import RetrievedPaymentLink


@dataclass(frozen=True)
class Problem:
    """One problem reported by the service.

    The message is for people. In code, check the `code`.
    """

    code: str
    message: str


class PaymentLinksError(Exception):
    """An error response.

    The rejected call did not change anything, with one exception: if the status is 500 or above, or
    if an earlier attempt got no response, a create may have succeeded. Repeat it with
    `idempotency_key`. This never creates a second link.
    """

    status: int
    """The HTTP status."""

    code: str
    """The code of the first problem, such as `INVALID_API_KEY`. More codes may be added.

    If the response comes from a proxy instead of the service, the code is `HTTP_502` or similar.
    """

    problems: tuple[Problem, ...]
    """All problems. A failed validation can report several."""

    request_id: str | None
    """Identifies the request in the service's logs."""

    idempotency_key: str | None
    """The idempotency key of the failed create."""

    retry_after_seconds: float
    """The delay that the response asks for with `Retry-After`. 0 if there is none."""

    def __init__(
        self,
        status: int,
        problems: Sequence[Problem],
        request_id: str | None = None,
        idempotency_key: str | None = None,
        origin: str = "the service",
        retry_after_seconds: float = 0,
    ) -> None:
        # With all arguments in `args`, the error can be pickled, for example by a task queue.
        super().__init__(status, problems, request_id, idempotency_key, origin, retry_after_seconds)
        self.status = status
        self.problems = tuple(problems)
        self.code = self.problems[0].code if self.problems else f"HTTP_{status}"
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.retry_after_seconds = retry_after_seconds
        self._origin = origin

    def __str__(self) -> str:
        message = (
            self.problems[0].message
            if self.problems
            else f"The response from {self._origin} is not from Payment Links."
            " Check the `url` of PaymentLinks."
        )
        request = "" if self.request_id is None else f" (request {self.request_id})"
        return f"{self.code}: {message}{request}"


class NoAnswerError(Exception):
    """No response arrived. `__cause__` contains the reason.

    A create may have succeeded. Repeat it within 24 hours with `idempotency_key` and exactly the
    same fields. This never creates a second link.
    """

    idempotency_key: str | None
    """The idempotency key of the create that got no response."""

    def __init__(self, idempotency_key: str | None, origin: str = "the service") -> None:
        super().__init__(idempotency_key, origin)
        self.idempotency_key = idempotency_key
        self._origin = origin

    def __str__(self) -> str:
        return (
            f"No response from Payment Links at {self._origin}."
            " If this is not its address, change the `url` of PaymentLinks."
        )


class WaitTimeoutError(Exception):
    """The wait for a link ended because its time is over. The link may still get a payment.

    `__cause__` is the error of the last attempt, if it failed.
    """

    link: RetrievedPaymentLink | None
    """The link as it was last retrieved. None if no attempt succeeded."""

    def __init__(self, timeout_seconds: float, link: RetrievedPaymentLink | None) -> None:
        super().__init__(timeout_seconds, link)
        self.timeout_seconds = timeout_seconds
        self.link = link

    def __str__(self) -> str:
        return f"The link did not reach the awaited state within {self.timeout_seconds} s"
