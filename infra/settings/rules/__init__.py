"""Rules that span fields and sections: what is valid alone but wrong together."""

from infra.settings.rules import cluster, teams, workloads
from infra.settings.rules.rule import Rule, Violation

RULES: tuple[Rule, ...] = (
    cluster.zones_are_named_once,
    cluster.pools_are_named_once,
    cluster.pools_span_zones_of_the_cluster,
    cluster.pools_have_room_to_be,
    cluster.the_platform_has_nodes_of_its_own,
    cluster.the_platform_spans_zones,
    cluster.system_nodes_stay,
    cluster.fixed_pools_have_one_size,
    cluster.karpenter_pools_start_empty,
    cluster.gpu_pools_have_gpus,
    cluster.node_labels_are_ours_to_set,
    cluster.taints_are_given_once,
    cluster.efs_owners_are_whole,
    workloads.requests_stay_within_limits,
    workloads.autoscaling_has_room,
    workloads.replicas_fit_a_system_node,
    workloads.replicas_have_nodes_of_their_own,
    workloads.bursts_are_not_below_the_rate,
    workloads.load_balancers_say_whom_they_let_in,
    teams.teams_are_named_once,
    teams.teams_stay_out_of_the_platforms_namespaces,
    teams.members_are_named_once,
    teams.container_limits_rise,
    teams.containers_fit_a_machine,
    teams.quotas_fit_the_pools,
)

__all__ = ["RULES", "Rule", "Violation"]
