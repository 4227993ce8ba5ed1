"""Runs attacks, each way to ask in a process of its own with limits on memory and processor time.

The driver loads everything once and then forks: a child has the kernels at hand and costs milliseconds. Names of
attacks come in on standard input, one on each line; one line of JSON about each goes out.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
from attack_list import ATTACKS, BATCH, IDS, INNOCENT, MATCH, Attack

from ontosub import Event, Matcher, Ontology, OntosubError, OntosubWarning, Subscription

MEMORY_MAX = 1_000_000_000
"""How much a child may take more than it starts with: a safety net, far above any budget."""
SECONDS_MAX = 10
"""How much processor time a child may take: a safety net as well. A budget ends an attack in a second or five."""
HOSTILE = "hostile"


def main(algorithm: str) -> None:
    """Serve until standard input ends."""
    warnings.simplefilter("ignore", OntosubWarning)
    _warm_up(algorithm)
    print("ready", flush=True)
    for line in sys.stdin:
        attack = ATTACKS[line.strip()]
        ways = (MATCH, IDS) if attack.has_graphs else (MATCH, IDS, BATCH)
        told: dict[str, dict[str, Any]] = {}
        for way in ways:
            told[way] = _forked(attack, algorithm, way)
            if "ended" in told[way]:
                break  # the attack has succeeded: no need to see it succeed again
        print(json.dumps(told), flush=True)


def _warm_up(algorithm: str) -> None:
    """Load, and if need be compile, what matching needs, so that no child pays for it."""
    attack = ATTACKS["path-without-a-visible-variable"]
    matcher = Matcher(Ontology(), algorithm)
    for name, text in INNOCENT.items():
        matcher.subscribe(Subscription.parse(text, "sparql", id=name))
    for way in (MATCH, IDS, BATCH):
        _asked(matcher, attack, way)


def _forked(attack: Attack, algorithm: str, way: str) -> dict[str, Any]:
    """Return what a child found, or how it ended."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        os.write(sending, json.dumps(_limited(attack, algorithm, way)).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"ended": f"killed by {signal.Signals(os.WTERMSIG(status)).name}"}
    result: dict[str, Any] = json.loads(told) if told else {"ended": f"exit code {os.WEXITSTATUS(status)}"}
    return result


def _limited(attack: Attack, algorithm: str, way: str) -> dict[str, Any]:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_MAX, held + MEMORY_MAX))
    used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_SELF).ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS_MAX, used + SECONDS_MAX + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        return _attacked(attack, algorithm, way)
    except BaseException as error:
        return {"ended": f"raises {type(error).__name__}: {str(error)[:200]}"}


def _attacked(attack: Attack, algorithm: str, way: str) -> dict[str, Any]:
    matcher = Matcher(Ontology.read(attack.ontology, format="application/n-triples"), algorithm)
    told: dict[str, Any] = {"refused": None}
    try:
        matcher.subscribe(Subscription.parse("PREFIX : <urn:> " + attack.query, "sparql", id=HOSTILE))
    except OntosubError as error:
        told["refused"] = str(error).splitlines()[0][:200]
    for name, text in INNOCENT.items():
        matcher.subscribe(Subscription.parse(text, "sparql", id=name))
    try:
        found = _asked(matcher, attack, way)
    except OntosubError as error:
        return told | {"event_refused": str(error).splitlines()[0][:200]}
    return told | {"found": sorted(found), "over_budget": sorted(matcher.over_budget)}


def _asked(matcher: Matcher, attack: Attack, way: str) -> set[str]:
    payload = attack.payload()
    if way == BATCH:
        columns = {"event_id": ["e"], "content_type": ["application/n-triples"], "payload": [payload.encode()]}
        result = matcher.match_batch(pa.table(columns))
        if result.matches.num_rows == 0 and result.rejects.num_rows:
            raise OntosubError(result.rejects["reason"][0].as_py())
        return set(result.matches["subscription_id"].to_pylist())
    event = Event.read(payload, "application/n-quads", id="e", dataset=True)
    if way == IDS:
        return set(matcher.match_ids(event))
    return {match.subscription_id for match in matcher.match(event)}


if __name__ == "__main__":
    main(sys.argv[1])
