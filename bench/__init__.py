"""Measures the engine against kubectl, side by side, and writes what it found into the docs."""
