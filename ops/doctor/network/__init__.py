"""Names, connections, certificates and clocks: what every target's checks begin with."""

from __future__ import annotations

from ops.doctor.network.certificates import tls
from ops.doctor.network.reach import dns, tcp

REACH = (dns, tcp, tls)
"""What comes before anything a server itself is asked."""
