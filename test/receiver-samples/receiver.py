# Serves the Python sample as a shop would. Prints one line for each processed webhook.
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from read_webhook import read_webhook

seen, lock = set(), Lock()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        webhook = read_webhook(raw, self.headers, os.environ["SECRET"])
        # The same request with lowercase header names as bytes, because some servers pass them like
        # this.
        values = {}
        for name, value in self.headers.items():
            values.setdefault(name.lower().encode(), []).append(value.encode("latin-1"))
        joined = {name: b", ".join(parts) for name, parts in values.items()}
        if webhook != read_webhook(raw, joined, os.environ["SECRET"]):
            raise AssertionError("bytes in headers change the result")
        with lock:
            if webhook is not None and webhook["id"] not in seen:
                seen.add(webhook["id"])
                print(webhook["type"], flush=True)
        self.send_response(401 if webhook is None else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
