"""What is wrong with an index, and how to mend it: one check a function, one finding a line."""
