"""Declares the objects of a file, so that the engine and kubectl get literally the same."""
