"""Tests of single components, declared without an engine."""
