"""From the tree of a rule to graph patterns: one for each alternative that its condition and its extensions allow."""

from __future__ import annotations

from itertools import product

from ontosub.languages.mdv.conjunction import Conjunction
from ontosub.languages.mdv.normal_form import Cost, alternatives, conjoin, cost
from ontosub.languages.mdv.scope import Scope
from ontosub.languages.mdv.syntax import Condition, Rule
from ontosub.model.pattern import GraphPattern
from ontosub.model.terms import NamedNode

LIMIT = Cost(alternatives=256, elements=20_000)
"""How large a rule may become; without it, rules that extend each other could double at every step."""


def compile_rule(rule: Rule, scope: Scope) -> tuple[GraphPattern, ...]:
    """Return the alternatives of a rule, without duplicates; each projects the registered variable only.

    Raises LanguageError when a name cannot be resolved or a predicate makes no sense, LimitError when the rule has
    more alternatives or elements than LIMIT, before any of them is built.
    """
    registered = scope.variable(rule.registered)
    extensions = [_members(scope.extension(search.extension)) for search in rule.searches]
    _check_cost(extensions, rule.condition, scope)
    conjuncts = alternatives(rule.condition) if rule.condition else [()]
    patterns: dict[GraphPattern, None] = {}
    for members, predicates in product(product(*extensions), conjuncts):
        conjunction = Conjunction(scope, registered)
        for search, member in zip(rule.searches, members, strict=True):
            conjunction.range_over(search, member)
        for predicate in predicates:
            conjunction.add(predicate)
        patterns[conjunction.pattern()] = None
    return tuple(patterns)


def _members(extension: NamedNode | tuple[GraphPattern, ...]) -> tuple[NamedNode | GraphPattern, ...]:
    return (extension,) if isinstance(extension, NamedNode) else extension


def _check_cost(
    extensions: list[tuple[NamedNode | GraphPattern, ...]], condition: Condition | None, scope: Scope
) -> None:
    searched = conjoin((Cost(len(members), sum(map(_size, members))) for members in extensions), LIMIT)
    total = searched & cost(condition, LIMIT) if condition else searched
    if total.exceeds(LIMIT):
        exceeded = (
            f"more than {LIMIT.alternatives:,} alternatives"
            if total.alternatives > LIMIT.alternatives
            else f"more than {LIMIT.elements:,} vertices, arcs and predicates"
        )
        hint = 'Split it into several rules: each "or" multiplies with the others that it is joined to by "and".'
        raise scope.source.limit(f"the rule expands to {exceeded}", None, hint)


def _size(member: NamedNode | GraphPattern) -> int:
    if isinstance(member, NamedNode):
        return 1
    return len(member.vertices) + len(member.arcs) + len(member.filters)
