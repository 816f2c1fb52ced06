"""Databases, events and the object store: what the platform keeps its state in."""
