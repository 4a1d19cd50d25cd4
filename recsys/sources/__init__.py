"""Readers: files in, papers out. One file a format, one line in the registry."""
