"""Why pods wait: in the terms of the settings' pools, quotas and queues, with what the cluster itself says."""
