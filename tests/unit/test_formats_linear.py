"""Reading is linear, in good records and in bad ones: twice the text is twice the work."""

import pytest

from ontosub.formats import json_text, media_of
from ontosub.formats.event import _Payload
from ontosub.formats.limits import Limits
from ontosub.formats.reading import Options
from ontosub.formats.source import Lines, Source
from ontosub.model import Event
from ontosub.model.errors import LimitError


class Counting(str):
    """A text that counts the characters which are looked at, or copied."""

    scanned = 0

    def _look(self, characters):
        self.scanned += max(0, characters)

    def find(self, sought, start=0, end=None):
        found = super().find(sought, start, end)
        self._look((len(self) if end is None else end) - start if found < 0 else found - start + 1)
        return found

    def rfind(self, sought, start=0, end=None):
        found = super().rfind(sought, start, end)
        end = len(self) if end is None else end
        self._look(end - start if found < 0 else end - found)
        return found

    def count(self, sought, start=0, end=None):
        self._look((len(self) if end is None else end) - start)
        return super().count(sought, start, end)

    def __getitem__(self, key):
        self._look(len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1)
        return super().__getitem__(key)

    def _whole(name):  # noqa: N805 - a method is made
        def method(self, *args, **options):
            self._look(len(self))
            return getattr(str, name)(self, *args, **options)

        return method

    split, splitlines, partition, rpartition = map(_whole, ("split", "splitlines", "partition", "rpartition"))
    strip, rstrip, lower, replace, encode = map(_whole, ("strip", "rstrip", "lower", "replace", "encode"))


INTEGER = {"class": "urn:C", "properties": [{"property": "urn:p", "from": "x", "datatype": "xsd:integer"}]}
ABSENT = {"class": "urn:C", "properties": [{"property": "urn:p", "from": "absent"}]}
BAD = {
    "rows of a wrong length": ("csv", "x,y\n", "1\n", "", {}),
    "rows without a meaning": ("csv", "x,y\n", "1,2\n", "", {}),
    "bad values in rows": ("csv", "x,y\n", "a,2\n", "", {"mapping": INTEGER}),
    "bad subjects of rows": ("csv", "x,y\n", "<,2\n", "", {"mapping": {"subject": "{+x}", "class": "urn:C"}}),
    "rows of several lines": ("csv", "y,x\n", '"a\nb",a\n', "", {"mapping": INTEGER}),
    "rows without a column": ("csv", "\n" * 500 + "x,y\n", "1,2\n", "", {"mapping": ABSENT}),
    "rows without a vocabulary": ("tsv", "x y\n", "1\n", "", {"vocab": "<"}),
    "bad lines of JSON": ("jsonl", "", '{"a": }\n', "", {}),
    "lines without a context": ("jsonl", "", '{"a": 1}\n', "", {}),
    "lines with NaN": ("jsonl", "", '{"a": NaN}\n', "", {}),
    "lines with a context elsewhere": ("jsonl", "", '{"@context": "http://x/", "a": 1}\n', "", {}),
    "lines that are no JSON-LD": ("jsonl", "", '{"@id": 5}\n', "", {}),
    "records in a line": ("xml", "<a>", "<r><x>a</x></r>", "</a>", {"mapping": {"records": "/a/r", **INTEGER}}),
    "records in lines": ("xml", "<a>", "<r>\n<x>a</x></r>\n", "</a>", {"mapping": {"records": "/a/r", **INTEGER}}),
    "envelopes in a line": ("cloudevents-batch", "[", '{"id": "1"},', "1]", {}),
    "envelopes in lines": ("cloudevents-batch", "[", '{"id":\n"1"},\n', "1]", {}),
}
GOOD = {
    "rows": ("csv", "x,y\n", "1,2\n", "", {"mapping": INTEGER}),
    "lines": ("jsonl", "", '{"a": 1}\n', "", {"vocab": "urn:"}),
    "records": ("xml", "<a>", "<r><x>1</x></r>", "</a>", {"mapping": {"records": "/a/r", **INTEGER}}),
    "messages": ("ttl", "", "<urn:a> <urn:b> 1 .\n# @message\n", "", {}),
    "comments that are in one line": ("ttl", "", "# @message\r", "", {}),
}


def work(name, count):
    """Return how many characters are looked at while so many records are read and their faults are shown."""
    syntax, opening, record, closing, options = {**BAD, **GOOD}[name]
    text = Counting(opening + record * count + closing)
    faults = []
    options = Options(**options, on_fault=faults.append, limits=Limits(faults=10_000))
    members = list(_Payload(Source.of(text), media_of(syntax), options).members())
    assert len(faults) >= count if name in BAD else members
    shown = [str(fault) for fault in faults]
    assert all("\n  " in each for each in shown)
    return text.scanned


@pytest.mark.parametrize("name", [*BAD, *GOOD])
def test_twice_the_records_are_twice_the_work(name):
    assert work(name, 800) <= 2.2 * work(name, 400)


def test_places_are_those_of_the_text():
    text = "ab\n\ncd\n"
    lines = Lines(text)
    expected = [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3), (4, 1)]
    for order in (range(8), reversed(range(8)), (7, 0, 4, 4, 2, 5, 3)):
        for offset in order:
            assert lines.place(offset) == expected[offset]
    for line in (3, 1, 4, 2, 9, 0):
        assert lines[line] == text.split("\n")[min(max(line, 1), 4) - 1]


def test_the_last_fault_says_how_many_more_there_were():
    faults = []
    events = list(Event.read_stream("x,y\n" + "1\n" * 1_500 + "1,2\n", "csv", vocab="urn:", on_fault=faults.append))
    assert len(events) == 1
    assert len(faults) == 1_001
    with pytest.raises(LimitError, match="500 more records cannot be read: the limit is faults = 1,000"):
        raise faults[-1]


def test_a_long_value_is_looked_for_as_one_number(monkeypatch):
    asked = []
    monkeypatch.setattr(json_text, "_number", lambda text, number=json_text._number: asked.append(text) or number(text))
    value = "1" * 1_000 + "x"
    assert json_text.find_scalar(Source.of(str(list(range(500)))), value) is None
    assert asked.count(value) == 1


def test_a_context_line_is_not_read_again_without_end():
    faults = []
    context = '{"@context": {' + ",".join(f'"t{i}": "urn:{i}"' for i in range(1_000)) + "}}\n"
    lines = context + "{}\n" * 50 + '{"a": "' + "x" * 1_100 + '"}\n'
    events = Event.read_stream(lines, "jsonl", on_fault=faults.append, limits=Limits(context_work=30_000))
    assert len(list(events)) == 28
    assert len(faults) == 23
    assert "context lines cause 30," in str(faults[0])
