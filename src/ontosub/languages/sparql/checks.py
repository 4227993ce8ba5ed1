"""What the grammar cannot say: which variables are visible where, and what may not be named twice.

One pass over the tree, inside out: the check of a pattern returns the variables that are visible after it (SPARQL
1.2, section 18.2.1). Beyond the specification, a variable that is asked for must be visible: an answer that can
never have a value is a slip of the pen.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import (
    Aggregate,
    Ask,
    Bind,
    Block,
    Construct,
    Describe,
    Element,
    Exists,
    Expression,
    Filter,
    Graph,
    Group,
    Minus,
    Occurrence,
    Optional,
    Pattern,
    Projected,
    Query,
    Select,
    Union,
    Values,
    is_grouped,
    occurrences_in,
    operands_of,
    variable_of,
)
from ontosub.model.errors import LanguageError
from ontosub.model.terms import BlankNode, Variable

Visible = dict[Variable, None]
"""A set that remembers in which order the text brings the variables up."""


def check(query: Query, source: Source) -> None:
    """Refuse a query that is well formed but breaks a rule."""
    _Checker(source).query(query)


def visible_variables(pattern: Pattern) -> tuple[Variable, ...]:
    """Return the variables that are visible after a pattern that was checked, in order of appearance."""
    return tuple(_Checker(Source("")).pattern(pattern))


class _Checker:
    """Holds what is known of the whole query: the basic graph pattern that each blank-node label belongs to."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._label_home: dict[BlankNode, int] = {}
        self._patterns = count()

    def query(self, query: Query) -> None:
        """Check a query as a whole."""
        if isinstance(query, Select):
            self.select(query)
            return
        inner = self.pattern(query.where) if query.where is not None else {}
        grouped = is_grouped(query)
        keys = self._modifiers(query, inner, grouped)
        visible = (keys if grouped else inner) | self._values(query.values)
        match query:
            case Construct(template=template):
                self._require(occurrences_in(template), visible, "the template uses {0}, which the pattern never binds")
            case Describe(targets=None) if grouped:
                raise self._source.error("DESCRIBE * cannot stand with GROUP BY", None, "Name what to describe.")
            case Describe(targets=targets):
                self._require(targets or (), visible, "unbound projection: {0} is not in the pattern")
            case Ask():
                pass

    def pattern(self, pattern: Pattern) -> Visible:
        """Check a pattern and return the variables that are visible after it."""
        return self.select(pattern) if isinstance(pattern, Select) else self._group(pattern)

    def _group(self, group: Group) -> Visible:
        visible: Visible = {}
        home = next(self._patterns)
        for element in group.elements:
            if isinstance(element, Block):
                self._labels(element, home)
            elif not isinstance(element, Filter):
                home = next(self._patterns)
            visible |= self._element(element, visible)
        return visible

    def _element(self, element: Element, before: Visible) -> Visible:
        match element:
            case Block(triples):
                return _variables(occurrences_in(triples))
            case Filter(expression):
                self._expression(expression)
                return {}
            case Minus(pattern):
                self.pattern(pattern)
                return {}
            case Optional(pattern):
                return self.pattern(pattern)
            case Graph(name, pattern):
                return _variables([name]) | self.pattern(pattern)
            case Union(branches):
                return _merged(self.pattern(branch) for branch in branches)
            case Bind(expression, variable):
                self._expression(expression)
                self._require_new(variable, before, "BIND")
                return _variables([variable])
            case Values():
                return self._values(element)
            case Group() | Select():
                return self.pattern(element)

    def select(self, select: Select) -> Visible:
        """Check a SELECT, at the top or inside, and return the variables that it gives."""
        inner = self.pattern(select.where)
        grouped = is_grouped(select)
        if select.projection is None:
            if grouped:
                hint = "Name the variables to select: the keys of GROUP BY, and aggregates as in (COUNT(?x) AS ?n)."
                raise self._source.error("SELECT * cannot stand with GROUP BY or aggregates", select.span, hint)
            self._modifiers(select, inner, grouped)
            return inner | self._values(select.values)
        keys = self._modifiers(select, inner, grouped)
        available = (keys if grouped else inner) | self._values(select.values)
        return self._projection(select.projection, inner, available, grouped)

    def _projection(
        self, projection: Iterable[Projected], inner: Visible, available: Visible, grouped: bool
    ) -> Visible:
        given: Visible = {}
        for item in projection:
            assert item.variable is not None  # noqa: S101 - only a key of GROUP BY may lack one
            if item.expression is None:
                self._require_projected(item.variable, inner, available)
            else:
                self._expression(item.expression, aggregates=True)
                if grouped:
                    self._require_grouped(item.expression, available | given)
                self._require_new(item.variable, inner | available, "AS")
            self._require_new(item.variable, given, "SELECT")
            given |= _variables([item.variable])
        return given

    def _require_projected(self, occurrence: Occurrence, inner: Visible, available: Visible) -> None:
        variable = variable_of(occurrence)
        if variable in available or variable is None:
            return
        if variable in inner:
            hint = f"Add it to GROUP BY, or aggregate it, for example: (SAMPLE({variable}) AS ?one)."
            raise self._source.error(f"{variable} is neither grouped nor aggregated", occurrence.span, hint)
        raise self._unbound(occurrence, "unbound projection: {0} is not in the pattern", available)

    def _require_grouped(self, expression: Expression, available: Visible) -> None:
        """Refuse a variable of an ungrouped solution outside of an aggregate."""
        waiting = [expression]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Occurrence):
                if (variable := variable_of(node)) is not None and variable not in available:
                    hint = "Add it to GROUP BY, or put it inside an aggregate such as MAX or SAMPLE."
                    raise self._source.error(f"{variable} is neither grouped nor aggregated", node.span, hint)
            elif not isinstance(node, Aggregate | Exists):
                waiting.extend(operands_of(node))

    def _modifiers(self, query: Query, visible: Visible, grouped: bool) -> Visible:
        """Check GROUP BY, HAVING and ORDER BY; return the variables that grouping leaves."""
        keys: Visible = {}
        for key in query.modifiers.group_by:
            if key.expression is not None:
                self._expression(key.expression)
            if key.variable is not None:
                if key.expression is not None:
                    self._require_new(key.variable, visible | keys, "AS")
                keys |= _variables([key.variable])
        for expression in query.modifiers.having:
            self._expression(expression, aggregates=True)
        for order in query.modifiers.order_by:
            self._expression(order.expression, aggregates=grouped)
        return keys

    def _values(self, values: Values | None) -> Visible:
        found: Visible = {}
        for variable in values.variables if values is not None else ():
            self._require_new(variable, found, "VALUES")
            found |= _variables([variable])
        return found

    def _expression(self, expression: Expression, *, aggregates: bool = False) -> None:
        """Check an expression, and the patterns of EXISTS inside it; say whether aggregates may stand in it."""
        waiting = [(expression, aggregates)]
        while waiting:
            node, allowed = waiting.pop()
            if isinstance(node, Exists):
                self.pattern(node.pattern)
            elif isinstance(node, Aggregate) and not allowed:
                hint = "Aggregates stand in SELECT, HAVING and ORDER BY, never inside each other."
                raise self._source.error(f"{node.name} cannot stand here", node.span, hint)
            else:
                inside = allowed and not isinstance(node, Aggregate)
                waiting.extend((operand, inside) for operand in operands_of(node))

    def _labels(self, block: Block, home: int) -> None:
        for occurrence in occurrences_in(block.triples):
            label = occurrence.term
            if isinstance(label, BlankNode) and self._label_home.setdefault(label, home) != home:
                hint = "A label holds inside one group, up to the next OPTIONAL, UNION or the like; use a variable."
                raise self._source.error(f"the blank node {label} was used in another group", occurrence.span, hint)

    def _require(self, wanted: Iterable[Occurrence], visible: Visible, message: str) -> None:
        for each in wanted:
            if isinstance(each.term, Variable) and each.term not in visible:
                raise self._unbound(each, message, visible)

    def _unbound(self, occurrence: Occurrence, message: str, visible: Visible) -> LanguageError:
        names = ", ".join(str(variable) for variable in list(visible)[:8]) or "none"
        return self._source.error(
            message.format(occurrence.term), occurrence.span, f"The variables that can be asked for here are: {names}."
        )

    def _require_new(self, occurrence: Occurrence, known: Visible, clause: str) -> None:
        if occurrence.term in known:
            hint = "Give the new value a name of its own." if clause in ("BIND", "AS") else "Name each variable once."
            raise self._source.error(f"{occurrence.term} in {clause} is already in use", occurrence.span, hint)


def _variables(occurrences: Iterable[Occurrence]) -> Visible:
    return {each.term: None for each in occurrences if isinstance(each.term, Variable)}


def _merged(parts: Iterable[Visible]) -> Visible:
    merged: Visible = {}
    for part in parts:
        merged |= part
    return merged
