import contextlib
import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class RecordedRequest:
    line: str
    headers: Mapping[str, str]
    body: str


Responder = Callable[["Handler", RecordedRequest], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = RecordedRequest(f"{self.command} {self.path}", headers, body)
        self.server.requests.append(request)
        responders = self.server.responders
        (responders.pop(0) if len(responders) > 1 else responders[0])(self, request)

    do_GET = do_POST = handle_request

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Uses one responder per request, in order, and repeats the last one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[RecordedRequest] = []
        self.responders: list[Responder] = []
        self.closed = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def respond_with(self, *responders: Responder) -> None:
        self.responders = list(responders)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that stops waiting closes its connection.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        self.closed.set()
        self.shutdown()
        self.server_close()


def respond(status: int, body: object, headers: Mapping[str, str] | None = None) -> Responder:
    content = (body if isinstance(body, str) else json.dumps(body)).encode()

    def send(handler: Handler, _: RecordedRequest) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return send


def respond_with_error(
    status: int, code: str, headers: Mapping[str, str] | None = None
) -> Responder:
    return respond(status, {"errors": [{"code": code, "message": "For people."}]}, headers)


def drop_connection(handler: Handler, _: RecordedRequest) -> None:
    """Close the connection without a response."""
    handler.close_connection = True


def never_respond(handler: Handler, _: RecordedRequest) -> None:
    handler.close_connection = True
    handler.server.closed.wait()


def drip(body: object) -> Responder:
    """Send a body one byte at a time, which takes three seconds."""
    content = json.dumps(body).encode().rjust(300)

    def send(handler: Handler, _: RecordedRequest) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.close_connection = True
        with contextlib.suppress(OSError):
            for byte in content:
                handler.server.closed.wait(0.01)
                handler.wfile.write(bytes([byte]))

    return send
