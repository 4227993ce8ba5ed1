from pathlib import Path

import pytest

from ontosub.model.errors import OntosubError, UsageError
from ontosub.pipeline.config import Config, config_of, read_config

GOOD = """
ontology = "ontology.ttl"
subscriptions = ["rules"]
trigger = "500 milliseconds"
[source]
kind = "files"
path = "events"
[events]
vocab = "urn:"
csv.delimiter = ";"
[[sinks]]
kind = "parquet"
path = "out"
[[sinks]]
kind = "webhook"
url = "http://127.0.0.1:9/hook"
[spark]
"spark.sql.shuffle.partitions" = "2"
"""


@pytest.fixture
def written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "events").mkdir()
    monkeypatch.chdir(folder)

    def write(text: str) -> Config:
        (folder / "offers.toml").write_text(text)
        return read_config(folder / "offers.toml")

    return write


def test_a_plan(written):
    config = written(GOOD)
    assert (config.name, config.state) == ("offers", "offers.state")
    plan = config.plan()
    assert plan.source.identity().endswith("/events")
    assert len(plan.sinks) == 2
    assert len(plan.dead_letters) == 1
    assert plan.options is not None
    assert (plan.options[""]["vocab"], plan.options["csv"]["vocab"]) == ("urn:", "urn:")
    assert (plan.options[""]["delimiter"], plan.options["csv"]["delimiter"]) == (None, ";")


@pytest.mark.parametrize(
    ("former", "now", "told"),
    [
        ('subscriptions = ["rules"]', "", "subscriptions: give files"),
        ('subscriptions = ["rules"]', 'subscriptions = "rules"\nindex = "i"', "subscriptions: give files"),
        ('subscriptions = ["rules"]', "subscriptions = 3", "subscriptions: a whole number is not a text"),
        ("trigger =", "triger =", "no option triger: did you mean trigger"),
        ('"500 milliseconds"', '"soon"', "trigger: 'soon'"),
        ('kind = "files"', 'kind = "flies"', "unknown source 'flies': did you mean files"),
        ('kind = "files"', "", "source: the option kind is missing"),
        ('path = "events"', 'pth = "events"', "the source files has no option pth: did you mean path"),
        ('path = "events"', "path = 1", "option path of the source files"),
        ('path = "out"', "", "the sink parquet lacks the option path"),
        ('kind = "parquet"', 'kind = "parkett"', "unknown sink 'parkett': did you mean parquet"),
        ('vocab = "urn:"', 'vocabulary = "urn:"', "events: there is no option vocabulary"),
        ('csv.delimiter = ";"', 'tabs.delimiter = ";"', "tabs"),
        ('csv.delimiter = ";"', 'csv.mapping = "nowhere.json"', "nowhere"),
        ("[events]", "[events", "line 8"),
    ],
)
def test_what_is_wrong_is_named(written, former, now, told):
    assert former in GOOD
    with pytest.raises((OntosubError, OSError)) as caught:
        written(GOOD.replace(former, now)).plan()
    assert told in str(caught.value)


def test_a_missing_source():
    with pytest.raises(UsageError, match="the command line: the option source is missing"):
        config_of({"name": "p", "state": "s"}, "the command line")


@pytest.mark.parametrize("name", ["", "a b", ".hidden", "../up", "x" * 101])
def test_names_that_would_mislead(name):
    with pytest.raises(UsageError, match="name"):
        Config(name, {"kind": "files", "path": "."}, "state", subscriptions="rules").plan()
