"""Declares the training operator's schemas, outside the engine or as its resources."""
