"""Which Java runs Kafka: this machine's if it is new enough, else the runtime that a Python package carries."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

OLDEST = 17
_PROBE_SECONDS = 30


@cache
def found() -> bool:
    """Tell whether PATH has a Java that Kafka runs on."""
    program = shutil.which("java")
    if program is None:
        return False
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.search(r'version "(\d+)', done.stderr + done.stdout)
    return version is not None and int(version[1]) >= OLDEST
