"""Tests of what every component is made of."""
