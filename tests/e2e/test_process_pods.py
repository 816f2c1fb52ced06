"""What a process pod sees: its environment, files, token, and the other pods."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.objects import eventually
from tests.e2e.process_pods import Place

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.e2e


def test_server_gets_its_environment_volumes_user_and_token(place: Place) -> None:
    place.api.create(
        f"{place.path}/secrets",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "stringData": {"password": "s3cret"}},
    )
    reference = {"secretKeyRef": {"name": "login", "key": "password"}}
    place.serve(
        "web",
        container={
            "env": [
                {"name": "PASSWORD", "valueFrom": reference},
                {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "GREETING", "value": "I am $(PASSWORD)"},
            ],
            "volumeMounts": [
                {"name": "login", "mountPath": "/login"},
                {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 - the pod's own
            ],
        },
        volumes=[{"name": "login", "secret": {"secretName": "login"}}, {"name": "scratch", "emptyDir": {}}],
    )
    seen = json.loads(place.ask("web", "env"))
    assert seen["GREETING"] == "I am s3cret"
    assert seen["WHERE"] == place.pod("web")["status"]["podIP"]
    assert seen["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert place.ask("web", "") == "web"
    assert place.ask("web", "file/login/password") == "s3cret"
    account = "file/var/run/secrets/kubernetes.io/serviceaccount"
    assert place.ask("web", f"{account}/namespace") == place.name
    assert place.ask("web", f"{account}/token").count(".") == 2
    assert "BEGIN CERTIFICATE" in place.ask("web", f"{account}/ca.crt")
    assert place.ask("web", "write/tmp/x") == "1"
    assert not place.kubectl("get", "--raw", f"{place.path}/pods/http:web:8080/proxy/write/x").ok
    if os.geteuid() == 0:
        assert place.ask("web", "user") == "1234 0 [4321]"


def test_token_works_as_its_service_account_inside_the_pod(place: Place) -> None:
    code = """
import ssl, time, urllib.request, urllib.error
home = "/var/run/secrets/kubernetes.io/serviceaccount/"
context = ssl.create_default_context(cafile=home + "ca.crt")
request = urllib.request.Request("https://kubernetes.default.svc/api/v1/secrets")
request.add_header("Authorization", "Bearer " + open(home + "token").read())
try:
    urllib.request.urlopen(request, context=context, timeout=10)
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""
    place.run("client", code, restartPolicy="Never")
    eventually(lambda: place.pod("client")["status"].get("phase") == "Succeeded")
    user = f"system:serviceaccount:{place.name}:default"
    assert f'User \\"{user}\\" cannot list resource' in place.kubectl("logs", "client").text


def test_mounted_config_map_follows_changes(place: Place) -> None:
    path = f"{place.path}/configmaps"
    place.api.create(
        path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "old"}}
    )
    place.serve(
        "web",
        container={"volumeMounts": [{"name": "conf", "mountPath": "/conf"}]},
        volumes=[{"name": "conf", "configMap": {"name": "conf"}}],
    )
    assert place.ask("web", "file/conf/a") == "old"
    place.api.patch(f"{path}/conf", {"data": {"a": "new", "b": "more"}})
    eventually(lambda: place.ask("web", "file/conf/a") == "new")
    assert place.ask("web", "file/conf/b") == "more"


def test_logs_come_from_the_process_and_simulated_pods_say_they_have_none(place: Place) -> None:
    place.serve("web")
    assert place.kubectl("logs", "web").text.startswith("serving\n")
    assert place.kubectl("logs", "web", "--tail", "1").text.count("\n") <= 1
    place.run("pause", "", container={"image": "registry.k8s.io/pause:3.10", "command": ["/pause"]})
    place.until_ready("pause")
    assert "simulated" in place.kubectl("logs", "pause").text


def test_two_pods_with_the_same_port_reach_each_other_by_service_name(place: Place) -> None:
    place.serve("one")
    place.serve("two")
    place.expose("one")
    place.expose("two", port=8080)
    eventually(lambda: place.ask("one", "fetch/two:8080/") == "two")
    eventually(lambda: place.ask("two", f"fetch/one.{place.name}.svc.cluster.local/") == "one")
    address = place.pod("two")["status"]["podIP"]
    assert place.ask("one", f"fetch/{address}:8080/") == "two"
    assert place.ask("one", f"fetch/one.{place.name}/") == "one"


def test_service_is_reachable_from_the_api_server(place: Place) -> None:
    place.serve("web")
    place.expose("web")
    assert place.kubectl("get", "--raw", f"{place.path}/services/http:web:80/proxy/").text == "web"
