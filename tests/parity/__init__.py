"""Holds the declared platform against the upstream release's facts; every accepted difference carries its reason."""
