"""Merging: several parts of the index into one that holds what stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.index.building import assemble
from ontosub.matching.compiled.index.entries import chosen, entries_of, joined
from ontosub.matching.compiled.index.holdings import chosen as chosen_of
from ontosub.matching.compiled.index.layout import CLASS, CLASS_FROM, CLASS_TO, DETAIL, HAS_CLASSES, HOW, Segment
from ontosub.matching.compiled.index.part import Part
from ontosub.matching.compiled.index.steps import graft, growing, laid_out

Array = NDArray[Any]


def merged(parts: Sequence[Part]) -> Part:
    """Return one part that holds what stands in all of them."""
    sets, set_from, set_bits = _class_sets([part.segment for part in parts])
    trie = growing(sum(len(part.segment.nodes) for part in parts))
    found, offset = [], 0
    kept = [np.flatnonzero(~part.gone) for part in parts]
    for part, asked, keep in zip(parts, sets, kept, strict=True):
        entries = entries_of(part.segment)
        stays = ~part.gone[part.subscription_of[entries.pattern]]
        if not stays.all():
            entries = chosen(entries, np.flatnonzero(stays))
        where = graft(trie, part.segment.nodes, asked, np.unique(entries.leaf))
        number = np.cumsum(np.repeat(~part.gone, np.diff(part.pattern_from))) - 1 + offset
        found.append(entries._replace(leaf=where[entries.leaf], pattern=number[entries.pattern].astype(np.int32)))
        offset += int(np.diff(part.pattern_from)[keep].sum())
    laid, numbers = laid_out(trie, set_from, set_bits)
    entries = joined(found)
    segment = assemble(laid, set_from, set_bits, entries._replace(leaf=numbers[entries.leaf]))
    counts = np.concatenate([np.diff(part.pattern_from)[keep] for part, keep in zip(parts, kept, strict=True)])
    order = np.concatenate([part.order[keep] for part, keep in zip(parts, kept, strict=True)])
    holding = chosen_of((part.holding, keep) for part, keep in zip(parts, kept, strict=True))
    kind = np.concatenate([part.kind[keep] for part, keep in zip(parts, kept, strict=True)])
    one = Part(segment, holding, np.concatenate([[0], np.cumsum(counts)]), order, kind)
    one.matches = np.concatenate([part.matches[keep] for part, keep in zip(parts, kept, strict=True)])
    one.visits_before = np.concatenate([part.costs()[0][keep] for part, keep in zip(parts, kept, strict=True)])
    return one


def _class_sets(segments: Sequence[Segment]) -> tuple[list[Array], Array, Array]:
    """Return, for each node of each segment, the number of the classes that it asks for; and these sets of classes.

    A set of one class has the number of that class.
    """
    singles = 1 + max((int(segment.nodes[:, CLASS].max()) for segment in segments), default=0)
    larger: dict[tuple[int, ...], int] = {}
    numbers = []
    for segment in segments:
        asked = segment.nodes[:, CLASS].copy()
        for node in np.flatnonzero(segment.nodes[:, HOW] & HAS_CLASSES).tolist():
            row = segment.details[segment.nodes[node, DETAIL]]
            bits = (int(asked[node]), *segment.classes[row[CLASS_FROM] : row[CLASS_TO]].tolist())
            asked[node] = larger.setdefault(bits, singles + len(larger))
        numbers.append(asked)
    lists = [(bit,) for bit in range(singles)] + list(larger)
    starts = np.concatenate([[0], np.cumsum([len(bits) for bits in lists])])
    return numbers, starts.astype(np.int32), np.array([bit for bits in lists for bit in bits], np.int32)
