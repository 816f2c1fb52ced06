"""The `flotilla capacity` command: whether pools, quotas, jobs and money of an environment add up."""
