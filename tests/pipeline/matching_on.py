"""Run as a program: match events on a cluster, in batch and as a stream, and print who is notified of what.

python matching_on.py <master> <folder> <count>
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontosub import Matcher, Ontology, Subscription
from ontosub.spark import EVENTS, match, session
from ontosub.spark.schemas import ARROW_EVENTS
from pipeline.pipelines import FAST, ONTOLOGY, SUBSCRIPTIONS, event


def main(master: str, folder: Path, count: int) -> None:
    matcher = Matcher(Ontology.read(ONTOLOGY, format="text/turtle"))
    for name, rule in SUBSCRIPTIONS.items():
        matcher.subscribe(Subscription.parse(rule, id=name))
    matcher.save(folder / "index")
    (folder / "events").mkdir()
    events = pa.Table.from_pylist([event(number) for number in range(count)], schema=ARROW_EVENTS)
    pq.write_table(events, folder / "events" / "all.parquet")
    spark = session({**FAST, "spark.executor.memory": "512m"}, master=master)
    stage = match(None, folder / "index")
    told = spark.read.schema(EVENTS).parquet(str(folder / "events")).repartition(4).transform(stage)
    stream = spark.readStream.schema(EVENTS).parquet(str(folder / "events")).repartition(4).transform(stage)
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    writer.option("path", str(folder / "matches")).trigger(availableNow=True).start().awaitTermination()
    for frame in (told, spark.read.parquet(str(folder / "matches"))):
        pairs = [(row.subscription_id, row.event_id) for row in frame.collect()]
        sys.stdout.write(json.dumps(pairs) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
