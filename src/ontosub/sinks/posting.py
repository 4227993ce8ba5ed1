"""One HTTP endpoint that is posted to: what its answers mean, and how little of them is read."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus

import httpx

from ontosub.model.errors import Unavailable, UsageError

ANSWER_BYTES_MAX = 65_536
"""How much of an answer is read."""

_SHOWN_MAX = 200
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_SECONDS = re.compile(r"[0-9]{1,9}")
_OURS = {"content-length", "content-type", "host", "idempotency-key", "signature", "transfer-encoding"}


class Endpoint:
    """Where bodies are posted. Redirects are not followed, and the URL is never shown: it may hold secrets."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = _checked(url)
        if not 0 < timeout < 1_000_000:
            raise UsageError(f"option timeout: {timeout} is no number of seconds to wait")
        self._headers = {**_checked_headers(headers), "Content-Type": "application/json", "Accept-Encoding": "identity"}
        self._timeout = timeout
        self._client: httpx.Client | None = None

    def __str__(self) -> str:
        port = f":{self._url.port}" if self._url.port else ""
        return f"{self._url.scheme}://{self._url.host}{port}"

    def post(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Post a body, and return when it is acknowledged with a status of 2xx.

        Raises Unavailable when posting it again may help, else UsageError.
        """
        if self._client is None:
            self._client = httpx.Client(timeout=self._timeout, follow_redirects=False)
        told = {"User-Agent": "ontosub", **self._headers, **headers}
        try:
            with self._client.stream("POST", self._url, content=body, headers=told) as answer:
                self._judge(answer)
        except httpx.TimeoutException:
            raise Unavailable(f"{self}: no answer within {self._timeout:g} s") from None
        except httpx.TransportError as error:
            raise Unavailable(f"{self}: {str(error) or type(error).__name__}") from None

    def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _judge(self, answer: httpx.Response) -> None:
        says = self._beginning(answer)
        if answer.is_success:
            return
        status = f"{self} answers {answer.status_code} {answer.reason_phrase}".rstrip()
        if answer.is_server_error or answer.status_code in _PASSING:
            wait = answer.headers.get("Retry-After", "")
            told = f"{status}, and asks to wait: Retry-After: {_shown(wait)}" if wait else status
            raise Unavailable(told, wait_s=float(wait) if _SECONDS.fullmatch(wait) else 0.0)
        if answer.is_redirect or 300 <= answer.status_code < 400:
            raise UsageError(f"option url: {status}: redirects are not followed, so name the place itself")
        raise UsageError(f"option url: {status}: {says}" if says else f"option url: {status}")

    def _beginning(self, answer: httpx.Response) -> str:
        """Read an answer, so that its connection can be used again, but neither too much nor too long."""
        read = b""
        try:
            for some in _until(time.monotonic() + self._timeout, answer.iter_raw()):
                read += some
                if len(read) > ANSWER_BYTES_MAX:
                    break
        except httpx.TransportError:
            pass  # The status has been said.
        return _shown(read.decode(errors="replace").strip().partition("\n")[0])


def _until(deadline: float, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        if time.monotonic() > deadline:
            return


def _shown(text: str) -> str:
    """Return foreign text, short and without control characters."""
    return "".join(character if character.isprintable() else " " for character in text[:_SHOWN_MAX]).strip()


def _checked(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise UsageError("option url: this is no URL: write https://host/path") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError("option url: only http and https are posted to: write https://host/path")
    return url


def _checked_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise UsageError(f"option headers: {_shown(name)!r} cannot be a header, or not with its value")
        if name.lower() in _OURS:
            raise UsageError(f"option headers: {name} is set by Ontosub")
    return headers
