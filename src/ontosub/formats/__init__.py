"""Payloads to events and back: RDF syntaxes, JSON, XML, CSV, CloudEvents.

Importing this package makes `Event.read` and `Event.read_stream` work.
"""

from ontosub.formats.event import read_event, read_stream
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.media import FORMATS, RDF_FORMATS, Format, Media, media_of, media_of_path
from ontosub.formats.rdf import read_quads, read_triples
from ontosub.formats.write import write, write_event
from ontosub.model import readers

__all__ = [
    "DEFAULT",
    "FORMATS",
    "RDF_FORMATS",
    "Format",
    "Limits",
    "Media",
    "media_of",
    "media_of_path",
    "read_event",
    "read_quads",
    "read_stream",
    "read_triples",
    "write",
    "write_event",
]

readers.register("event.read", read_event)
readers.register("event.stream", read_stream)
