"""Composites on the command line: what is detected and when it is told, in both forms, and what goes wrong."""

import json
from pathlib import Path

import pytest
from shop import run
from typer.testing import Result

from ontosub.matching import Matcher

OWL = "http://www.w3.org/2002/07/owl#"
PREFIX = "PREFIX : <http://example.org/>"
INLINE = f"{PREFIX}\nsmoke before\n  sparql {{\n    SELECT ?room {{ ?e a :Heat ; :room ?room }} }} within 10s"


def event(kind: str, second: int | None, room: str = "kitchen", name: str | None = None) -> str:
    """Return an alarm as a CloudEvent, without a time if there is no second."""
    time = {} if second is None else {"time": f"2026-05-01T09:00:{second:02}Z"}
    data = f"@prefix : <http://example.org/> . [] a :{kind} ; :room :{room} ."
    head = {"specversion": "1.0", "id": name or f"{kind.lower()}-{second}", "source": "/s", "type": "t"}
    return json.dumps({**head, **time, "datacontenttype": "text/turtle", "data": data})


def stream(*events: str) -> str:
    return f"[{', '.join(events)}]"


@pytest.fixture
def alarms(tmp_path: Path) -> Path:
    """Return a folder with subscriptions to smoke and heat, a composite of them, and a fire; heat is read first."""
    classes = " ".join(f":{name} a <{OWL}Class> ." for name in ("Smoke", "Heat", "Noise", "Bell"))
    files = {
        "ontology/alarms.ttl": f"@prefix : <http://example.org/> . {classes} :room a <{OWL}ObjectProperty> .",
        "subscriptions/smoke.rq": f"{PREFIX} SELECT ?room {{ ?e a :Smoke ; :room ?room }}",
        "subscriptions/heat.rq": f"{PREFIX} SELECT ?room {{ ?e a :Heat ; :room ?room }}",
        "subscriptions/fire.composite": "smoke before heat within 10s",
        "events/a.cloudevent": event("Heat", 5),
        "events/b.cloudevent": event("Smoke", 1),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def write(folder: Path, **composites: str) -> None:
    for name, text in composites.items():
        (folder / f"subscriptions/{name}.composite").write_text(text)


def detected(result: Result) -> list[tuple[str, list[str]]]:
    """Return who was notified of which events together."""
    lines = map(json.loads, result.stdout.splitlines())
    return [(line["subscription"], line["events"]) for line in lines if "detection" in line]


def streamed(folder: Path, *arguments: str, events: str) -> Result:
    given = ("-o", folder / "ontology", "-s", folder / "subscriptions", "-", "--format", "cloudevents-batch")
    return run("match", *given, *arguments, input=events)


class TestMatch:
    def test_shows_how_it_came_about(self, alarms):
        result = run("match", "--folder", alarms)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [
            "heat: event heat-5 matches",
            "    ?room = <kitchen>",
            "smoke: event smoke-1 matches",
            "    ?room = <kitchen>",
            "fire: detected",
            "    before at 2026-05-01T09:00:01+00:00/2026-05-01T09:00:05+00:00: ?room = <kitchen>",
            "      smoke by event smoke-1 at 2026-05-01T09:00:01+00:00: ?room = <kitchen>",
            "      heat by event heat-5 at 2026-05-01T09:00:05+00:00: ?room = <kitchen>",
        ]

    def test_writes_json_lines(self, alarms):
        [*matches, line] = map(json.loads, run("match", "--folder", alarms, "--json").stdout.splitlines())
        assert [match["event"] for match in matches] == ["heat-5", "smoke-1"]
        tree = line.pop("constituents")
        assert len(line.pop("detection")) == 32
        assert line == {
            "subscription": "fire",
            "bindings": [{"room": {"type": "uri", "value": "http://example.org/kitchen"}}],
            "interval": {"start": "2026-05-01T09:00:01+00:00", "end": "2026-05-01T09:00:05+00:00"},
            "events": ["smoke-1", "heat-5"],
        }
        assert [(part["what"], part["event_id"]) for part in tree["constituents"]] == [
            ("smoke", "smoke-1"),
            ("heat", "heat-5"),
        ]

    def test_the_order_of_files_does_not_matter(self, alarms):
        files = [alarms / "events/a.cloudevent", alarms / "events/b.cloudevent"]
        given = ("-o", alarms / "ontology", "-s", alarms / "subscriptions", "--json")
        for order in (files, files[::-1]):
            assert detected(run("match", *given, *order)) == [("fire", ["smoke-1", "heat-5"])]

    def test_all_windows_end_with_the_last_file(self, alarms):
        write(alarms, calm="heat and not smoke within 1 h", silence="not smoke within 1 h")
        assert detected(run("match", "--folder", alarms, "--json")) == [
            ("fire", ["smoke-1", "heat-5"]),
            ("calm", ["heat-5"]),
            ("silence", []),
        ]

    def test_subscriptions_inside_are_not_shown_by_themselves(self, alarms):
        (alarms / "subscriptions/heat.rq").unlink()
        write(alarms, fire=INLINE)
        result = run("match", "--folder", alarms)
        assert result.exit_code == 0
        headings = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
        assert headings == ["smoke: event smoke-1 matches", "fire: detected"]

    def test_nothing_but_a_composite_may_be_given(self, alarms):
        path = alarms / "subscriptions/alone.composite"
        write(alarms, alone=f"{PREFIX} sparql {{ SELECT ?room {{ ?e a :Heat ; :room ?room }} }} times 1")
        result = run("match", "-o", alarms / "ontology", "-s", path, alarms / "events", "--json")
        assert detected(result) == [("alone", ["heat-5"])]

    def test_composites_are_made_of_composites(self, alarms):
        write(alarms, arson="fire and spread", spread=f"{PREFIX} ops {{ (_:H, ?where, (:Noise, :room, owl:Thing)) }}")
        (alarms / "events/c.cloudevent").write_text(event("Noise", 9, "cellar"))
        assert ("arson", ["smoke-1", "heat-5", "noise-9"]) in detected(run("match", "--folder", alarms, "--json"))

    def test_the_language_can_be_said(self, alarms):
        path = alarms / "alone.txt"
        path.write_text(f"{PREFIX} sparql {{ ASK {{ ?e a :Heat }} }} times 1")
        result = run("match", "-s", path, "--language", "composite", alarms / "events")
        assert result.stdout.startswith("alone: detected\n    times 1 at 2026-05-01T09:00:05+00:00")

    def test_events_that_cannot_be_read_take_nothing_away(self, alarms):
        (alarms / "events/aa.ttl").write_text("oops")
        result = run("match", "--folder", alarms, "--json")
        assert result.exit_code == 2
        assert detected(result) == [("fire", ["smoke-1", "heat-5"])]


class TestLateness:
    def test_detections_are_told_as_soon_as_they_are_decided(self, alarms):
        events = stream(event("Smoke", 1), event("Heat", 5), event("Noise", 8), event("Smoke", 9))
        result = streamed(alarms, "--lateness", "2s", events=events)
        assert (result.exit_code, result.stderr) == (0, "")
        headings = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
        assert headings == [
            "smoke: event smoke-1 matches",
            "heat: event heat-5 matches",
            "fire: detected",
            "smoke: event smoke-9 matches",
        ]

    def test_what_is_open_at_the_end_stays_open(self, alarms):
        write(alarms, calm="heat and not smoke within 1 h")
        events = stream(event("Smoke", 1), event("Heat", 5))
        assert detected(streamed(alarms, "--lateness", "2s", "--json", events=events)) == []

    def test_what_comes_too_late_is_counted(self, alarms):
        events = stream(event("Heat", 9), event("Smoke", 1), event("Smoke", 2), event("Smoke", 7), event("Noise", 30))
        result = streamed(alarms, "--lateness", "2s", "--json", events=events)
        assert detected(result) == [("fire", ["smoke-7", "heat-9"])]
        assert result.stderr.startswith(
            "warning: 2 matches came too late to be part of a composite event, the last by event smoke-2\nhint: "
        )
        assert result.exit_code == 0
        assert streamed(alarms, "--lateness", "2s", "--strict", events=events).exit_code == 2

    def test_there_may_be_none(self, alarms):
        events = stream(event("Smoke", 1), event("Heat", 5), event("Noise", 6))
        assert detected(streamed(alarms, "--lateness", "0s", "--json", events=events)) == [
            ("fire", ["smoke-1", "heat-5"])
        ]
        late = streamed(alarms, "--lateness", "0s", events=stream(event("Heat", 5), event("Smoke", 1)))
        assert late.stderr.startswith("warning: 1 match came too late")

    @pytest.mark.parametrize("text", ["soon", "5 m", "-5s", "", "3", "900000 weeks"])
    def test_it_must_be_a_duration(self, alarms, text):
        result = run("match", "--folder", alarms, f"--lateness={text}")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: --lateness: ")
        assert "hint: " in result.stderr


class TestWithoutTime:
    def test_an_event_takes_no_part_and_is_named(self, alarms):
        (alarms / "events/aa.cloudevent").write_text(event("Smoke", None, name="undated"))
        (alarms / "events/ab.cloudevent").write_text(event("Noise", None, name="unconcerned"))
        write(alarms, twice="heat times 2", other="smoke times 1")
        result = run("match", "--folder", alarms)
        assert result.exit_code == 0
        assert result.stderr == (
            f"warning: {alarms}/events/aa.cloudevent: the event undated has no time: it takes no part in fire, other\n"
            "hint: Give it one: a mapping says with `time` where it is, a CloudEvent has it in its envelope.\n"
        )
        assert "smoke: event undated matches" in result.stdout
        assert "fire: detected" in result.stdout

    def test_nor_does_a_subscription_inside_a_composite_see_it(self, alarms):
        write(alarms, fire=INLINE)
        (alarms / "subscriptions/heat.rq").unlink()
        (alarms / "events/aa.cloudevent").write_text(event("Heat", None, name="undated"))
        result = run("match", "--folder", alarms)
        assert "the event undated has no time" in result.stderr
        assert "undated" not in result.stdout

    def test_strictly_that_is_an_error(self, alarms):
        (alarms / "events/aa.cloudevent").write_text(event("Smoke", None))
        assert run("match", "--folder", alarms, "--strict").exit_code == 2

    def test_explaining_says_so_too(self, alarms):
        (alarms / "events/aa.cloudevent").write_text(event("Smoke", None, name="undated"))
        assert "the event undated has no time" in run("explain", "--folder", alarms).stderr


class Impatient(Matcher):
    """A matcher that finds what is written inside composites too costly to decide."""

    @property
    def over_budget(self):
        return frozenset(name for name in self.subscriptions if name.startswith("sparql:"))


@pytest.mark.parametrize("command", ["match", "explain"])
def test_a_composite_whose_inner_subscription_is_given_up_is_named(alarms, monkeypatch, command):
    monkeypatch.setattr("ontosub.composite.composite_matcher.Matcher", Impatient)
    write(alarms, fire=INLINE)
    assert "the event heat-5 was given up for fire: it would take too long" in run(command, "--folder", alarms).stderr


@pytest.fixture
def crowded(alarms) -> str:
    """Return alarms of many rooms; the composite `same` asks for three of one room, among 216,000 combinations."""
    write(
        alarms,
        same=f"""{PREFIX} smoke(?room as ?a) and heat(?room as ?b)
        and sparql {{ SELECT ?c {{ ?e a :Noise ; :room ?c }} }}
        and sparql {{ ASK {{ ?e a :Bell }} }} where ?a = ?b && ?b = ?c""",
    )
    kinds = ("Smoke", "Heat", "Noise")
    rooms = [event(kind, second, f"{kind}{second}") for kind in kinds for second in range(59)]
    return stream(*rooms, *(event(kind, 59, "last") for kind in kinds), event("Bell", 59))


class TestOverruns:
    def test_a_composite_that_did_not_try_all_combinations_is_named(self, alarms, crowded):
        result = streamed(alarms, events=crowded)
        assert "same: detected" not in result.stdout
        assert result.exit_code == 0
        assert result.stderr == (
            "warning: the composite same may lack detections: for 1 instance, not all combinations were tried\n"
            "hint: Make it more selective: with a shorter window, shared variables, or conditions on single operands.\n"
        )
        assert streamed(alarms, "--strict", events=crowded).exit_code == 2

    def test_json_has_a_line_of_it(self, alarms, crowded):
        lines = map(json.loads, streamed(alarms, "--json", events=crowded).stdout.splitlines())
        assert [line for line in lines if "overruns" in line] == [{"subscription": "same", "overruns": 1}]

    def test_explaining_says_so_too(self, alarms, crowded):
        given = ("-o", alarms / "ontology", "-s", alarms / "subscriptions", "-", "--format", "cloudevents-batch")
        assert "the composite same may lack detections" in run("explain", *given, input=crowded).stderr


class TestStrict:
    def test_unknown_words_inside_a_composite_are_errors(self, alarms):
        write(alarms, fire=INLINE.replace(":Heat", ":Heet"))
        loose = run("match", "--folder", alarms)
        assert loose.exit_code == 0
        assert "unknown class <http://example.org/Heet>" in loose.stderr
        strict = run("match", "--folder", alarms, "--strict")
        assert (strict.exit_code, strict.stdout) == (2, "")
        assert "error: " in strict.stderr
        assert "unknown class <http://example.org/Heet>" in strict.stderr


class TestCheck:
    def test_a_composite_alone_is_something_to_check(self, alarms):
        write(alarms, alone="sparql { ASK { ?e a <urn:A> } } times 2")
        result = run("check", "-s", alarms / "subscriptions/alone.composite")
        assert (result.exit_code, result.stderr) == (0, "0 errors, 0 warnings, 0 notes\n")

    def test_faults_are_found_where_they_stand_and_hide_no_others(self, alarms):
        write(alarms, bad="smoke before\n  haet within 5s", circle="smoke and circle", usual="bad times 2")
        write(alarms, worse=INLINE.replace(":room ?room", "?? ?room"))
        result = run("check", "--folder", alarms)
        assert result.exit_code == 2
        for found in (
            'bad.composite, line 2, column 3: there is no subscription "haet"',
            'circle.composite, line 1, column 11: "circle" leads back to itself',
            'usual.composite, line 1, column 1: "bad" cannot be used',
            "worse.composite, line 4, column ",
        ):
            assert f"error: {alarms}/subscriptions/{found}" in result.stdout
        assert result.stderr == "4 errors, 0 warnings, 0 notes\n"

    def test_unknown_words_are_doubtful_where_they_are_written(self, alarms):
        """`all` has the same subscription inside it, by name: it is told of once, at the file that has its text."""
        write(alarms, all="fire times 2", fire=INLINE.replace(":Heat", ":Heet"))
        result = run("check", "--folder", alarms)
        assert result.stderr == "0 errors, 1 warning, 0 notes\n"
        assert result.stdout.startswith(
            f"warning: {alarms}/subscriptions/fire.composite: unknown class <http://example.org/Heet>\nhint: "
        )
        assert run("check", "--folder", alarms, "--strict").exit_code == 2

    @pytest.mark.parametrize("command", ["match", "explain"])
    def test_faults_end_other_commands_before_the_first_event(self, alarms, command):
        write(alarms, bad="smoke before haet")
        result = run(command, "--folder", alarms)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "bad.composite, line 1, column 14" in result.stderr


class TestExplain:
    def test_ends_with_what_was_detected_and_what_is_waited_for(self, alarms):
        (alarms / "events/c.cloudevent").write_text(event("Smoke", 9, "cellar"))
        write(alarms, calm="heat and not smoke within 1 h", twice="fire times 2", never="heat before smoke within 1s")
        result = run("explain", "--folder", alarms)
        assert (result.exit_code, result.stderr) == (0, "")
        lines = result.stdout.splitlines()
        assert "smoke: event smoke-1 matches" in lines
        *_, end = result.stdout.partition("calm: ")
        assert f"calm: {end}".splitlines() == [
            "calm: not detected",
            "calm: heat(?room) and not smoke(?room) within 1 h has heat-5, waits whether no smoke(?room) until "
            "2026-05-01T10:00:05+00:00 (?room = <http://example.org/kitchen>)",
            "fire: detected",
            "    before at 2026-05-01T09:00:01+00:00/2026-05-01T09:00:05+00:00: ?room = <kitchen>",
            "      smoke by event smoke-1 at 2026-05-01T09:00:01+00:00: ?room = <kitchen>",
            "      heat by event heat-5 at 2026-05-01T09:00:05+00:00: ?room = <kitchen>",
            "fire: smoke(?room) before heat(?room) within 10 s has smoke-9, waits for heat(?room) until "
            "2026-05-01T09:00:19+00:00 (?room = <http://example.org/cellar>)",
            "never: not detected",
            "twice: not detected",
            "twice: (smoke(?room) before heat(?room) within 10 s) times 2 has smoke-1, heat-5, waits for "
            "smoke(?room) before heat(?room) within 10 s",
            "twice: smoke(?room) before heat(?room) within 10 s has smoke-9, waits for heat(?room) until "
            "2026-05-01T09:00:19+00:00 (?room = <http://example.org/cellar>)",
        ]

    def test_writes_json(self, alarms):
        (alarms / "events/c.cloudevent").write_text(event("Smoke", 9, "cellar"))
        result = run("explain", "--folder", alarms, "--json")
        assert detected(result) == [("fire", ["smoke-1", "heat-5"])]
        [waits] = [line for line in map(json.loads, result.stdout.splitlines()) if "waiting" in line]
        assert waits == {
            "subscription": "fire",
            "waiting": "smoke(?room) before heat(?room) within 10 s",
            "events": ["smoke-9"],
            "binding": {"room": {"type": "uri", "value": "http://example.org/cellar"}},
            "operands": ["heat(?room)"],
            "absence": False,
            "until": "2026-05-01T09:00:19+00:00",
        }

    def test_events_without_any_time_decide_nothing(self, alarms):
        result = run("explain", "-o", alarms / "ontology", "-s", alarms / "subscriptions", "-", "--format",
                     "cloudevents-batch", input=stream(event("Noise", None)))  # fmt: skip
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.endswith("fire: not detected\n")
