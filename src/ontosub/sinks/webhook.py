"""Rows by HTTP: each micro-batch is cut into parts, and each part is posted until it is acknowledged.

A part that was received but whose acknowledgement was lost is posted again with the same `Idempotency-Key`. So that it
is the same part, rows are sorted before they are cut.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks import file_faults
from ontosub.sinks.journal import Journal
from ontosub.sinks.posting import Endpoint
from ontosub.sinks.rows import EVENT_COLUMNS, json_objects, json_text, kind_of
from ontosub.sinks.sink import Delivery, Sink
from ontosub.sinks.sql_faults import told


class Webhook(Sink):
    """Post rows as JSON to `url`, `rows_per_request` at a time; `state` is the file that acknowledgements are kept in.

    With a `secret`, the header `Signature` is `sha256=` and the HMAC-SHA256 of the body in hexadecimal digits.
    """

    def __init__(
        self,
        url: str,
        state: str | Path,
        headers: Mapping[str, str] | None = None,
        rows_per_request: int = 1000,
        timeout: float = 30.0,
        secret: str | None = None,
    ) -> None:
        if rows_per_request < 1:
            raise UsageError(f"option rows_per_request: {rows_per_request} is less than 1")
        if secret == "":
            raise UsageError("option secret: it is empty")
        self._endpoint = Endpoint(url, headers or {}, timeout)
        self._state = Path(state)
        self._rows_per_request = rows_per_request
        self._secret = None if secret is None else secret.encode()
        self._journal: Journal | None = None

    def open(self) -> None:
        self.close()
        with file_faults.told("state", self._state), told("state", str(self._state)):
            self._state.parent.mkdir(parents=True, exist_ok=True)
            self._journal = Journal(self._state)

    def close(self) -> None:
        self._endpoint.close()
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def deliver(self, delivery: Delivery) -> None:
        if self._journal is None:
            raise UsageError("the sink is not open")
        batch = delivery.pipeline, kind_of(delivery), delivery.batch
        with told("state", str(self._state)):
            progress = self._journal.begin(*batch, self._rows_per_request)
        if progress is None:
            return
        rows, size = sorted_rows(delivery), progress.rows_per_part
        parts = math.ceil(len(rows) / size)
        for part in range(progress.parts, parts):
            try:
                self._post(delivery, part, parts, rows[part * size : (part + 1) * size])
            except Unavailable as error:
                error.has_progressed = part > progress.parts
                raise
            with told("state", str(self._state)):
                self._journal.acknowledge(*batch)

    def _post(self, delivery: Delivery, part: int, parts: int, rows: list[str]) -> None:
        pipeline, kind, batch = delivery.pipeline, kind_of(delivery), delivery.batch
        head = {"pipeline": pipeline, "batch": batch, "kind": kind, "part": part, "parts": parts}
        body = f'{json_text(head)[:-1]},"rows":[{",".join(rows)}]}}'.encode()
        headers = {"Idempotency-Key": f"{quote(pipeline, safe='')}/{batch}/{kind}/{part}"}
        if self._secret is not None:
            headers["Signature"] = "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        self._endpoint.post(body, headers)


def sorted_rows(delivery: Delivery) -> list[str]:
    """Return the rows as JSON, sorted by event and subscription: the same however the batch was spread over files."""
    event = EVENT_COLUMNS[kind_of(delivery)]
    keyed = [
        (row[event] or "", row.get("subscription_id", ""), json_text(row))
        for table in delivery.tables()
        for row in json_objects(table)
    ]
    return [text for _, _, text in sorted(keyed)]
