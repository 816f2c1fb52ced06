"""Checks of S3-compatible object stores."""

from __future__ import annotations

from ops.doctor.network import REACH
from ops.doctor.object_store.access import anonymous, policy
from ops.doctor.object_store.buckets import buckets, lifecycle, versioning
from ops.doctor.object_store.login import clock, login
from ops.doctor.object_store.objects import multipart, objects

STORE = (*REACH, clock, login, buckets, objects, multipart, policy, anonymous, versioning, lifecycle)
"""What is checked of a store and its buckets."""
