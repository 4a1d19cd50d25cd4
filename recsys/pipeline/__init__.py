"""The write side: ingest, embed, index, update. Each takes an index folder and returns a small report."""
