"""A subscriber's endpoint that loses nothing, takes nothing twice and sees what is missing.

    python3 receiver.py         listens
    python3 receiver.py holes   prints what is missing, one JSON object a line, and ends with 1 if there is any
"""

import json
import os
import sqlite3
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

# Waybill's events have 64 KiB at most; anything much larger is somebody else's.
MAX_BODY_BYTES = 256 * 1024

SCHEMA = """
CREATE TABLE IF NOT EXISTS inbox (
  key TEXT PRIMARY KEY,
  sequence INTEGER,
  shipment_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  previous INTEGER,
  body TEXT NOT NULL,
  received_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS inbox_version ON inbox (shipment_id, version);
CREATE INDEX IF NOT EXISTS inbox_sequence ON inbox (sequence);
CREATE TABLE IF NOT EXISTS shipments (id TEXT PRIMARY KEY, version INTEGER NOT NULL, status TEXT NOT NULL);
"""
KEEP = """
INSERT INTO inbox (key, sequence, shipment_id, version, previous, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
"""
# Versions may come in any order: an older one does not undo a newer one.
FOLLOW = """
INSERT INTO shipments (id, version, status) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status
WHERE excluded.version > version
"""
# Numbers that are missing below the highest.
MISSING_NUMBERS = """
SELECT before + 1, sequence - 1
FROM (SELECT sequence, LAG(sequence, 1, 0) OVER (ORDER BY sequence) AS before
      FROM inbox WHERE sequence IS NOT NULL)
WHERE sequence > before + 1
"""
# Versions that a later one names as the one before it.
MISSING_VERSIONS = """
SELECT shipment_id, previous FROM inbox AS later
WHERE previous IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM inbox WHERE shipment_id = later.shipment_id AND version = later.previous)
"""


def open_inbox():
    database = sqlite3.connect(os.environ.get("INBOX", "inbox.db"), timeout=2, isolation_level=None)
    # FULL: a commit has returned only when it survives a loss of power.
    database.execute("PRAGMA synchronous = FULL")
    return database


def keep(key, headers, body):
    """Keeps a message and what follows from it, both or neither. False if it was there already."""
    data = json.loads(body)["data"]
    shipment, version = data["shipmentId"], data["eventVersion"]
    sequence = number_in(headers.get("Waybill-Sequence"))
    previous = number_in(headers.get("Waybill-Previous-Version"))
    with closing(open_inbox()) as database:
        database.execute("BEGIN IMMEDIATE")
        is_new = database.execute(KEEP, (key, sequence, shipment, version, previous, body)).rowcount == 1
        if is_new:
            database.execute(FOLLOW, (shipment, version, data["status"]))
        database.execute("COMMIT")
    return is_new


def number_in(header):
    """None for a header that is not there or empty."""
    return int(header) if header else None


def holes():
    with closing(open_inbox()) as database:
        for first, last in database.execute(MISSING_NUMBERS):
            yield {"sequence": {"first": first, "last": last}}
        for shipment, version in database.execute(MISSING_VERSIONS):
            yield {"shipmentId": shipment, "eventVersion": version}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Waybill closes idle connections itself; closed from here, it could be just when a request is written.
    timeout = 120

    def do_POST(self):
        try:
            status = self.receive()
        except Exception as error:  # Not stored, so it has to come again.
            self.log_error("%r", error)
            status = 503
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        size = int(self.headers.get("Content-Length", 0))
        if size > MAX_BODY_BYTES:
            self.close_connection = True
            return 413
        # Over the bytes as they came: parsed and written again they would be others.
        body = self.rfile.read(size)
        try:
            webhook.verify(body, dict(self.headers.items()), json_parse=False)
        except (WebhookVerificationError, ValueError):  # ValueError: a signature that is none
            # 401 and never 400: a wrong secret here is mended, and then the retries get through. A 400
            # would end the delivery.
            return 401
        if self.headers.get("Waybill-Test") == "true":
            return 204
        # Signed, unlike Idempotency-Key, which says the same.
        keep(self.headers["webhook-id"], self.headers, body.decode())
        # Only now: it is on disk. What takes longer is done from the inbox, not while Waybill waits.
        return 204


with closing(open_inbox()) as database:
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(SCHEMA)

if sys.argv[1:] == ["holes"]:
    missing = list(holes())
    for hole in missing:
        print(json.dumps(hole))
    sys.exit(1 if missing else 0)

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
