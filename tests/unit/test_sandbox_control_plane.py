from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml

from sandbox import network
from sandbox.certificates import Pki
from sandbox.control_plane import PORTS, ControlPlane, ensure_certificates
from sandbox.layout import Layout


@pytest.fixture
def control_plane(tmp_path: Path) -> ControlPlane:
    layout = Layout(tmp_path)
    ports = {name: 20000 + index for index, name in enumerate(PORTS)}
    return ControlPlane(layout, Pki(layout.pki), ports)


def arguments(control_plane: ControlPlane) -> dict[str, list[str]]:
    return {
        "etcd": control_plane.etcd(),
        "kube-apiserver": control_plane.apiserver(),
        "kube-controller-manager": control_plane.controller_manager(),
        "kube-scheduler": control_plane.scheduler(),
        "kwok": control_plane.kwok(),
    }


def test_every_listener_is_on_the_loopback_address(control_plane: ControlPlane) -> None:
    for name, given in arguments(control_plane).items():
        listening = [each for each in given if re.match(r"--(bind|listen|server-address)", each)]
        assert listening, name
        assert all("127.0.0.1" in each for each in listening)


def test_every_port_is_used_once(control_plane: ControlPlane) -> None:
    text = {name: " ".join(given) for name, given in arguments(control_plane).items()}
    for name in PORTS:
        assert str(control_plane.ports[name]) in text["etcd" if name == "etcd-peer" else name]


def test_api_server_authorizes_by_role_and_admits_with_the_defaults(control_plane: ControlPlane) -> None:
    given = control_plane.apiserver()
    assert "--authorization-mode=Node,RBAC" in given
    assert not any(each.startswith("--disable-admission-plugins") for each in given)
    assert f"--egress-selector-config-file={control_plane.egress_file}" in given


def test_configuration_is_written_for_each_component(control_plane: ControlPlane) -> None:
    control_plane.layout.create()
    ensure_certificates(control_plane.pki)
    control_plane.write_configuration()
    egress = yaml.safe_load(control_plane.egress_file.read_text())
    selection = egress["egressSelections"][0]
    assert selection["name"] == "cluster"
    assert selection["connection"]["transport"]["uds"]["udsName"] == str(control_plane.layout.egress_socket)
    for name in ("controller-manager", "scheduler", "admin"):
        kubeconfig = yaml.safe_load(control_plane.kubeconfig_file(name).read_text())
        assert kubeconfig["clusters"][0]["cluster"]["server"] == control_plane.server
    control_plane.layout.runtime.rmdir()


def test_address_ranges_do_not_overlap() -> None:
    ranges = [
        ip_network(each)
        for each in (network.SERVICE_CIDR, network.NODE_CIDR, network.POD_CIDR, network.PROCESS_POD_CIDR)
    ]
    assert not any(one.overlaps(other) for one in ranges for other in ranges if one is not other)


def test_node_addresses_leave_out_what_is_taken() -> None:
    addresses = network.free_node_addresses(["10.128.0.2"])
    assert [next(addresses), next(addresses)] == ["10.128.0.3", "10.128.0.4"]


def test_socket_path_stays_short_however_deep_the_folder(tmp_path: Path) -> None:
    assert len(str(Layout(tmp_path / ("x" * 200)).egress_socket)) < 100


def test_each_folder_has_sockets_of_its_own() -> None:
    assert Layout(Path("/a/one")).runtime != Layout(Path("/a/two")).runtime
