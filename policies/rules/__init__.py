"""Every rule of the pack, in the order they are judged and documented."""

from policies.rules.claims import CLAIMS
from policies.rules.disruption import DISRUPTION_BUDGET, DRAIN
from policies.rules.images import IMAGES
from policies.rules.pod_security import POD_SECURITY
from policies.rules.probes import PROBES
from policies.rules.rbac import RBAC
from policies.rules.replicas import REPLICAS, REPLICAS_DECLARED
from policies.rules.resources import RESOURCES
from policies.rules.secrets import PLAIN_SECRETS
from policies.rules.spread import SPREAD
from policies.rules.stores import STORES

RULES = (REPLICAS, SPREAD, RESOURCES, PROBES, IMAGES, PLAIN_SECRETS, POD_SECURITY, RBAC, CLAIMS)
"""Rules that judge an object by itself."""

STACK_RULES = (REPLICAS_DECLARED, DISRUPTION_BUDGET, DRAIN, STORES)
"""Rules that judge objects by one another."""
