"""Search kinds: unit vectors in, nearest neighbours out. One file a kind, one line in the registry."""
