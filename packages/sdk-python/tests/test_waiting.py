from typing import Any

import pytest

from payment_links import PaymentLinksError, WaitTimeoutError

from .clients import CreateClient
from .conftest import VirtualTime
from .server import Responder, Server, drop_connection, respond, respond_with_error


def respond_with_link(status: str, received_amount: str = "0") -> Responder:
    return respond(200, {"id": "plink_1", "status": status, "receivedAmount": received_amount})


@pytest.mark.parametrize("status", ["completed", "inactive"])
def test_returns_the_link_when_it_is_no_longer_active(
    server: Server, time: VirtualTime, create_client: CreateClient, status: str
) -> None:
    active = respond_with_link("active")
    server.respond_with(active, active, respond_with_link(status))
    assert create_client().wait_for_payment_link("plink_1")["status"] == status
    assert time.waits == [1, 1.5]


def test_returns_the_link_when_until_accepts_it(
    server: Server, create_client: CreateClient
) -> None:
    server.respond_with(
        respond_with_link("active"),
        respond_with_link("active", "5"),
        respond_with_link("completed"),
    )
    link = create_client().wait_for_payment_link(
        "plink_1", until=lambda link: link["receivedAmount"] != "0"
    )
    assert (link["status"], link["receivedAmount"]) == ("active", "5")


def test_polls_less_and_less_often_until_the_time_is_over(
    server: Server, time: VirtualTime, create_client: CreateClient
) -> None:
    server.respond_with(respond_with_link("active"))
    with pytest.raises(WaitTimeoutError, match="within 100 s") as caught:
        create_client().wait_for_payment_link("plink_1", timeout_seconds=100)
    assert caught.value.link is not None
    assert caught.value.link["status"] == "active"
    assert time.waits[:3] == [1, 1.5, 2.25]
    assert max(time.waits) == 15
    assert sum(time.waits) == 100


def test_continues_after_temporary_errors_and_never_polls_before_retry_after(
    server: Server, time: VirtualTime, create_client: CreateClient
) -> None:
    server.respond_with(
        drop_connection,
        respond_with_error(503, "SERVICE_UNAVAILABLE"),
        respond_with_error(429, "429", {"Retry-After": "90"}),
        respond_with_link("completed"),
    )
    assert create_client().wait_for_payment_link("plink_1")["status"] == "completed"
    assert time.waits == [1, 1.5, 90]


def test_ends_immediately_if_retry_after_is_later_than_the_end_of_the_wait(
    server: Server, time: VirtualTime, create_client: CreateClient
) -> None:
    server.respond_with(
        respond_with_link("active"), respond_with_error(429, "429", {"Retry-After": "90"})
    )
    with pytest.raises(WaitTimeoutError) as caught:
        create_client().wait_for_payment_link("plink_1", timeout_seconds=60)
    assert caught.value.link is not None
    assert isinstance(caught.value.__cause__, PaymentLinksError)
    assert caught.value.__cause__.retry_after_seconds == 90
    assert time.waits == [1]


def test_raises_any_other_error(server: Server, create_client: CreateClient) -> None:
    server.respond_with(respond_with_error(404, "CANNOT_FIND_PAYMENT_LINK"))
    with pytest.raises(PaymentLinksError) as caught:
        create_client().wait_for_payment_link("plink_1")
    assert caught.value.code == "CANNOT_FIND_PAYMENT_LINK"
    assert len(server.requests) == 1


def test_raises_an_error_of_until(server: Server, create_client: CreateClient) -> None:
    def until(_: object) -> bool:
        raise PaymentLinksError(503, [])

    server.respond_with(respond_with_link("active"))
    with pytest.raises(PaymentLinksError):
        create_client().wait_for_payment_link("plink_1", until=until)
    assert len(server.requests) == 1


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 86_401, "5", True])
def test_rejects_an_invalid_timeout(
    server: Server, create_client: CreateClient, timeout: Any
) -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        create_client().wait_for_payment_link("plink_1", timeout_seconds=timeout)
    assert server.requests == []
