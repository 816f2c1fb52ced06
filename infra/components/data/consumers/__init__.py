"""What the components of Kubeflow read to find their databases."""
