"""The durable event log: what was published, in order, on disk, to be read from any place, any number of times.

    with EventLog(directory) as log:                 # the one writer
        log.append([{"event_id": "e1", "content_type": "text/turtle", "payload": b"…"}])

    log = EventLogReader(directory)                  # any number of readers
    for batch in log.read(log.start()): ...

An event's offset is its number in the log: 0, 1, 2, …
"""

from ontosub.event_log.faults import EventLogError
from ontosub.event_log.log import EventLog
from ontosub.event_log.reader import EventLogReader, Place
from ontosub.matching.batch import EVENTS

__all__ = ["EVENTS", "EventLog", "EventLogError", "EventLogReader", "Place"]
