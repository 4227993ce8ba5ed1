"""Reading subscriptions and composites from files: what they may name, and that one fault does not hide others."""

from pathlib import Path

import pytest

from ontosub.inputs.definitions import Subscribed, read_subscriptions
from ontosub.model import Subscription
from ontosub.model.errors import UsageError

SMOKE = "SELECT ?room { ?e a <urn:Smoke> ; <urn:room> ?room }"


def read(folder: Path, files: dict[str, str], language: str | None = None, **options) -> Subscribed:
    for name, text in files.items():
        (folder / name).write_text(text)
    return read_subscriptions([folder], language, **options)


def faults(subscribed: Subscribed) -> dict[str, tuple[int | None, str]]:
    """Return where and what is wrong, by the name of the file."""
    return {
        Path(fault.source or "").name: (fault.span and fault.span.line, fault.message) for fault in subscribed.faults
    }


def test_composites_are_read_beside_what_they_name_in_any_order(tmp_path):
    files = {"a.composite": "z times 2", "b.rq": SMOKE, "c.ops": "(_:H, ?x, (<urn:E>, <urn:x>, owl:Thing))"}
    found = read(tmp_path, {**files, "z.composite": "b before c"})
    assert found.faults == ()
    assert list(found.subscriptions) == ["b", "c"]
    assert list(found.composites) == ["a", "z"]
    assert found.composites["a"].pattern.operand == found.composites["z"].pattern
    assert found.sources["z"] == str(tmp_path / "z.composite")


def test_faults_do_not_hide_others(tmp_path):
    files = {
        "bad.composite": "smoke before\n",
        "circle.composite": "smoke and\n circle",
        "good.composite": "smoke times 2",
        "late.composite": "smoke and not good",
        "lost.composite": "smoke before worse",
        "smoke.rq": SMOKE,
        "user.composite": "good before\n\n bad",
        "worse.rq": "SELECT",
    }
    found = read(tmp_path, files)
    assert list(found.composites) == ["good"]
    assert faults(found) == {
        "bad.composite": (1, "the text ends too early"),
        "circle.composite": (2, '"circle" leads back to itself'),
        "late.composite": (1, '"and not" needs a window'),
        "lost.composite": (1, '"worse" cannot be used'),
        "user.composite": (3, '"bad" cannot be used'),
        "worse.rq": (1, "the query ends too early"),
    }


def test_a_circle_is_told_where_it_closes(tmp_path):
    found = read(tmp_path, {"p.composite": "q times 2", "q.composite": "p times 2", "smoke.rq": SMOKE})
    assert faults(found) == {
        "p.composite": (1, '"q" cannot be used'),
        "q.composite": (1, '"p" leads back to itself'),
    }
    assert list(found.subscriptions) == ["smoke"]


def test_other_subscriptions_may_be_named(tmp_path):
    """Those of a file come first: they are what stands from now on."""
    names = {name: Subscription.parse("SELECT ?other { ?e <urn:p> ?other }", id=name) for name in ("smoke", "heat")}
    found = read(tmp_path, {"fire.composite": "smoke before heat", "smoke.rq": SMOKE}, names=names)
    assert found.faults == ()
    assert list(found.subscriptions) == ["smoke"]
    smoke, heat = found.composites["fire"].pattern.operands
    assert (smoke.variables, heat.variables) == ((("room", "room"),), (("other", "other"),))


def test_the_language_can_be_said(tmp_path):
    path = tmp_path / "fire.txt"
    path.write_text("smoke times 2")
    names = {"smoke": Subscription.parse(SMOKE, id="smoke")}
    assert list(read_subscriptions([path], "composite", names=names).composites) == ["fire"]


def test_a_composite_and_a_subscription_cannot_share_an_id(tmp_path):
    with pytest.raises(UsageError, match="would both have the id 'smoke'"):
        read(tmp_path, {"smoke.rq": SMOKE, "smoke.composite": "smoke times 2"})
