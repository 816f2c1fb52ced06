"""What runs inside a pod's namespaces. It imports the standard library only, so that a pod starts fast."""
