"""The programs the sandbox runs on: from PATH where their version fits, else built from Go modules."""

from sandbox.tools.progress import Progress, Silent
from sandbox.tools.toolchain import Toolchain

__all__ = ["Progress", "Silent", "Toolchain"]
