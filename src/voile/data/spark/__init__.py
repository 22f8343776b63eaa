"""Tables of Spark: counted in the cluster, streamed from it."""
