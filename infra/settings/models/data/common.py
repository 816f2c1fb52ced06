"""What databases, events and object stores have in common: credentials by reference, TLS and where servers are."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.scalars import DnsLabel, DnsName, Noun, Text

Installed: TypeAlias = Literal["install", "present"]
"""Who brings an operator: Flotilla installs its chart, or the platform has it and Flotilla only uses it."""

TlsMode: TypeAlias = Literal["disable", "require", "verify-ca", "verify-full"]
"""How a connection is protected; the words are PostgreSQL's."""

Port = Annotated[int, Field(ge=1, le=65_535), Noun("port")]
"""TCP port."""

DataKey = Annotated[
    str, Text(r"[A-Za-z0-9][-A-Za-z0-9_.]*", 253, "key of a Secret or ConfigMap", "Write one such as ca.crt")
]
"""Key of an entry in a Secret or ConfigMap."""


class SecretRef(Section):
    """A user's name and password, in a Secret that exists in the cluster: values hold no secrets."""

    secret: DnsName
    """Name of the Secret, made by External Secrets or by hand."""

    namespace: DnsLabel = "kubeflow"
    """Namespace of the Secret."""

    username_key: DataKey = "username"
    """Key of the user's name."""

    password_key: DataKey = "password"  # noqa: S105 - the name of a key
    """Key of the password."""


class CaRef(Section):
    """Certificates of the authorities that signed a server's certificate."""

    kind: Literal["secret", "configMap"] = "secret"
    """What holds them."""

    name: DnsName
    """Name of the Secret or ConfigMap."""

    namespace: DnsLabel = "kubeflow"
    """Namespace in which `flotilla doctor` reads it. Pods mount it in their own: those of another namespace need a copy
    of the same name there."""

    key: DataKey = "ca.crt"
    """Key of the certificates, in PEM."""


class Tls(Section):
    """How connections to a server are protected."""

    mode: TlsMode
    """`disable` sends everything in the clear; `require` encrypts and trusts whoever answers; `verify-ca` wants
    a certificate of the authority; `verify-full` wants the server's name in it too."""

    ca: CaRef | None = None
    """Authority that the server's certificate must come from; needed by `verify-ca` and `verify-full`."""

    system_roots: bool = False
    """Trust the authorities that clients' images bring, instead of `ca`: for servers with a public certificate."""

    client_certificate: DnsName | None = None
    """Secret with `tls.crt` and `tls.key` that clients present, in their own namespace; none by default."""


class HostPort(Section):
    """Where a server listens."""

    host: DnsName
    """Host name or address."""

    port: Port
    """TCP port."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
