"""What the user of a Kafka cluster may do, and whom its ACLs let at the topics."""

from __future__ import annotations

from collections.abc import Iterator

from kafka import errors
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePatternFilter,
    ResourceType,
)

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.kafka.probe import KafkaProbe

NEEDED = ("CREATE", "ALTER", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS")
_EVERYTHING = ACLFilter(
    None,
    None,
    ACLOperation.ANY,
    ACLPermissionType.ANY,
    ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
)


@check(
    "kafka-privileges",
    "kafka",
    why="The Job that declares topics and ACLs ends half-way when it lacks one of them.",
    run="kafka-acls.sh --add --allow-principal User:<user> --cluster --operation Create --operation Alter "
    "--operation Describe --operation AlterConfigs --operation DescribeConfigs.",
    needs=("kafka-login",),
)
def privileges(probe: KafkaProbe) -> Verdicts:
    """Operations on the cluster that the brokers authorise the user to."""
    if not probe.target.administers:
        yield skip("the settings name no administrator: somebody else creates topics and permissions")
        return
    allowed = probe.admin.describe_cluster().get("authorized_operations")
    if allowed is None:
        yield skip("the brokers do not tell what the user may do")
        return
    missing = [operation for operation in NEEDED if operation not in allowed]
    if missing:
        words = " ".join(f"--operation {operation.title().replace('_', '')}" for operation in missing)
        yield fail(
            f"{probe.user} lacks {', '.join(missing)} on the cluster",
            run=f"Run kafka-acls.sh --add --allow-principal {probe.user} --cluster {words}",
        )
    else:
        yield ok(f"{probe.user} may create and alter topics, configurations and ACLs")


@check(
    "kafka-acls",
    "kafka",
    why="Without an authorizer every client reads every team's events; with one, a principal without its ACL loses its "
    "own in silence.",
    run="Set authorizer.class.name on every broker; add ACLs with kafka-acls.sh.",
    needs=("kafka-login",),
)
def acls(probe: KafkaProbe) -> Verdicts:
    """Whether an authorizer is in force, and ACLs let each topic's principals, and nobody else, at it."""
    try:
        rules, _ = probe.admin.describe_acls(_EVERYTHING)
    except errors.SecurityDisabledError:
        if probe.target.acls:
            return [
                fail(
                    "no authorizer is in force: every client may do everything",
                    run="Set authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                )
            ]
        return [ok("no authorizer is in force, and none is declared")]
    except errors.ClusterAuthorizationFailedError:
        return [skip(f"{probe.user} may not look (DESCRIBE on the cluster)")]
    return list(_judge(probe, rules)) or [ok(f"{len(rules)} ACLs, none against what is declared")]


def _judge(probe: KafkaProbe, rules: list[ACL]) -> Iterator[Verdict]:
    for rule in rules:
        pattern = rule.resource_pattern
        if (rule.principal, rule.permission_type) == ("User:*", ACLPermissionType.ALLOW):
            kind = pattern.resource_type.name.lower()
            yield warn(
                f"everybody may {rule.operation.name} the {kind} {pattern.resource_name}",
                run=f"Run kafka-acls.sh --remove --allow-principal 'User:*' --{kind} '{pattern.resource_name}'",
            )
    present = {topic["name"] for topic in probe.admin.describe_topics() if not topic["error_code"]}
    for topic in probe.target.topics:
        for principal in topic.principals if topic.name in present else ():
            about = [rule for rule in rules if _covers(rule, topic.name) and rule.principal in (principal, "User:*")]
            denied = [rule for rule in about if rule.permission_type == ACLPermissionType.DENY]
            subject = f"{probe.target.name} topic {topic.name}"
            if denied:
                yield fail(
                    f"an ACL denies {principal} {denied[0].operation.name}",
                    run=f"Run kafka-acls.sh --remove --deny-principal {principal} --topic {topic.name}",
                    subject=subject,
                )
            elif not any(rule.operation in (ACLOperation.WRITE, ACLOperation.ALL) for rule in about):
                yield fail(
                    f"no ACL lets {principal} write to it",
                    run=f"Run kafka-acls.sh --add --allow-principal {principal} --producer --topic {topic.name}",
                    subject=subject,
                )


def _covers(rule: ACL, topic: str) -> bool:
    """Return whether a rule is about a topic."""
    pattern = rule.resource_pattern
    if pattern.resource_type != ResourceType.TOPIC:
        return False
    if pattern.pattern_type == ACLResourcePatternType.PREFIXED:
        return topic.startswith(pattern.resource_name)
    return pattern.resource_name in (topic, "*")
