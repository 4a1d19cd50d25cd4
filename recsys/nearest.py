"""Search now: the nearest papers to a vector, where no stored list answers.

The encoder runs in a child process (see `recsys.encoders.process`), so torch and faiss never share one.
"""

from __future__ import annotations
