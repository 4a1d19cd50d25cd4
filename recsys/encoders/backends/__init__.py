"""Backends: what computes a model. One file a backend, one line in the registry."""
