"""Encoders: texts in, unit vectors out. One file an encoder, one line in the registry."""
