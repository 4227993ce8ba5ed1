"""Profiles after the iBroker paper, section IV: up to six triples; one in ten has values, one in ten only types.

A profile walks the ontology from a class along properties whose domain fits, so that what it asks for can exist. Wider
classes and properties are as likely as narrow ones: most profiles need the hierarchies to be answered.
"""

from __future__ import annotations

import random
from functools import cache

from ontosub.bench.workloads.lubm.ontology import UB, class_tree, property_table
from ontosub.model import Subscription

TRIPLES_MAX = 6
VALUE_SHARE = TYPE_ONLY_SHARE = 0.1
NAMED_KINDS = (
    "FullProfessor",
    "Lecturer",
    "Course",
    "UndergraduateStudent",
    "GraduateStudent",
    "Department",
    "Publication",
)
"""Kinds of things that documents call by kind and number."""
FANNING = frozenset({"member", "hasAlumnus"})
"""Properties with hundreds of values. Asked of anything but the start, they would ask for all pairs of members."""

RESIDUAL_TRIPLES_MAX = 3
OPTIONALS = ("ub:emailAddress", "ub:researchInterest", "ub:headOf", "ub:advisor", "ub:degreeFrom", "ub:teacherOf")
"""Properties that some things have and others do not."""
RESIDUAL_FORMS = (
    "SELECT * {{ {core} OPTIONAL {{ ?x0 {optional} ?more }} }}",
    "SELECT * {{ {core} OPTIONAL {{ ?x0 {optional} ?more }} OPTIONAL {{ ?x0 ub:name ?name }} }}",
    "SELECT * {{ {core} OPTIONAL {{ ?x0 {optional} ?more OPTIONAL {{ ?more ub:name ?name }} }} }}",
    "SELECT ?x0 {{ {core} OPTIONAL {{ ?x0 {optional} ?more }} FILTER(!BOUND(?more)) }}",
    "SELECT ?x0 (COUNT({counted}) AS ?count) {{ {core} }} GROUP BY ?x0 HAVING(COUNT({counted}) > {limit})",
    "SELECT (COUNT(DISTINCT ?x0) AS ?count) {{ {core} }} GROUP BY {counted} HAVING(COUNT(*) > {limit})",
    "SELECT ?x0 (MAX(STRLEN(STR({counted}))) AS ?longest) {{ {core} }} GROUP BY ?x0",
    "SELECT * {{ {core} FILTER NOT EXISTS {{ ?x0 {optional} ?more }} }}",
    "SELECT * {{ {core} MINUS {{ ?x0 {optional} ?more }} }}",
    "SELECT DISTINCT ?organization {{ {core} . ?x0 ub:worksFor/ub:subOrganizationOf+ ?organization }}",
)
"""The additions, each as likely as the others."""


def profile(id: str, chance: random.Random) -> Subscription:
    """Return a profile."""
    kind = chance.random()
    if kind < TYPE_ONLY_SHARE:
        triples = _types_only(chance)
    else:
        triples = _walk(chance, chance.randint(1, TRIPLES_MAX), valued=kind < TYPE_ONLY_SHARE + VALUE_SHARE)
    return Subscription.parse(f"PREFIX ub: <{UB}> SELECT * {{ {' . '.join(triples)} }}", "sparql", id=id)


def residual_profile(id: str, chance: random.Random) -> Subscription:
    """Return a short walk with an addition: OPTIONAL (4 in 10), an aggregate (3), negation (2), a path or order (1)."""
    walk = _walk(chance, chance.randint(1, RESIDUAL_TRIPLES_MAX), valued=False)
    counted = next((variable for variable in ("?x1", "?x0") if any(variable in triple for triple in walk)), "?x0")
    text = chance.choice(RESIDUAL_FORMS).format(
        core=" . ".join(walk), counted=counted, optional=chance.choice(OPTIONALS), limit=chance.randint(1, 20)
    )
    return Subscription.parse(f"PREFIX ub: <{UB}> {text}", "sparql", id=id)


def _types_only(chance: random.Random) -> list[str]:
    """Return type triples about one thing: a class, and maybe a wider one."""
    class_ = chance.choice(sorted(_above()))
    return [f"?x0 a ub:{name}" for name in dict.fromkeys([class_, chance.choice(_above()[class_])])]


def _walk(chance: random.Random, length: int, *, valued: bool) -> list[str]:
    """Return so many triples, or as many as there are ways to go: a class to start from, then properties."""
    above, table = _above(), property_table()
    start = chance.choice(sorted({domain for domain, _, _ in table.values()}))
    ways = [(0, name) for name in _properties(start)]
    triples = [f'?x0 ub:name "{_name(start, chance)}"'] if valued else []
    if len(triples) < length and chance.random() < 0.5:
        triples.append(f"?x0 a ub:{start}")
    vertices = 1
    while len(triples) < length and ways:
        subject, name = ways.pop(chance.randrange(len(ways)))
        triples.append(f"?x{subject} ub:{name} ?x{vertices}")
        if name in table:
            class_ = table[name][1]
            ways += [(vertices, other) for other in _properties(class_) if other not in FANNING]
            if len(triples) < length and chance.random() < 0.3:
                triples.append(f"?x{vertices} a ub:{chance.choice(above[class_])}")
        vertices += 1
    return triples


def _name(class_: str, chance: random.Random) -> str:
    """Return the name of something in the class, if documents name such things."""
    kinds = [kind for kind in NAMED_KINDS if class_ in _above()[kind]]
    return f"{chance.choice(kinds or NAMED_KINDS)}{chance.randrange(10)}"


def _properties(class_: str) -> list[str]:
    """Return the properties that a member of the class may have."""
    return [*(name for name, (domain, _, _) in property_table().items() if domain in _above()[class_]), "name"]


@cache
def _above() -> dict[str, list[str]]:
    """Return for each class itself and all classes above it, nearest first."""
    parent = {name: wider for wider, narrower in class_tree().items() for name in narrower}
    found = {}
    for name in {*parent, *class_tree()}:
        found[name] = [name]
        while found[name][-1] in parent:
            found[name].append(parent[found[name][-1]])
    return found
