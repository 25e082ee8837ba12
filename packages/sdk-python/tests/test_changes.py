from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .clients import CreateClient
from .server import Handler, RecordedRequest, Server, respond


def serve_changes(server: Server, count: int, is_old: bool = False) -> list[str]:
    """Serve the links of a service, the latest change first."""
    ids = [f"plink_{index}" for index in range(count)]

    def respond_with_page(handler: Handler, request: RecordedRequest) -> None:
        query = parse_qs(urlsplit(request.line).query)
        offset = int(query["offset"][0])
        page: dict[str, Any] = {
            "data": [{"id": id} for id in ids[offset : offset + 10]],
            "nextOffset": offset + 10 if offset + 10 < count else None,
        }
        if "updatedAfter" in query and offset == 0 and not is_old:
            page["nextUpdatedAfter"] = f"2026-11-21T10:00:0{len(server.requests)}.000Z"
        respond(200, page)(handler, request)

    server.respond_with(respond_with_page)
    return ids


def test_lists_the_changes_since_an_instant_and_then_has_the_since_of_the_next_run(
    server: Server, create_client: CreateClient
) -> None:
    ids = serve_changes(server, 25)
    changes = create_client().reconcile_payment_links(since="2026-11-20T10:00:00Z")
    received_ids = []
    for link in changes:
        received_ids.append(link["id"])
        assert changes.next_since is None
    assert received_ids == ids
    assert changes.next_since == "2026-11-21T10:00:01.000Z"
    path = "GET /v1/payment-link?updatedAfter=2026-11-20T10%3A00%3A00Z&offset="
    assert [request.line for request in server.requests] == [f"{path}{n}" for n in (0, 10, 20)]


def test_has_no_next_since_if_the_loop_ends_early(
    server: Server, create_client: CreateClient
) -> None:
    serve_changes(server, 25)
    since = datetime(2026, 11, 20, 10, tzinfo=timezone.utc)
    changes = create_client().reconcile_payment_links(since=since)
    for link in changes:
        if link["id"] == "plink_3":
            break
    assert (len(server.requests), changes.next_since) == (1, None)
    assert "updatedAfter=2026-11-20T10%3A00%3A00%2B00%3A00&" in server.requests[0].line


def test_lists_all_links_on_the_first_run(server: Server, create_client: CreateClient) -> None:
    serve_changes(server, 0)
    changes = create_client().reconcile_payment_links(since=None)
    assert list(changes) == []
    assert changes.next_since is not None
    assert "updatedAfter=1970-01-01T00%3A00%3A00.000Z&" in server.requests[0].line


def test_fails_if_the_service_ignores_updated_after_instead_of_listing_all_links(
    server: Server, create_client: CreateClient
) -> None:
    serve_changes(server, 5, is_old=True)
    with pytest.raises(RuntimeError, match="does not support `updatedAfter`"):
        list(create_client().reconcile_payment_links())


@pytest.mark.parametrize("since", [datetime(2026, 11, 20), 7, 1.5])
def test_rejects_a_since_that_is_no_instant(
    server: Server, create_client: CreateClient, since: Any
) -> None:
    with pytest.raises(ValueError, match="since must be text or a datetime with a time zone"):
        create_client().reconcile_payment_links(since=since)
    assert server.requests == []


def test_yields_the_changes_since_an_instant_with_each_payment_link(
    server: Server, create_client: CreateClient
) -> None:
    ids = serve_changes(server, 2)
    links = create_client().each_payment_link(status="completed", updated_after="2026-11-20")
    assert [link["id"] for link in links] == ids
    [request] = server.requests
    assert request.line.endswith("?status=completed&updatedAfter=2026-11-20&offset=0")
