from __future__ import annotations

import yaml

from sandbox import stages


def selectors(text: str, kind: str) -> list[list[dict[str, object]]]:
    return [
        stage["spec"]["selector"]["matchExpressions"]
        for stage in yaml.safe_load_all(text)
        if stage["spec"]["resourceRef"]["kind"] == kind
    ]


def test_every_pod_stage_leaves_process_pods_alone() -> None:
    text = stages.render(["ghcr.io/a/operator"])
    assert all(stages.simulated_only(["ghcr.io/a/operator"]) in each for each in selectors(text, "Pod"))
    assert not any(stages.simulated_only(["ghcr.io/a/operator"]) in each for each in selectors(text, "Node"))


def test_everything_is_simulated_without_process_images() -> None:
    assert not any("containers" in str(each) for each in selectors(stages.render([]), "Pod"))


def test_selector_does_not_depend_on_the_order_of_images() -> None:
    assert stages.render(["b", "a"]) == stages.render(["a", "b"])
