"""Webhooks: what is posted, what answers mean, and what is not posted again."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks.posting import ANSWER_BYTES_MAX
from ontosub.sinks.sink import ROWS_MAX
from ontosub.sinks.webhook import Webhook
from servers.receiver import Answer, Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.close()


@pytest.fixture
def hook(receiver: Receiver, tmp_path: Path) -> Iterator[Callable[..., Webhook]]:
    """Return what opens the sink, as after a restart."""
    opened: list[Webhook] = []

    def make(**options) -> Webhook:
        sink = Webhook(**{"url": receiver.url, "state": tmp_path / "state" / "hook.db", "timeout": 20.0, **options})
        sink.open()
        opened.append(sink)
        return sink

    yield make
    for sink in opened:
        sink.close()


def rows(count: int) -> list[dict[str, str]]:
    return [{"event_id": f"e{n}"} for n in range(count)]


def parts(receiver: Receiver) -> list[tuple[str, list[str]]]:
    """Return the keys of all requests, and the events in them."""
    return [
        (request.key, [row["event_id"] for row in json.loads(request.body)["rows"]]) for request in receiver.requests
    ]


def test_what_is_posted(receiver, hook, stage):
    sink = hook(headers={"Authorization": "Bearer t"}, rows_per_request=2)
    sink.deliver(stage({"event_id": "é"}, {"event_id": "a", "subscription_id": "z"}, {"event_id": "a"}, batch=12))
    sink.deliver(stage({"payload": b"\xff"}, batch=12, pipeline="p/q ü", kind="rejects"))
    first, second, third = receiver.requests
    assert [request.key for request in receiver.requests] == [
        "p/12/matches/0",
        "p/12/matches/1",
        "p%2Fq%20%C3%BC/12/rejects/0",
    ]
    assert first.headers["Content-Type"] == "application/json"
    assert first.headers["Authorization"] == "Bearer t"
    assert "Signature" not in first.headers
    row = {"subscription_id": "s", "bindings": [{"x": '"1"'}], "time_start": None, "time_end": None}
    assert json.loads(first.body) == {
        "pipeline": "p",
        "batch": 12,
        "kind": "matches",
        "part": 0,
        "parts": 2,
        "rows": [{"event_id": "a", **row}, {"event_id": "a", **row, "subscription_id": "z"}],
    }
    assert json.loads(second.body)["rows"] == [{"event_id": "é", **row}]
    dead = {"event_id": "e", "content_type": "text/turtle", "reason": "no Turtle", "line": 1, "column": 2}
    assert json.loads(third.body) == {
        "pipeline": "p/q ü",
        "batch": 12,
        "kind": "rejects",
        "part": 0,
        "parts": 1,
        "rows": [{**dead, "payload": "/w==", "payload_encoding": "base64"}],
    }


def test_detections_are_posted(receiver, hook, stage):
    rows = [{"detection_id": f"d{n:05d}", "bindings": [], "event_ids": []} for n in range(ROWS_MAX)]
    rows += [{"detection_id": "a", "subscription_id": "z"}, {"detection_id": "a"}]
    sink = hook(rows_per_request=ROWS_MAX // 2 + 1)
    for kind in ("matches", "rejects"):
        sink.deliver(stage({}, batch=12, kind=kind))
    receiver.answers.extend([Answer(), Answer(resets=True)])
    with pytest.raises(Unavailable):
        sink.deliver(stage(*rows, batch=12, kind="detections"))
    for _ in range(2):
        sink.deliver(stage(*reversed(rows), batch=12, kind="detections"))
    *_, first, second, third = receiver.requests
    assert [request.key for request in receiver.requests] == [
        "p/12/matches/0",
        "p/12/rejects/0",
        "p/12/detections/0",
        "p/12/detections/1",
        "p/12/detections/1",
    ]
    assert second.body == third.body
    bodies = [json.loads(request.body) for request in (first, third)]
    assert [(body["kind"], body["part"], body["parts"]) for body in bodies] == [("detections", n, 2) for n in range(2)]
    posted = [row for body in bodies for row in body["rows"]]
    assert [(row["detection_id"], row["subscription_id"]) for row in posted] == [
        ("a", "fire"),
        ("a", "z"),
        *((f"d{n:05d}", "fire") for n in range(ROWS_MAX)),
    ]
    assert posted[0] == {
        "subscription_id": "fire",
        "detection_id": "a",
        "bindings": [{"room": "<urn:küche>", "by": "_:b0"}, {"room": '"1"'}],
        "time_start": "2024-05-01T12:00:00.000000Z",
        "time_end": "2024-05-01T12:00:00.000000Z",
        "event_ids": ["e1", "é 2"],
        "constituents": {"what": "before", "constituents": [{"what": "räuch", "event_id": "e1"}]},
    }
    assert (posted[2]["bindings"], posted[2]["event_ids"]) == ([], [])


def test_a_secret_signs_the_body(receiver, hook, stage):
    hook(secret="käse").deliver(stage({}))
    [request] = receiver.requests
    digest = hmac.new("käse".encode(), request.body, hashlib.sha256).hexdigest()
    assert request.headers["Signature"] == f"sha256={digest}"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(503, {"Retry-After": "17"}, b"later"),
        Answer(429, {"Retry-After": "17"}),
        Answer(408),
        Answer(425),
        Answer(599),
        Answer(resets=True),
    ],
    ids=str,
)
def test_what_may_pass_is_tried_again_with_the_same_key(receiver, hook, stage, answer):
    sink = hook(rows_per_request=2)
    receiver.answers.extend([Answer(200, body=b"thanks"), answer])
    delivery = stage(*rows(5))
    with pytest.raises(Unavailable) as caught:
        sink.deliver(delivery)
    assert ("Retry-After: 17" in str(caught.value)) == ("Retry-After" in answer.headers)
    assert caught.value.wait_s == (17 if "Retry-After" in answer.headers else 0)
    assert "token" not in str(caught.value)
    sink.deliver(delivery)
    assert parts(receiver) == [
        ("p/0/matches/0", ["e0", "e1"]),
        ("p/0/matches/1", ["e2", "e3"]),
        ("p/0/matches/1", ["e2", "e3"]),
        ("p/0/matches/2", ["e4"]),
    ]


def test_no_answer_in_time(receiver, hook, stage):
    sink = hook(timeout=1)
    receiver.answers.append(Answer(hangs=True))
    with pytest.raises(Unavailable, match=r"http://127.0.0.1:\d+: no answer within 1 s"):
        sink.deliver(stage({}))
    sink.close()
    hook().deliver(stage({}))
    assert parts(receiver) == [("p/0/matches/0", ["e"])] * 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, endless=b"x"),
        Answer(200, endless=b"X-More: and more\r\n"),
        Answer(103, endless=b"Link: </x>\r\n\r\nHTTP/1.1 103 Early Hints\r\n"),
    ],
    ids=["a header without end", "headers without end", "interim answers without end"],
)
def test_an_answer_that_drips_and_never_begins_is_no_answer(receiver, hook, stage, answer):
    sink = hook(timeout=0.5)
    receiver.answers.append(answer)
    with pytest.raises(Unavailable, match=r"http://127.0.0.1:\d+: no answer within 0.5 s"):
        sink.deliver(stage({}))
    sink.deliver(stage({}))
    assert parts(receiver) == [("p/0/matches/0", ["e"])] * 2


def test_who_does_not_read_is_left(tmp_path, stage):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and nothing else
        sink = Webhook(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path / "state.db", timeout=0.5)
        sink.open()
        with pytest.raises(Unavailable, match=r"no answer within 0.5 s"):
            sink.deliver(stage({"bindings": [[("x", '"' + "x" * 20_000_000 + '"')]]}))
        sink.close()


def test_it_delivers_beside_a_running_event_loop(receiver, hook, stage):
    async def deliver() -> None:
        hook().deliver(stage({}))

    asyncio.run(deliver())
    assert len(receiver.requests) == 1


def test_nobody_there(tmp_path, stage):
    gone = Receiver()
    gone.close()
    sink = Webhook(gone.url, tmp_path / "state.db")
    sink.open()
    with pytest.raises(Unavailable, match=r"[Cc]onnection refused"):
        sink.deliver(stage({}))
    sink.close()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(400, body=b"no such\x1b[31m field\nand more"), r"answers 400 Bad Request: no such \[31m field$"),
        (Answer(401), "answers 401 Unauthorized$"),
        (Answer(410, body=b"x" * (10 * ANSWER_BYTES_MAX)), "answers 410 Gone: x{200}$"),
        (Answer(422, body=b"\xff\xfe"), "answers 422 Unprocessable"),
        (Answer(301, {"Location": "http://127.0.0.1:1/"}), "answers 301 Moved Permanently: redirects are not followed"),
        (Answer(302, {"Location": "file:///etc/passwd"}), "answers 302 Found: redirects are not followed"),
        (Answer(307, {"Location": "/hook"}), "answers 307 Temporary Redirect: redirects are not followed"),
        (Answer(304), "answers 304 Not Modified: redirects are not followed"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else "",
)
def test_what_will_not_pass(receiver, hook, stage, answer, says):
    sink = hook()
    receiver.answers.append(answer)
    with pytest.raises(UsageError, match=rf"^option url: http://127.0.0.1:\d+ {says}") as caught:
        sink.deliver(stage({}))
    assert "token" not in str(caught.value)
    assert len(receiver.requests) == 1
    sink.deliver(stage({}))
    assert parts(receiver)[1:] == [("p/0/matches/0", ["e"])]


def test_an_endless_answer_is_not_read(receiver, hook, stage):
    receiver.answers.append(Answer(200, body=b"x" * (100 * ANSWER_BYTES_MAX)))
    sink = hook()
    sink.deliver(stage({}))
    sink.deliver(stage({}, batch=1))
    assert [key for key, _ in parts(receiver)] == ["p/0/matches/0", "p/1/matches/0"]


def test_an_answer_that_drips_is_left(receiver, hook, stage):
    receiver.answers.extend([Answer(200, drips=True), Answer(400, body=b"no\n", drips=True)])
    sink = hook(timeout=2)  # long enough for the first bytes on a busy machine
    sink.deliver(stage({}))
    with pytest.raises(UsageError, match=r"answers 400 Bad Request: no$"):
        sink.deliver(stage({}, batch=1))


def test_what_was_acknowledged_is_not_sent_again(receiver, hook, stage):
    receiver.answers.extend([Answer(), Answer(), Answer(500)])
    first = hook(rows_per_request=2)
    with pytest.raises(Unavailable) as caught:
        first.deliver(stage(*rows(7)))
    assert caught.value.has_progressed
    receiver.answers.append(Answer(500))
    with pytest.raises(Unavailable) as caught:
        first.deliver(stage(*rows(7)))
    assert not caught.value.has_progressed
    first.close()
    after_restart = hook(rows_per_request=3)  # changed meanwhile: this batch keeps its cut
    after_restart.deliver(stage(*reversed(rows(7))))
    after_restart.deliver(stage(*rows(7)))
    after_restart.deliver(stage(*rows(4), batch=1))
    hook().deliver(stage(*rows(7)))
    assert [(key, len(events)) for key, events in parts(receiver)] == [
        ("p/0/matches/0", 2),
        ("p/0/matches/1", 2),
        ("p/0/matches/2", 2),
        ("p/0/matches/2", 2),
        ("p/0/matches/2", 2),
        ("p/0/matches/3", 1),
        ("p/1/matches/0", 3),
        ("p/1/matches/1", 1),
    ]
    assert sorted(row["event_id"] for body in receiver.applied() if body["batch"] == 0 for row in body["rows"]) == [
        f"e{n}" for n in range(7)
    ]


def test_a_state_that_cannot_be_kept(tmp_path, receiver):
    (tmp_path / "file").write_text("no database, but a text that is long enough to be taken for one" * 30)
    with pytest.raises(UsageError, match=r"^option state: .*file is not a database"):
        Webhook(receiver.url, tmp_path / "file").open()
    with pytest.raises(UsageError, match=r"^option state: .*"):
        Webhook(receiver.url, tmp_path / "file" / "below").open()
    with pytest.raises(UsageError, match=r"^option state: .*unable to open"):
        Webhook(receiver.url, tmp_path).open()


def test_passwords_in_the_url_are_used_and_not_shown(receiver, hook, stage):
    sink = hook(url=receiver.url.replace("127.0.0.1", "user:hunter2@127.0.0.1") + "?key=hunter2")
    receiver.answers.append(Answer(403))
    with pytest.raises(UsageError) as caught:
        sink.deliver(stage({}))
    assert "hunter2" not in str(caught.value)
    assert receiver.requests[0].headers["Authorization"].startswith("Basic ")


def test_it_must_be_open(tmp_path, stage):
    with pytest.raises(UsageError, match="not open"):
        Webhook("http://127.0.0.1:1/", tmp_path / "state.db").deliver(stage({}))
