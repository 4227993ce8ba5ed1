"""CloudEvents 1.0: envelopes that give an event its id, time and type, around a payload in any other format.

Structured mode has attributes and data in one JSON object, binary mode has the attributes in headers (`ce-…` in HTTP,
`ce_…` in Kafka), batch mode has an array of structured events.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ontosub.formats import json_text
from ontosub.formats.limits import Limits
from ontosub.formats.mapping import instant
from ontosub.formats.media import JELLY, JSON, JSON_LD, Media, media_of
from ontosub.formats.source import Source, codec_of, encode
from ontosub.model.errors import FormatError, UsageError
from ontosub.model.interval import Interval

_REQUIRED = ("id", "source", "specversion", "type")


@dataclass(frozen=True, slots=True)
class Envelope:
    """A CloudEvent: what it says about the event, and the payload with its format; None when it has no data."""

    id: str
    type: str
    interval: Interval | None
    media: Media | None
    data: bytes | Source | None


def read_structured(source: Source, limits: Limits) -> Envelope:
    """Read a CloudEvent in the JSON event format."""
    value = json_text.load(source, limits)
    if not isinstance(value, dict):
        raise source.fault("a CloudEvent is a JSON object", 0, hint="An array of events is a batch.")
    entries = json_text.entries(source)
    attributes = {name: entry.value for name, entry in entries.items() if isinstance(entry.value, str)}

    def fault(message: str, name: str = "", hint: str | None = None) -> FormatError:
        where = entries[name].source if name in entries else source
        return where.fault(message, 0, max(1, len(where.text)) if name in entries else 1, hint=hint)

    _check(attributes, fault)
    content_type = attributes.get("datacontenttype", "application/json")
    media: Media | None = None
    data: bytes | Source | None = None
    if "data" in entries and "data_base64" in entries:
        raise fault("the event has both data and data_base64", "data_base64")
    if "data_base64" in entries:
        media, data = _media(content_type, fault), _base64(entries["data_base64"], fault)
    elif "data" in entries and entries["data"].source.text != "null":
        media = _media(content_type, fault)
        if media.format is JELLY:
            raise fault("Jelly is a binary format", "data", "Send it as data_base64.")
        data = _data(entries["data"], media)
    return Envelope(attributes["id"], attributes["type"], _time(attributes, fault), media, data)


def read_batch(source: Source, limits: Limits) -> list[Source]:
    """Return the CloudEvents of a batch, a JSON array, each still to be read."""
    if not isinstance(json_text.load(source, limits), list):
        raise source.fault("a batch of CloudEvents is a JSON array", 0, hint="A single event is structured mode.")
    return [item.source for item in json_text.items(source)]


def read_binary(data: bytes, headers: Mapping[str, str | bytes], media: Media | None) -> Envelope | None:
    """Read a CloudEvent whose attributes are in headers; None when the headers carry none.

    The format is `media` or, without it, what the content-type header says.
    """
    named = {name.lower(): _header(value) for name, value in headers.items()}
    attributes = {name[3:]: unquote(text) for name, text in named.items() if name.startswith(("ce-", "ce_"))}
    if not attributes:
        return None

    def fault(message: str, name: str = "", hint: str | None = None) -> FormatError:
        return FormatError(message, hint=hint, source=f"header ce-{name}" if name else "headers")

    _check(attributes, fault)
    content_type = named.get("content-type")
    if media is None and content_type is not None:
        media = media_of(content_type)
    if media is None and data:
        raise fault("the event has data but no content-type", hint="Send the content-type header with the event.")
    return Envelope(attributes["id"], attributes["type"], _time(attributes, fault), media, data or None)


def content_type_of(headers: Mapping[str, str | bytes] | None) -> str | None:
    """Return the content-type among the headers."""
    return next((_header(value) for name, value in (headers or {}).items() if name.lower() == "content-type"), None)


def _header(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _check(attributes: Mapping[str, str], fault: Any) -> None:
    missing = [name for name in _REQUIRED if not attributes.get(name)]
    if missing:
        plural = "attribute" if len(missing) == 1 else "attributes"
        raise fault(f"the CloudEvent lacks the {plural} {', '.join(missing)}", hint="All four are required, as texts.")
    if attributes["specversion"] != "1.0":
        raise fault(f"CloudEvents {attributes['specversion']!r} is not supported", "specversion", "Send version 1.0.")
    for name, value in attributes.items():
        try:
            encode(value)
        except FormatError:
            raise fault(f"the attribute {name} is not well-formed Unicode", name) from None


def _media(content_type: str, fault: Any) -> Media:
    try:
        media = media_of(content_type)
        codec_of(media.charset)
    except UsageError as error:
        raise fault(str(error), "datacontenttype") from None
    return media


def _time(attributes: Mapping[str, str], fault: Any) -> Interval | None:
    if "time" not in attributes:
        return None
    return instant(attributes["time"], lambda message: fault(message, "time", "Send an RFC 3339 time."))


def _data(entry: json_text.Entry, media: Media) -> Source:
    """Return the payload: JSON as it stands, anything else as the text that a JSON string spells."""
    if media.format in (JSON, JSON_LD) or not isinstance(entry.value, str):
        return entry.source
    return Source.of(json.loads(entry.source.text), "data of the CloudEvent")


def _base64(entry: json_text.Entry, fault: Any) -> bytes:
    try:
        return base64.b64decode(entry.value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise fault(f"data_base64 is not Base64: {error}", "data_base64") from None
