"""What the names in a rule stand for: prefixes, variables, and the rules that it may extend."""

from __future__ import annotations

from collections.abc import Mapping

from ontosub.languages.mdv.source import Source
from ontosub.languages.mdv.syntax import Declaration, Extension, Iri, Name, Rule, Text, VariableName
from ontosub.model.errors import Span
from ontosub.model.pattern import GraphPattern
from ontosub.model.subscription import Subscription
from ontosub.model.terms import DAML, OWL, RDF, RDFS, XSD, NamedNode, Variable

WELL_KNOWN: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL, "daml": DAML}


def rule_name(extension: Extension) -> str | None:
    """Return the name of the rule that the extension may be: a bare or a quoted name, never a prefixed one."""
    match extension:
        case Text(value):
            return value
        case Name(None, local):
            return local
        case _:
            return None


class Scope:
    """The names that one rule can use. A text's own prefixes win over those given, and those over the well-known."""

    def __init__(
        self,
        rule: Rule,
        source: Source,
        prefixes: Mapping[str, str] | None = None,
        rules: Mapping[str, Subscription] | None = None,
    ) -> None:
        self.source = source
        self._prefixes = {**WELL_KNOWN, **(prefixes or {}), **_declared(rule.prefixes)}
        self._rules = rules or {}
        self._resolved: dict[Name | Iri, NamedNode] = {}
        self._variables: dict[str, Variable] = {}
        for search in rule.searches:
            self._declare(search.variable)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The search variables, in the order of their declaration."""
        return tuple(self._variables.values())

    def variable(self, name: VariableName) -> Variable:
        """Return the search variable of that name, which must be declared."""
        found = self._variables.get(name.value)
        if found is None:
            hint = f"Declare it in the search part: search SomeClass {name.value}; a resource is written :{name.value}."
            raise self.source.error(f'variable "{name.value}" is not declared', name.span, hint)
        return found

    def resource(self, name: Name | Iri) -> NamedNode:
        """Return the resource that a name or an IRI stands for; a bare name resolves in the default prefix."""
        found = self._resolved.get(name)
        if found is None:
            iri = name.value if isinstance(name, Iri) else self._namespace(name) + name.local
            found = self._resolved[name] = self._node(iri, name.span)
        return found

    def extension(self, extension: Extension) -> NamedNode | tuple[GraphPattern, ...]:
        """Return the class that an extension is, or the patterns of the rule that it is."""
        name = rule_name(extension)
        if name is not None and name in self._rules:
            return self._patterns(self._rules[name], name, extension.span)
        if isinstance(extension, Text):
            known = ", ".join(sorted(self._rules)[:10]) or "none"
            raise self.source.error(f"there is no rule {name!r}", extension.span, f"The rules known are: {known}.")
        return self.resource(extension)

    def _declare(self, name: VariableName) -> None:
        if name.value in self._variables:
            hint = "Give each extension a variable of its own, and compare them: a = b."
            raise self.source.error(f'variable "{name.value}" is declared twice', name.span, hint)
        try:
            self._variables[name.value] = Variable(name.value)
        except ValueError:
            hint = "A variable is made of letters, digits and _."
            raise self.source.error(f'"{name.value}" is not a variable', name.span, hint) from None

    def _namespace(self, name: Name) -> str:
        prefix = name.prefix or ""
        namespace = self._prefixes.get(prefix)
        if namespace is None:
            hint = f"Declare it, for example: PREFIX {prefix}: <http://example.org/schema#>."
            raise self.source.error(f'prefix "{prefix}" is not declared', name.span, hint)
        return str(namespace)

    def _node(self, iri: str, span: Span | None) -> NamedNode:
        try:
            return NamedNode(iri)
        except ValueError as error:
            hint = "Write an absolute IRI, for example <http://example.org/schema#memory>."
            raise self.source.error(f"<{iri}> is not an IRI: {error}", span, hint) from None

    def _patterns(self, extended: Subscription, name: str, span: Span | None) -> tuple[GraphPattern, ...]:
        if extended.residual is not None or not all(map(_registers_one, extended.patterns)):
            hint = "Extend a subscription that was parsed from MDV."
            raise self.source.error(f"{name!r} is not a rule that registers one variable", span, hint)
        return extended.patterns


def _declared(declarations: tuple[Declaration, ...]) -> dict[str, str]:
    return {declared.prefix: declared.iri.value for declared in declarations}


def _registers_one(pattern: GraphPattern) -> bool:
    """Say whether the pattern is of the kind that MDV rules compile to."""
    variables = set(pattern.variables)
    return (
        len(pattern.projected) == 1
        and variables.issuperset(pattern.projected)
        and all(variables.issuperset(each.variables) for each in pattern.filters)
        and all(isinstance(arc.property, NamedNode) for arc in pattern.arcs)
        and not pattern.injective
        and pattern.home is None
    )
