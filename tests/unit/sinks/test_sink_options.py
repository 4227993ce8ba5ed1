"""A configuration that is wrong is told so before anything runs, by the name of the option."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from ontosub.model.errors import UsageError
from ontosub.sinks import from_options
from ontosub.sinks.files import FileSink
from ontosub.sinks.printing import PrintSink
from ontosub.sinks.sql_log import SqlLog
from ontosub.sinks.webhook import Webhook

HOOK = {"url": "http://127.0.0.1:1/", "state": "state.db"}


@pytest.mark.parametrize(
    ("kind", "options", "made"),
    [
        ("parquet", {"path": "out"}, FileSink),
        ("json", {"path": "out"}, FileSink),
        ("sql", {"url": "sqlite:///log.db"}, SqlLog),
        ("sql", {"url": "postgresql://host/db", "timeout": 5}, SqlLog),
        ("print", {}, PrintSink),
        ("print", {"format": "text"}, PrintSink),
        ("webhook", HOOK, Webhook),
        ("webhook", {**HOOK, "headers": {"X": "y"}, "rows_per_request": 5, "timeout": 0.5, "secret": "k"}, Webhook),
    ],
)
def test_what_is_made(kind, options, made):
    assert type(from_options(kind, options)) is made


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("parkett", {}, "unknown sink 'parkett': did you mean parquet?"),
        ("x", {}, "unknown sink 'x': choose from parquet, json, sql"),
        ("parquet", {}, "the sink parquet lacks the option path"),
        ("parquet", {"path": "out", "format": "json"}, "the sink parquet has no option format"),
        ("json", {"path": 7}, "option path of the sink json: a whole number is not a text or a path"),
        ("sql", {"ulr": "sqlite:///log.db"}, "the sink sql has no option ulr: did you mean url?"),
        ("sql", {"url": "sqlite:///log.db", "timeout": True}, "option timeout of the sink sql: true or false is not"),
        ("sql", {"url": "sqlite:///log.db", "timeout": 0}, "option timeout: 0 is no number of seconds"),
        ("sql", {"url": "sqlite:///log.db", "timeout": float("nan")}, "option timeout: nan is no number of seconds"),
        ("print", {"format": "xml"}, "option format of the sink print: a text is not one of text, json"),
        ("webhook", {"url": "http://127.0.0.1/"}, "the sink webhook lacks the option state"),
        ("webhook", {**HOOK, "rows_per_request": "9"}, "option rows_per_request of the sink webhook: a text is not"),
        ("webhook", {**HOOK, "rows_per_request": 0}, "option rows_per_request: 0 is less than 1"),
        ("webhook", {**HOOK, "headers": {"a": 1}}, "option headers of the sink webhook: .* is not a table of names"),
        ("webhook", {**HOOK, "headers": {"a b": "1"}}, "option headers: 'a b' cannot be a header"),
        ("webhook", {**HOOK, "headers": {"a": "1\r\nb: 2"}}, "option headers: 'a' cannot be a header"),
        ("webhook", {**HOOK, "headers": {"idempotency-key": "1"}}, "option headers: idempotency-key is set by"),
        ("webhook", {**HOOK, "timeout": -1.0}, "option timeout: -1.0 is no number"),
        ("webhook", {**HOOK, "secret": ""}, "option secret: it is empty"),
        ("webhook", {**HOOK, "url": "file:///etc/passwd"}, "option url: only http and https"),
        ("webhook", {**HOOK, "url": "ftp://host/"}, "option url: only http and https"),
        ("webhook", {**HOOK, "url": "http://"}, "option url: only http and https"),
        ("webhook", {**HOOK, "url": "http://host:port/"}, "option url: this is no URL"),
    ],
)
def test_what_is_wrong_is_named(kind, options, says):
    with pytest.raises(UsageError, match=says):
        from_options(kind, options)


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "ontosub.sinks.posting", raising=False)
    monkeypatch.delitem(sys.modules, "ontosub.sinks.webhook", raising=False)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(UsageError, match=r"the sink webhook needs httpx: pip install 'ontosub\[run\]'"):
        from_options("webhook", HOOK)


def test_only_the_sink_that_is_used_needs_its_library(monkeypatch):
    for name in ("httpx", "sqlalchemy", "confluent_kafka"):
        monkeypatch.setitem(sys.modules, name, ModuleType("absent"))
    assert isinstance(from_options("parquet", {"path": "out"}), FileSink)
