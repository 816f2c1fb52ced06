"""The object store: what runs it, its buckets, and what its users read."""
