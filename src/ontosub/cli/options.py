"""The options that commands share: what they are called, and what their help says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Ontologies: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--ontology",
        "-o",
        metavar="FILE|DIR",
        help="RDFS, OWL or DAML+OIL in any RDF syntax; repeat it for more. All of them make one ontology.",
    ),
]
Subscriptions: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--subscription",
        "-s",
        metavar="FILE|DIR",
        help="A subscription, composite or not, or a folder of them; repeat it for more. The file's name without "
        "extension is its id.",
    ),
]
Events: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(metavar="EVENT", help="Files or folders of events; - reads standard input."),
]
Folder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Also take what DIR/ontology, DIR/subscriptions and DIR/events hold."),
]
Language: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="sparql, ops, mdv or composite, when the extension (.rq, .sparql, .ops, .mdv, .composite) does not say.",
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The events' format: a media type, an extension or a short name. Needed for standard input.",
    ),
]
Context: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--context",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="A JSON-LD context for JSON events. Without it, x.json takes x.context.json beside it, if there is one.",
    ),
]
Mapping: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="How XML and CSV become RDF. Without it, x.csv takes x.mapping.json beside it, if there is one.",
    ),
]
Vocab: TypeAlias = Annotated[
    str | None,
    typer.Option("--vocab", metavar="IRI", help="Where the plain names of JSON, XML and CSV belong."),
]
Base: TypeAlias = Annotated[
    str | None, typer.Option("--base", metavar="IRI", help="What relative IRIs in events are relative to.")
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Take warnings as errors.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON lines.")]
