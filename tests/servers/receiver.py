"""A receiver of webhooks for tests: a real HTTP server in a thread, whose next answers can be told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What a request is answered with; `hangs`: nothing, `resets`: a closed connection, `drips`: a body without end.

    `endless` bytes are sent again and again after the line with the status, in place of all else.
    """

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hangs: bool = False
    resets: bool = False
    drips: bool = False
    endless: bytes = b""


@dataclass(frozen=True)
class Request:
    """What has arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    answer: Answer

    @property
    def key(self) -> str:
        return self.headers["Idempotency-Key"]


class Receiver:
    """Takes in requests, answers those in `answers` one after the other, and all that follow with 204."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: deque[Answer] = deque()
        self._closing = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver._take(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Say nothing of clients that were killed."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook/token-of-the-path"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def applied(self) -> list[dict[str, Any]]:
        """Return the bodies that were acknowledged, as a receiver keeps them that knows keys: each once."""
        kept = {request.key: request.body for request in self.requests if 200 <= request.answer.status < 300}
        return [json.loads(body) for body in kept.values()]

    def _take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        if len(body) < int(handler.headers["Content-Length"]):
            handler.close_connection = True
            return  # the client died while it was sending
        answer = self.answers.popleft() if self.answers else Answer()
        self.requests.append(Request(handler.path, dict(handler.headers.items()), body, answer))
        if answer.hangs:
            self._closing.wait()
        if answer.hangs or answer.resets:
            handler.close_connection = True
            return
        if answer.endless:
            handler.wfile.write(f"HTTP/1.1 {answer.status} Dripping\r\n".encode())
            self._drip(handler, answer.endless)
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        if answer.status != 204:
            handler.send_header("Content-Length", str(1 << 40 if answer.drips else len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)
        if answer.drips:
            self._drip(handler, b"x")

    def _drip(self, handler: BaseHTTPRequestHandler, some: bytes) -> None:
        """Send the same bytes now and then, until the client has had enough, and sending fails."""
        while not self._closing.wait(0.02):
            handler.wfile.write(some)
        raise ConnectionAbortedError
