"""The sandbox's agent: runs the pods of images it has a program for as real processes.

What it does of a kubelet's work: environment, volumes, ServiceAccount tokens, probes, restarts, graceful
termination, status, events and logs. What it does of a network's: pod addresses, the way to Services, host names,
and the API server's way to pods. All of it runs in user space, in namespaces of each pod's own, with or without root.
"""
