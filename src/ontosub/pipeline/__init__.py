"""The pipeline: from sources through the Spark stages to sinks, micro-batch by micro-batch, each delivered once."""
