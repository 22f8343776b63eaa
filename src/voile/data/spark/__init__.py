"""Tables of Spark, counted in the cluster and streamed from it."""
