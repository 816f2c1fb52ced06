"""The platform as a whole: one provider, what is switched off is not declared, outputs others look up."""

from __future__ import annotations

from infra.core.provider import CLIENT_BURST, CLIENT_QPS
from infra.kubeflow import Platform, declare
from infra.settings import Settings
from infra.settings.models.autoscaler import NoAutoscaler
from tests.unit.core.parsing import everything
from tests.unit.core.recording import Recording, record


def platform(settings: Settings | None = None) -> Recording:
    return record(lambda: declare(settings or everything(), "kind-test"))


def test_every_object_goes_to_the_cluster_that_the_stack_names() -> None:
    recording = platform()
    (provider,) = [resource for resource in recording.resources if resource.type == "pulumi:providers:kubernetes"]
    objects = [resource for resource in recording.resources if "kind" in resource.inputs]

    assert provider.inputs["context"] == "kind-test"
    assert {resource.provider.rpartition("::")[0] for resource in objects} == {provider.urn}


def test_schemas_go_to_the_cluster_that_the_stack_names() -> None:
    bundles = [resource for resource in platform().resources if resource.type.endswith(":CrdBundle")]

    assert {bundle.inputs["context"] for bundle in bundles} == {"kind-test"}


def test_provider_may_send_what_the_api_server_takes() -> None:
    (provider,) = [each for each in platform().resources if each.type == "pulumi:providers:kubernetes"]

    assert f'"qps":{CLIENT_QPS}' in str(provider.inputs["kubeClientSettings"]).replace(" ", "")
    assert f'"burst":{CLIENT_BURST}' in str(provider.inputs["kubeClientSettings"]).replace(" ", "")


def test_workloads_wait_for_the_priority_they_name() -> None:
    recording = platform()
    priority = recording.resource("PriorityClass", "flotilla-platform").urn

    for deployment in recording.all("Deployment"):
        assert priority in recording.awaited("Deployment", deployment["metadata"]["name"])


def test_pools_are_declared_only_where_karpenter_makes_them() -> None:
    settings = everything()
    cluster = settings.cluster.model_copy(update={"autoscaler": NoAutoscaler(kind="none")})

    assert "NodePool" not in platform(settings.model_copy(update={"cluster": cluster})).kinds()


def test_accelerators_agents_wait_for_nothing_that_is_not_declared() -> None:
    settings = everything()
    cluster = settings.cluster
    whole = [pool for pool in cluster.node_pools if not pool.machine.gpus]
    recording = platform(settings.model_copy(update={"cluster": cluster.model_copy(update={"node_pools": whole})}))

    assert "DaemonSet" not in recording.kinds()
    assert "nvidia" not in [namespace["metadata"]["name"] for namespace in recording.all("Namespace")]


def test_outputs_name_what_others_look_up() -> None:
    made: list[Platform] = []
    record(lambda: made.append(declare(everything(), "kind-test")))

    assert made[0].outputs().keys() == {"environment", "gateway", "domain", "sharedStorageClass", "teams"}
    assert made[0].outputs()["teams"] == ["vision"]
