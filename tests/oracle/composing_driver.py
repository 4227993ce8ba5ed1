"""A program that a test kills: it composes a folder of matches into files, one file in each micro-batch.

When it has written the micro-batch that it is told, and before that is committed, it waits until its input ends.
"""

import pickle
import sys
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame

from ontosub.spark import MATCHES, compose, session


def main(folder: Path, last: int) -> None:
    composites, lateness = pickle.loads((folder / "case").read_bytes())
    spark = session({"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}, master="local[1]")
    frame = spark.readStream.schema(MATCHES).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    stage = compose(composites, lateness=timedelta(microseconds=lateness), shards=2)

    def write(detections: DataFrame, number: int) -> None:
        detections.write.mode("overwrite").parquet(str(folder / "out" / str(number)))
        if number == last:
            print(number, "is written", flush=True)
            sys.stdin.read()

    writer = frame.transform(stage).writeStream.foreachBatch(write)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
