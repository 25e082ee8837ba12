# Start: SECRET=whsec_… python3 receiver.py
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import hashlib, hmac, json, re, time

# Returns the webhook, or None if the request is not genuine. In that case, respond with 401.
# The same webhook can arrive twice. Deduplicate by its "id" in the body: headers are not signed.
# raw: the bytes of the body before any parsing. headers: a mapping with names in any case.
def read_webhook(raw, headers, secret):
    if not secret.startswith("whsec_"):
        raise ValueError("the endpoint's signing secret is missing")
    timestamp = header(headers, "service-timestamp")
    signature = header(headers, "service-signature")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return None
    if not re.fullmatch("v1=[0-9a-f]{64}", signature):
        return None
    signed = timestamp.encode() + b"." + raw
    mac = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    is_genuine = hmac.compare_digest(signature, "v1=" + mac)
    is_fresh = abs(time.time() - int(timestamp)) <= 300
    return json.loads(raw) if is_genuine and is_fresh else None

# Some servers pass names in lower case or as bytes.
def header(headers, name):
    values = [text(value) for key, value in headers.items() if text(key).lower() == name]
    return values[0] if len(values) == 1 else ""

def text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)

# In production: a table with a unique key, written in one transaction with your work.
seen_ids, lock = set(), Lock()

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        webhook = read_webhook(raw, self.headers, os.environ["SECRET"])
        with lock:
            if webhook is not None and webhook["id"] not in seen_ids:
                seen_ids.add(webhook["id"])
                print(webhook["type"], flush=True)
        self.send_response(401 if webhook is None else 204)
        self.end_headers()

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 9000))), Receiver).serve_forever()
