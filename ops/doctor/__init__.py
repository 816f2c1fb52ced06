"""Checks everything an environment stands on before anything is applied to it."""
