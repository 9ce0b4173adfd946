"""A receiver of Bridge's webhooks: python3 receiver.py (Python 3.9). Settings: WEBHOOK_SECRETS, PORT, INBOX."""

import base64
import hashlib
import hmac
import os
import re
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# One secret, or several with spaces between them while it is rotated; each as it was shown, whsec_ included.
SECRETS = os.environ["WEBHOOK_SECRETS"].split()
INBOX = os.environ.get("INBOX", "inbox")
TOLERANCE_SECONDS = 300


def is_signed(headers, body):
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[\w-]+", event_id) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = headers.get("webhook-signature", "").split(" ")
    for secret in SECRETS:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        digest = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
        wanted = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(signature.encode(), wanted) for signature in given):
            return True
    return False


def keep(event_id, body):
    """Keeps the event under its id; False when it is there already, whole: a link is made at once or not at all."""
    draft = os.path.join(INBOX, f".{uuid.uuid4()}")
    try:
        with open(draft, "xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, os.path.join(INBOX, f"{event_id}.json"))
        return True
    except FileExistsError:
        return False
    finally:
        os.remove(draft)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body):
            return self.answer(401, "bad signature\n")
        # What has to be done for the event is done afterwards, from the inbox: the answer is due within 5 seconds.
        # An exception ends the connection without an answer, and Bridge tries again.
        is_new = keep(self.headers["webhook-id"], body)
        self.answer(200, "kept\n" if is_new else "known\n")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


os.makedirs(INBOX, exist_ok=True)
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
