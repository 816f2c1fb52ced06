"""Every difference from the upstream release that is meant, with its reason."""

from __future__ import annotations

from tests.parity.comparison import Accepted

_READ = ("get", "list", "watch")
_GROUPS = ("extensions", "networking", "security", "telemetry")

_OPERATOR = (
    Accepted(
        subject="training-operator",
        aspect="image",
        reason="v1.9.4 instead of v1.9.2, which the release still carries.",
        missing=("*/training-operator:v1-3f15cb8",),
        added=("*/training-operator:v1-93c5489",),
    ),
    Accepted(
        subject="training-operator",
        aspect="arguments",
        reason="One of several replicas leads.",
        added=("--leader-elect",),
    ),
    Accepted(
        subject="training-operator",
        aspect="arguments",
        reason="Upstream's one thread and 20 requests a second take minutes to start a thousand pods.",
        added=("--controller-threads=*", "--kube-api-qps=*", "--kube-api-burst=*"),
    ),
    Accepted(
        subject="training-operator",
        aspect="arguments",
        reason="What ports, Service and Secret depend on is written down rather than left to the operator's defaults.",
        added=(
            "--metrics-bind-address=:8080",
            "--health-probe-bind-address=:8081",
            "--webhook-server-port=9443",
            "--webhook-service-name=training-operator",
            "--webhook-secret-name=training-operator-webhook-cert",
        ),
    ),
    Accepted(
        subject="training-operator",
        aspect="arguments",
        reason="Where a job's pods start all together, the operator has to name the scheduler that sees to it.",
        added=("--gang-scheduler-name=*",),
    ),
    Accepted(
        subject="training-operator",
        aspect="ports",
        reason="The port that probes are sent to is declared, so that they can name it.",
        added=("8081",),
    ),
    Accepted(
        subject="training-operator",
        aspect="permissions",
        reason="Without its lease no leader can be elected; upstream runs one replica.",
        added=(
            "create leases.coordination.k8s.io in its namespace",
            "* leases.coordination.k8s.io of 1ca428e5.training-operator.kubeflow.org in its namespace",
            "create events in its namespace",
            "patch events in its namespace",
        ),
    ),
    Accepted(
        subject="training roles",
        aspect="roles",
        reason="It adds nothing to what kubeflow-admin gets by including kubeflow-edit.",
        missing=("kubeflow-training-admin",),
    ),
    Accepted(
        subject="kubeflow-training-edit",
        aspect="permissions",
        reason="kubeflow-edit and kubeflow-view permit these to every member already.",
        missing=("* persistentvolumeclaims", "* events"),
    ),
)

_ISTIO = (
    Accepted(
        subject="istiod",
        aspect="environment",
        reason="Of sidecars, ambient mode, other clusters and tracing, none of which is declared.",
        missing=("ENABLE_NATIVE_SIDECARS", "CA_TRUSTED_NODE_ACCOUNTS", "KUBECONFIG", "PILOT_TRACE_SAMPLING"),
    ),
    Accepted(
        subject="istiod",
        aspect="environment",
        reason="Upstream refreshes Dex's keys every minute for its own login, which is not declared.",
        missing=("PILOT_JWT_PUB_KEY_REFRESH_INTERVAL",),
    ),
    Accepted(
        subject="istiod",
        aspect="environment",
        reason="There is no limit of CPU for GOMAXPROCS to follow; upstream's PLATFORM is empty.",
        missing=("GOMAXPROCS", "PLATFORM"),
    ),
    Accepted(
        subject="istiod",
        aspect="webhooks",
        reason="No sidecars are injected.",
        missing=("MutatingWebhookConfiguration *.sidecar-injector.istio.io *",),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="Istio's own kinds are named, so that a wildcard does not permit what a later release adds.",
        missing=tuple(f"{verb} [*].{group}.istio.io" for verb in _READ for group in _GROUPS),
        added=tuple(f"{verb} [!*]*.{group}.istio.io" for verb in _READ for group in _GROUPS),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="Groups that Istio gave up years ago.",
        missing=("* [*].config.istio.io", "* [*].authentication.istio.io", "* [*].rbac.istio.io"),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="Neither the Gateway API nor its inference extension is used; their kinds are not installed.",
        missing=("* *.gateway.networking.k8s.io", "* *.gateway.networking.x-k8s.io", "* *.inference.networking.k8s.io"),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="istiod deploys no gateways: ours is declared.",
        missing=(
            "* deployments.apps",
            "* horizontalpodautoscalers.autoscaling",
            "* poddisruptionbudgets.policy",
            "* serviceaccounts",
            "create services",
            "update services",
            "patch services",
            "delete services",
        ),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="The mesh is one cluster.",
        missing=("* *.multicluster.x-k8s.io",),
    ),
    Accepted(
        subject="istiod",
        aspect="permissions",
        reason="A status is read and changed, neither made nor deleted; verbs are named instead of a wildcard.",
        missing=("[*] ingresses/status.networking.k8s.io", "create services/status", "delete services/status"),
        added=tuple(f"{verb} ingresses/status.networking.k8s.io" for verb in ("get", "update", "patch")),
    ),
    Accepted(
        subject="istio-ingressgateway",
        aspect="ports",
        reason="The agent's port gives Envoy's metrics and its own; upstream names Envoy's, and scrapes the agent's.",
        missing=("15090",),
        added=("15020",),
    ),
)

_TEAM_ROLES = (
    *(
        Accepted(
            subject=subject,
            aspect="permissions",
            reason="`extensions` and ReplicationControllers are gone or superseded: nothing is made by them any more.",
            missing=("* *.extensions", "* replicationcontrollers*"),
        )
        for subject in ("kubeflow-edit", "kubeflow-view")
    ),
    *(
        Accepted(
            subject=subject,
            aspect="permissions",
            reason="What reaches a team's pods, and from where, is the platform's to say: a team has no such objects.",
            missing=("* ingresses*.networking.k8s.io", "* networkpolicies.networking.k8s.io"),
        )
        for subject in ("kubeflow-edit", "kubeflow-view")
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="Endpoints are the Service controller's: written by hand they lead traffic past its owner.",
        missing=("* endpoints",),
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="The API server's proxies go round the mesh and its authorization.",
        missing=("* pods/proxy", "* services/proxy"),
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="`get` and `create` are the only verbs that these know.",
        missing=tuple(
            f"{verb} pods/{action}"
            for action in ("attach", "exec", "portforward")
            for verb in ("list", "watch", "patch", "update", "delete", "deletecollection")
        ),
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="A DaemonSet takes room on every node, also those of other teams.",
        missing=("* daemonsets.apps",),
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="A subresource that Kubernetes gave up with extensions/v1beta1.",
        missing=("* deployments/rollback.apps",),
    ),
    Accepted(
        subject="kubeflow-edit",
        aspect="permissions",
        reason="Who may change something may read it by the same role, rather than by kubeflow-view alone.",
        added=tuple(f"{verb} *" for verb in _READ),
    ),
    Accepted(
        subject="kubeflow-view",
        aspect="permissions",
        reason="Clients read status and scale with the object itself.",
        missing=("* */status", "* */status.*", "* */scale.apps"),
    ),
    Accepted(
        subject="kubeflow-view",
        aspect="permissions",
        reason="Teams have no DaemonSets, and ControllerRevisions are their controllers' notes.",
        missing=("* daemonsets.apps", "* controllerrevisions.apps"),
    ),
    Accepted(
        subject="kubeflow-view",
        aspect="permissions",
        reason="Namespaces are the platform's; a Binding can only be created, never read.",
        missing=("* namespaces", "* bindings"),
    ),
)

ACCEPTED = (*_OPERATOR, *_ISTIO, *_TEAM_ROLES)
