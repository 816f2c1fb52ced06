"""The glue between typed settings and Pulumi: names, the provider, and the one way to declare a workload."""
