"""All-pairs lists: every paper compared with every other, once for both, exactly."""
