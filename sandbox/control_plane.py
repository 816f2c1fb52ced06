"""What the control plane's processes are started with: certificates, configuration files, arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from sandbox import network
from sandbox.certificates import CertificateSpec, Pki
from sandbox.files import write_private
from sandbox.kubeconfig import Credential, Kubeconfig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.layout import Layout
    from sandbox.users import User

CLUSTER_CA = "ca"
FRONT_PROXY_CA = "front-proxy-ca"
ETCD_CA = "etcd-ca"
"""Apart from the cluster's authority, whose certificates the API server signs for anyone it approves."""

ADMIN = "admin"
SERVICE_ACCOUNT_KEY = "service-account"
ISSUER = "https://kubernetes.default.svc.cluster.local"

_LOOPBACK = "127.0.0.1"
_LOCAL_HOSTS = ("localhost", _LOOPBACK)
_API_HOSTS = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    *_LOCAL_HOSTS,
    network.API_SERVICE_ADDRESS,
    network.CONTROL_PLANE_ADDRESS,
)

CERTIFICATES = (
    CertificateSpec(name="etcd", authority=ETCD_CA, common_name="etcd", hosts=_LOCAL_HOSTS),
    CertificateSpec(name="etcd-client", authority=ETCD_CA, common_name="kube-apiserver"),
    CertificateSpec(name="apiserver", authority=CLUSTER_CA, common_name="kube-apiserver", hosts=_API_HOSTS),
    CertificateSpec(
        name="apiserver-kubelet-client",
        authority=CLUSTER_CA,
        common_name="kube-apiserver-kubelet-client",
        organizations=("system:masters",),
    ),
    CertificateSpec(name="kubelet", authority=CLUSTER_CA, common_name="system:node:sandbox", hosts=_LOCAL_HOSTS),
    CertificateSpec(name="front-proxy-client", authority=FRONT_PROXY_CA, common_name="front-proxy-client"),
    CertificateSpec(
        name="controller-manager",
        authority=CLUSTER_CA,
        common_name="system:kube-controller-manager",
        hosts=_LOCAL_HOSTS,
    ),
    CertificateSpec(name="scheduler", authority=CLUSTER_CA, common_name="system:kube-scheduler", hosts=_LOCAL_HOSTS),
    CertificateSpec(name=ADMIN, authority=CLUSTER_CA, common_name="flotilla-admin", organizations=("system:masters",)),
)

PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def ensure_certificates(pki: Pki) -> bool:
    """Create what is missing, renew what nears its end; return whether an authority was replaced."""
    replaced = [pki.ensure_authority(name) for name in (CLUSTER_CA, FRONT_PROXY_CA, ETCD_CA)]
    for spec in CERTIFICATES:
        pki.ensure(spec)
    pki.ensure_key_pair(SERVICE_ACCOUNT_KEY)
    return any(replaced)


@dataclass(frozen=True)
class ControlPlane:
    """The argument lists of the five programs, for one sandbox.

    Args:
        layout: where the sandbox keeps its files.
        pki: its certificates.
        ports: its port for each of `PORTS`.

    """

    layout: Layout
    pki: Pki
    ports: dict[str, int]

    @property
    def server(self) -> str:
        """The API server's address on this machine."""
        return f"https://{_LOOPBACK}:{self.ports['kube-apiserver']}"

    @property
    def token_file(self) -> Path:
        """The users' tokens, as the API server reads them."""
        return self.layout.config / "tokens.csv"

    @property
    def egress_file(self) -> Path:
        """How the API server reaches Services, pods and nodes."""
        return self.layout.config / "egress.yaml"

    @property
    def stages_file(self) -> Path:
        """How kwok simulates nodes and pods."""
        return self.layout.config / "stages.yaml"

    def kubeconfig_file(self, name: str) -> Path:
        """Return the kubeconfig of one component."""
        return self.layout.config / f"{name}.kubeconfig"

    def write_configuration(self) -> None:
        """Write the components' kubeconfigs and the egress configuration."""
        for name in ("controller-manager", "scheduler", ADMIN):
            credential = Credential(certificate=self.pki.certificate(name), key=self.pki.key(name))
            content = Kubeconfig(
                cluster="sandbox",
                server=self.server,
                authority=self.pki.certificate(CLUSTER_CA),
                contexts={name: credential},
            )
            write_private(self.kubeconfig_file(name), content.render())
        egress = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [
                {
                    "name": "cluster",
                    "connection": {
                        "proxyProtocol": "HTTPConnect",
                        "transport": {"uds": {"udsName": str(self.layout.egress_socket)}},
                    },
                }
            ],
        }
        write_private(self.egress_file, yaml.safe_dump(egress, sort_keys=False))

    def people_kubeconfig(self, context: str, tokens: Mapping[User, str]) -> str:
        """Return the kubeconfig for people: the administrator's context, and `<context>/<user>` for each user."""
        admin = Credential(certificate=self.pki.certificate(ADMIN), key=self.pki.key(ADMIN))
        users = {f"{context}/{user.name}": Credential(token=token) for user, token in tokens.items()}
        return Kubeconfig(
            cluster=context,
            server=self.server,
            authority=self.pki.certificate(CLUSTER_CA),
            contexts={context: admin, **users},
        ).render()

    def etcd(self) -> list[str]:
        """Return etcd's arguments: one member, mutual TLS.

        It does not wait for the disk: killed processes lose nothing, and what a power cut takes `up` remakes.
        """
        client = f"https://{_LOOPBACK}:{self.ports['etcd']}"
        peer = f"https://{_LOOPBACK}:{self.ports['etcd-peer']}"
        return [
            "--name=sandbox",
            f"--data-dir={self.layout.etcd}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=sandbox={peer}",
            "--client-cert-auth=true",
            "--peer-client-cert-auth=true",
            *self._files("", trusted_ca=ETCD_CA, certificate="etcd"),
            *self._files("peer-", trusted_ca=ETCD_CA, certificate="etcd"),
            "--quota-backend-bytes=8589934592",
            "--unsafe-no-fsync=true",
            "--logger=zap",
            "--log-level=warn",
        ]

    def _files(self, prefix: str, *, trusted_ca: str, certificate: str) -> list[str]:
        return [
            f"--{prefix}trusted-ca-file={self.pki.certificate(trusted_ca)}",
            f"--{prefix}cert-file={self.pki.certificate(certificate)}",
            f"--{prefix}key-file={self.pki.key(certificate)}",
        ]

    def apiserver(self) -> list[str]:
        """Return the API server's arguments: default admission, RBAC, and the agent as its way to pods."""
        pki = self.pki
        return [
            f"--bind-address={_LOOPBACK}",
            f"--secure-port={self.ports['kube-apiserver']}",
            f"--advertise-address={network.CONTROL_PLANE_ADDRESS}",
            f"--tls-cert-file={pki.certificate('apiserver')}",
            f"--tls-private-key-file={pki.key('apiserver')}",
            f"--client-ca-file={pki.certificate(CLUSTER_CA)}",
            f"--token-auth-file={self.token_file}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            f"--etcd-servers=https://{_LOOPBACK}:{self.ports['etcd']}",
            f"--etcd-cafile={pki.certificate(ETCD_CA)}",
            f"--etcd-certfile={pki.certificate('etcd-client')}",
            f"--etcd-keyfile={pki.key('etcd-client')}",
            f"--service-cluster-ip-range={network.SERVICE_CIDR}",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={pki.folder / SERVICE_ACCOUNT_KEY}.pub",
            f"--service-account-signing-key-file={pki.key(SERVICE_ACCOUNT_KEY)}",
            f"--kubelet-client-certificate={pki.certificate('apiserver-kubelet-client')}",
            f"--kubelet-client-key={pki.key('apiserver-kubelet-client')}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--proxy-client-cert-file={pki.certificate('front-proxy-client')}",
            f"--proxy-client-key-file={pki.key('front-proxy-client')}",
            f"--requestheader-client-ca-file={pki.certificate(FRONT_PROXY_CA)}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--egress-selector-config-file={self.egress_file}",
            "--max-requests-inflight=3000",
            "--max-mutating-requests-inflight=1000",
            "--profiling=false",
        ]

    def controller_manager(self) -> list[str]:
        """Return the controller manager's arguments: all default controllers, with raised client limits."""
        kubeconfig = self.kubeconfig_file("controller-manager")
        return [
            *self._component("kube-controller-manager", "controller-manager", kubeconfig),
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self.pki.key(SERVICE_ACCOUNT_KEY)}",
            f"--root-ca-file={self.pki.certificate(CLUSTER_CA)}",
            f"--cluster-signing-cert-file={self.pki.certificate(CLUSTER_CA)}",
            f"--cluster-signing-key-file={self.pki.key(CLUSTER_CA)}",
            "--allocate-node-cidrs=true",
            f"--cluster-cidr={network.POD_CIDR}",
            f"--service-cluster-ip-range={network.SERVICE_CIDR}",
            "--concurrent-namespace-syncs=50",
            "--horizontal-pod-autoscaler-sync-period=5s",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ]

    def scheduler(self) -> list[str]:
        """Return the scheduler's arguments."""
        return [
            *self._component("kube-scheduler", "scheduler", self.kubeconfig_file("scheduler")),
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ]

    def _component(self, port: str, certificate: str, kubeconfig: Path) -> list[str]:
        return [
            f"--bind-address={_LOOPBACK}",
            f"--secure-port={self.ports[port]}",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--tls-cert-file={self.pki.certificate(certificate)}",
            f"--tls-private-key-file={self.pki.key(certificate)}",
            "--leader-elect=false",
            "--profiling=false",
        ]

    def kwok(self) -> list[str]:
        """Return kwok's arguments: every node that carries its annotation is its own."""
        return [
            f"--kubeconfig={self.kubeconfig_file(ADMIN)}",
            f"--config={self.stages_file}",
            f"--cidr={network.POD_CIDR}",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40",
            f"--server-address={_LOOPBACK}:{self.ports['kwok']}",
        ]
