"""Volumes of a team."""
