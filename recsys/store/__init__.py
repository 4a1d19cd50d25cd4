"""The one SQLite file that is the truth of an index: its schema, the corpus in it, and what was built of it."""
