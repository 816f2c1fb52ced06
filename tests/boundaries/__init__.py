"""Tests of the house itself: who imports whom, where things stand, and what must not be committed."""
