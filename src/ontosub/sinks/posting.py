"""One HTTP endpoint that is posted to: what its answers mean, how little of them is read, and for how long."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

import httpx

from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks.loop_thread import LoopThread

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
        self._connected: _Connected | None = None

    def __str__(self) -> str:
        port = f":{self._url.port}" if self._url.port else ""
        return f"{self._url.scheme}://{self._url.host}{port}"

    def post(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Post a body, and return when it is acknowledged with a status of 2xx, within `timeout` seconds altogether.

        Raises Unavailable when posting it again may help, else UsageError.
        """
        if self._connected is None:
            self._connected = _Connected()
        told = {"User-Agent": "ontosub", **self._headers, **headers}
        try:
            answer, says = self._connected.loop.run(self._exchange(self._connected.client, body, told))
        except TimeoutError:
            raise Unavailable(f"{self}: no answer within {self._timeout:g} s") from None
        except httpx.TransportError as error:
            raise Unavailable(f"{self}: {_shown(_reason(error))}") from None
        self._judge(answer, says)

    def close(self) -> None:
        """Let go of the connections."""
        if self._connected is not None:
            self._connected.close()
            self._connected = None

    async def _exchange(
        self, client: httpx.AsyncClient, body: bytes, headers: Mapping[str, str]
    ) -> tuple[httpx.Response, str]:
        """Post a body; return the answer and the first line of its text. Raises TimeoutError if there is no answer.

        All of it has one deadline: a receiver that sends a byte now and then, or interim answers for ever, gets no more
        time than one that is silent. Once the status has been said, it holds, however the text behind it ends.
        """
        deadline = asyncio.get_running_loop().time() + self._timeout
        request = client.build_request("POST", self._url, content=body, headers=headers)
        async with asyncio.timeout_at(deadline):
            answer = await client.send(request, stream=True)
        read = bytearray()
        try:
            with suppress(httpx.TransportError, TimeoutError):
                async with asyncio.timeout_at(deadline):
                    async for some in answer.aiter_raw():
                        read += some
                        if len(read) > ANSWER_BYTES_MAX:
                            break
        finally:
            await answer.aclose()
        return answer, _shown(read.decode(errors="replace").strip().partition("\n")[0])

    def _judge(self, answer: httpx.Response, says: str) -> None:
        if answer.is_success:
            return
        status = f"{self} answers {answer.status_code} {_shown(answer.reason_phrase)}".rstrip()
        if answer.is_server_error or answer.status_code in _PASSING:
            wait = answer.headers.get("Retry-After", "")
            told = f"{status}, and asks to wait: Retry-After: {_shown(wait)}" if wait else status
            raise Unavailable(told, wait_s=float(wait) if _SECONDS.fullmatch(wait) else 0.0)
        if answer.is_redirect or 300 <= answer.status_code < 400:
            raise UsageError(f"option url: {status}: redirects are not followed, so name the place itself")
        raise UsageError(f"option url: {status}: {says}" if says else f"option url: {status}")


class _Connected:
    """A client with its connections, and the loop that they belong to."""

    def __init__(self) -> None:
        self.loop = LoopThread()
        self.client = httpx.AsyncClient(timeout=None, follow_redirects=False)  # noqa: S113 - each post has a deadline

    def close(self) -> None:
        self.loop.run(self.client.aclose())
        self.loop.close()


def _reason(error: httpx.TransportError) -> str:
    """Return what went wrong. Of a connection that cannot be made, httpx says no more than that: the cause says why."""
    cause: BaseException | None = error if isinstance(error, httpx.ConnectError) else None
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno).lower()
        cause = cause.exceptions[-1] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__


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
