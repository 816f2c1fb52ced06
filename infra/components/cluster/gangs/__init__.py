"""Schedulers that start all pods of a job together."""
