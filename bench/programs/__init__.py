"""Pulumi programs that exist to be measured."""
