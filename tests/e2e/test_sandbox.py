"""The sandbox is a real cluster: it schedules, authorizes, admits and limits as one."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from sandbox.agent.images import PYTHON
from tests.e2e.objects import deployment, eventually, namespace, pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.api import ApiClient
    from sandbox.cluster import Sandbox

pytestmark = pytest.mark.e2e


@pytest.fixture
def api(sandbox: Sandbox) -> Iterator[ApiClient]:
    with sandbox.api() as client:
        yield client


def test_nodes_are_ready_in_three_zones_with_gpus(sandbox: Sandbox) -> None:
    status = sandbox.status()
    assert status.running
    assert all(node.ready for node in status.nodes)
    assert len({node.zone for node in status.nodes}) == 3
    assert {node.zone for node in status.nodes if node.capacity.get("nvidia.com/gpu") == "8"} == {
        node.zone for node in status.nodes
    }


def test_deployment_of_simulated_pods_becomes_available(api: ApiClient) -> None:
    name = namespace(api)
    path = f"/apis/apps/v1/namespaces/{name}/deployments"
    api.create(path, deployment("web", 4))
    eventually(lambda: api.get(f"{path}/web")["status"].get("availableReplicas") == 4)


def test_pods_of_a_job_complete_while_others_go_on(api: ApiClient) -> None:
    name = namespace(api)
    template = {"spec": pod("job")["spec"] | {"restartPolicy": "Never"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": template}}
    api.create(f"/apis/batch/v1/namespaces/{name}/jobs", job)
    pods = f"/api/v1/namespaces/{name}/pods"
    api.create(pods, pod("service"))
    eventually(lambda: bool(api.get(f"/apis/batch/v1/namespaces/{name}/jobs/job")["status"].get("succeeded")))
    assert api.get(f"{pods}/service")["status"]["phase"] == "Running"


def test_pod_asking_for_gpus_stays_pending_without_toleration(api: ApiClient) -> None:
    name = namespace(api)
    pods = f"/api/v1/namespaces/{name}/pods"
    greedy, tolerant = pod("greedy"), pod("tolerant")
    for each in (greedy, tolerant):
        each["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    tolerant["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    api.create(pods, greedy)
    api.create(pods, tolerant)
    eventually(lambda: api.get(f"{pods}/tolerant")["status"]["phase"] == "Running")
    conditions = api.get(f"{pods}/greedy")["status"]["conditions"]
    assert any("untolerated taint" in condition.get("message", "") for condition in conditions)


def test_user_without_a_role_is_denied(sandbox: Sandbox) -> None:
    token = sandbox.token_for("vera@example.com")
    with sandbox.api(token=token) as vera:
        who = vera.create(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
        )
        assert who["status"]["userInfo"]["username"] == "vera@example.com"
        with pytest.raises(FlotillaError, match="forbidden"):
            vera.get("/api/v1/nodes")


def test_wrong_token_is_unauthorized(sandbox: Sandbox) -> None:
    with sandbox.api(token="nobody") as stranger, pytest.raises(FlotillaError, match="Unauthorized"):
        stranger.get("/api/v1/nodes")


def test_privileged_pod_is_rejected_in_a_restricted_namespace(api: ApiClient) -> None:
    name = namespace(api, {"pod-security.kubernetes.io/enforce": "restricted"})
    privileged = pod("root")
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    with pytest.raises(FlotillaError, match='violates PodSecurity "restricted'):
        api.create(f"/api/v1/namespaces/{name}/pods", privileged)


def test_quota_rejects_one_pod_too_many(api: ApiClient) -> None:
    name = namespace(api)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "quota"},
        "spec": {"hard": {"pods": "1"}},
    }
    api.create(f"/api/v1/namespaces/{name}/resourcequotas", quota)
    path = f"/api/v1/namespaces/{name}/resourcequotas/quota"
    eventually(lambda: "used" in api.get(path)["status"])
    api.create(f"/api/v1/namespaces/{name}/pods", pod("first"))
    with pytest.raises(FlotillaError, match="exceeded quota"):
        api.create(f"/api/v1/namespaces/{name}/pods", pod("second"))


def test_simulation_leaves_alone_pods_that_run_as_processes(sandbox: Sandbox, api: ApiClient) -> None:
    name = namespace(api)
    pods = f"/api/v1/namespaces/{name}/pods"
    for each in (pod("real", image=f"{PYTHON}:3"), pod("simulated")):
        each["spec"]["containers"][0]["command"] = ["python3", "-c", "raise SystemExit(7)"]
        api.create(pods, each | {"spec": each["spec"] | {"restartPolicy": "Never"}})
    eventually(lambda: api.get(f"{pods}/simulated")["status"]["phase"] == "Running")
    if sandbox.status().only_simulated_because:
        pytest.skip("this machine lets no pod run as a process")
    eventually(lambda: api.get(f"{pods}/real")["status"]["phase"] == "Failed")


def test_kubectl_works_with_the_kubeconfig(sandbox: Sandbox, tools: Path) -> None:
    command = [str(tools / "kubectl"), "--kubeconfig", str(sandbox.kubeconfig)]
    admin = subprocess.run([*command, "auth", "whoami"], capture_output=True, text=True, check=True)
    assert "flotilla-admin" in admin.stdout
    context = f"{sandbox.context}/vera@example.com"
    vera = subprocess.run(
        [*command, "--context", context, "auth", "whoami"], capture_output=True, text=True, check=True
    )
    assert "vera@example.com" in vera.stdout


def test_namespaces_get_the_cluster_authority(sandbox: Sandbox, api: ApiClient) -> None:
    name = namespace(api)
    path = f"/api/v1/namespaces/{name}/configmaps/kube-root-ca.crt"
    eventually(lambda: api.find(path) is not None)
    config = api.get(path)
    assert config["data"]["ca.crt"] == (sandbox.folder / "pki" / "ca.crt").read_text()


def test_new_user_gets_a_token_without_losing_the_others(sandbox: Sandbox) -> None:
    before = sandbox.token_for("vera@example.com")
    token = sandbox.token_for("nina@example.com", ["auditors"])
    with sandbox.api(token=token) as nina:
        review = nina.create(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
        )
    assert "auditors" in review["status"]["userInfo"]["groups"]
    assert sandbox.token_for("vera@example.com") == before
