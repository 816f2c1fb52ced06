"""Node pools: their objects for each back end, and the autoscaler where it runs in the cluster."""
