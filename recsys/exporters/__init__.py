"""Exporters: related lists in, bytes of one format out. One file a format, one line in the registry."""
