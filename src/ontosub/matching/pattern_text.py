"""The algebra of a query in words, for people: short, and near to what the subscriber wrote.

`PatternText.step` writes one step of a node's spine (`query_spine`), `PatternText.group` all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ontosub.matching.query_spine import exists_in, extensions, is_having, spine
from ontosub.matching.showing import Show
from ontosub.model.algebra import (
    Aggregation,
    Alternative,
    Basic,
    Exclusion,
    Extend,
    Filter,
    Grouping,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    Path,
    PathPattern,
    Repetition,
    Selection,
    Sequence,
    Step,
    Unfolding,
    Union,
    Values,
    parts_of,
)
from ontosub.model.expression import Expression
from ontosub.model.pattern import Filter as Condition
from ontosub.model.pattern import GraphPattern
from ontosub.model.terms import Literal, NamedNode, Term, Variable
from ontosub.semantics.wording import Words, expression_text

TEXT_MAX = 200
"""How long the text of a step may be: what is longer is cut."""

_ROWS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class PatternText:
    """Writes parts of one query. `names` says how to write the variables that stand for aggregates."""

    show: Show
    names: Mapping[Variable, str]

    @classmethod
    def of(cls, node: Node, show: Show) -> PatternText:
        """Return how to write the parts of a node."""
        plain = cls(show, {})
        names: dict[Variable, str] = {}
        for part in parts_of(node):
            if isinstance(part, Aggregation):
                names[part.variable] = plain.aggregate(part)
            elif isinstance(part, Grouping):
                computed = (key for key in part.keys if key[0] != key[1] and key[0].value.startswith("ontosub"))
                names.update((variable, plain.expression(expression)) for variable, expression in computed)
        return replace(plain, names=names)

    @property
    def words(self) -> Words:
        """How the expressions of the query are written."""
        return Words(self.term, self.group)

    def term(self, term: Term | Variable) -> str:
        """Write a term, or a variable by what it stands for."""
        name = self.names.get(term) if isinstance(term, Variable) else None
        return self.show(term) if name is None else name

    def expression(self, expression: Expression) -> str:
        """Write an expression."""
        return expression_text(expression, words=self.words)

    def group(self, node: Node) -> str:
        """Write a whole pattern, in braces."""
        return f"{{ {self._inside(node)} }}"

    def brief(self, node: Node) -> str:
        """Write one step of the spine; a long one is cut."""
        return shortened(self.step(node))

    def step(self, node: Node) -> str:
        """Write one step of the spine, without what is below it."""
        match node:
            case Basic(pattern):
                return " . ".join(self._triples(pattern))
            case PathPattern(subject, path, object_):
                return f"{self.term(subject)} {self.path(path)} {self.term(object_)}"
            case Unfolding(term, subject, predicate, object_):
                return f"{self.term(term)} = <<( {self.term(subject)} {self.term(predicate)} {self.term(object_)} )>>"
            case Join(_, Basic() | PathPattern() | Unfolding() | Union() | Values() | Named() as right):
                return self.step(right)
            case Join(_, right):
                return self.group(right)
            case LeftJoin(_, right, conditions):
                return f"OPTIONAL {self.group(Filter(right, conditions) if conditions else right)}"
            case Union(branches):
                return " UNION ".join(map(self.group, branches))
            case Minus(_, right):
                return f"MINUS {self.group(right)}"
            case Filter(_, conditions):
                word = "HAVING" if is_having(node) else "FILTER"
                return " ".join(self.condition(word, each) for each in conditions)
            case Extend():
                return " ".join(map(self.extension, extensions(node)))
            case Values(variables, rows):
                return self._values(variables, rows)
            case Named(name, pattern):
                return f"GRAPH {self.term(name)} {self.group(pattern)}"
            case Grouping(_, keys, _):
                return f"GROUP BY {' '.join(map(self.key, keys))}" if keys else ""
            case Selection():
                return self.cut(node)

    def condition(self, word: str, condition: Condition) -> str:
        """Write a condition after FILTER or HAVING."""
        text = self.expression(condition.expression)
        return f"{word}({text})" if exists_in(condition.expression) is None else f"{word} {text}"

    def extension(self, node: Extend) -> str:
        """Write what BIND says, or SELECT."""
        return f"({self.expression(node.expression)} AS {self.term(node.variable)})"

    def key(self, key: tuple[Variable, Expression]) -> str:
        """Write what solutions are grouped by."""
        variable, expression = key
        if variable == expression:
            return self.term(variable)
        text = self.expression(expression)
        return f"({text})" if variable in self.names else f"({text} AS {self.term(variable)})"

    def cut(self, node: Selection) -> str:
        """Write which solutions a SELECT gives."""
        limit = [] if node.limit is None else [f"LIMIT {node.limit}"]
        return " ".join([*limit, *([f"OFFSET {node.offset}"] if node.offset else [])])

    def aggregate(self, aggregation: Aggregation) -> str:
        """Write an aggregate."""
        inner = "*" if aggregation.argument is None else self.expression(aggregation.argument)
        separator = aggregation.separator
        ending = "" if separator is None else f"; SEPARATOR={self.term(Literal(separator))}"
        return f"{aggregation.name}({'DISTINCT ' if aggregation.distinct else ''}{inner}{ending})"

    def path(self, path: Path) -> str:
        """Write a path; what is made of several paths is in parentheses."""
        match path:
            case Step(property_):
                return self.term(property_)
            case Inverse(inner):
                return f"^{self.path(inner)}"
            case Sequence(steps):
                return f"({'/'.join(map(self.path, steps))})"
            case Alternative(choices):
                return f"({'|'.join(map(self.path, choices))})"
            case Repetition(inner, least, is_open):
                return f"{self.path(inner)}{'?' if not is_open else '+' if least else '*'}"
            case Exclusion(forwards, backwards):
                steps_ = [*self._excluded("", forwards), *self._excluded("^", backwards)]
                return f"!({'|'.join(steps_)})"

    def _excluded(self, sign: str, properties: frozenset[NamedNode] | None) -> list[str]:
        return sorted(f"{sign}{self.term(each)}" for each in properties or ())

    def _inside(self, node: Node) -> str:
        texts: list[str] = []
        *_, last = nodes = spine(node)
        for each in nodes:
            if isinstance(each, Selection):
                projection = " ".join(map(self.term, each.projection))
                text = f"SELECT {projection} {{ {' '.join(texts)} }} {self.cut(each)}".rstrip()
                texts = [text if each is last else f"{{ {text} }}"]
            elif text := self.step(each):
                texts.append(text)
        return shortened(" ".join(texts))

    def _triples(self, pattern: GraphPattern) -> Iterator[str]:
        for vertex in pattern.vertices:
            for class_ in sorted(vertex.classes, key=str):
                yield f"{self.term(vertex.term)} a {self.term(class_)}"
        for arc in pattern.arcs:
            yield f"{self.term(arc.subject)} {self.term(arc.property)} {self.term(arc.object)}"

    def _values(self, variables: tuple[Variable, ...], rows: tuple[tuple[Term | None, ...], ...]) -> str:
        shown = [" ".join("UNDEF" if each is None else self.term(each) for each in row) for row in rows[:_ROWS_SHOWN]]
        brackets = "{}" if len(variables) == 1 else "({})"
        texts = [brackets.format(row) for row in shown] + (["…"] if len(rows) > _ROWS_SHOWN else [])
        return f"VALUES {brackets.format(' '.join(map(self.term, variables)))} {{ {' '.join(texts)} }}"


def shortened(text: str) -> str:
    """Return the start of a text that is too long to be read."""
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
