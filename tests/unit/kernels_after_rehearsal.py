"""Run as a program: match the workloads of all benchmarks after a rehearsal, and print what was compiled for them."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from ontosub.bench.workload import PAYLOAD_FORMAT, Published
from ontosub.bench.workloads import WORKLOADS
from ontosub.matching import Matcher
from ontosub.matching.compiled.rehearsal import rehearse
from ontosub.matching.kernel_cache import kernels
from ontosub.model.errors import OntosubWarning

SUBSCRIPTIONS = 90


def compiled() -> set[tuple[str, str]]:
    return {
        (f"{kernel.py_func.__module__}.{kernel.py_func.__name__}", str(types))
        for kernel in kernels()
        for types in kernel.signatures
    }


def play(name: str, directory: Path) -> None:
    generate = WORKLOADS[name].generate
    small = partial(generate, triples=500) if name.startswith("lubm") else generate
    workload = small(SUBSCRIPTIONS, 2, 1)
    matcher = Matcher(workload.ontology, "compiled")
    for number, subscription in enumerate(workload.subscriptions):
        matcher.subscribe(subscription)
        if number % 30 == 0:
            match(matcher, workload.events)
    matcher.save(directory)
    for opened in (matcher, Matcher.open(directory)):
        match(opened, workload.events)
        opened.unsubscribe(workload.subscriptions[0].id)
        match(opened, workload.events)
        opened.merge()
        match(opened, workload.events)
        opened.stats()


def match(matcher: Matcher, events: list[Published]) -> None:
    for each in events:
        matcher.match(each.event)
        matcher.match_ids(each.event)
    table = pa.table(
        {
            "event_id": [each.event.id for each in events],
            "content_type": [PAYLOAD_FORMAT] * len(events),
            "payload": [each.payload for each in events],
        }
    )
    for bindings in (True, False):
        for encoded in (True, False):
            matcher.match_batch(table, bindings=bindings, encoded=encoded)


def main() -> None:
    warnings.simplefilter("ignore", OntosubWarning)
    rehearse()
    before = compiled()
    with TemporaryDirectory() as folder:
        for name in WORKLOADS:
            play(name, Path(folder, name))
    for kernel, types in sorted(compiled() - before):
        print(kernel, types)


if __name__ == "__main__":
    main()
