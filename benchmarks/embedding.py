"""How fast texts become vectors, and how true they are: recsys by backend and precision beside sentence-transformers.

Usage: python benchmarks/embedding.py PAPERS [N] [REPEATS]

PAPERS is any file that recsys reads; N of its texts, evenly spaced, are encoded. Every peer has the same weights, texts
and token limit, two threads or what OMP_NUM_THREADS says, and a fresh process each time, in turn; loading the model and
a first pass over every 32nd text are not counted. Values are checked before speed counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import environment, in_turn, median, peak_memory, show

PEERS = (
    "sentence-transformers",
    "sentence-transformers sorted, batch 8",
    "recsys numpy fp32",
    "recsys torch fp32",
    "recsys torch bf16",
    "recsys openvino fp32",
    "recsys openvino bf16",
    "recsys openvino int8",
)
LIMIT = 512
PACKAGES = ("torch", "sentence-transformers", "transformers", "tokenizers", "openvino", "numpy")


def texts_of(file: str, n: int) -> list[str]:
    """N embedding texts of a file of papers, evenly spaced."""
    import recsys
    from recsys.store.connection import reading
    from recsys.store.corpus import Corpus
    from recsys.text.tex import embedding_text

    with tempfile.TemporaryDirectory() as folder:
        recsys.ingest([file], folder)
        with reading(Path(folder)) as connection:
            corpus = Corpus(connection)
            rows = corpus.recommendable_rows()
            papers = corpus.papers_in_order(rows[:: max(1, len(rows) // n)][:n])
    return [embedding_text(paper.title, paper.abstract) for paper in papers]


def load(peer: str) -> Callable[[Sequence[str]], Any]:
    """The function of a peer that makes vectors of texts."""
    if peer.startswith("recsys"):
        from recsys.encoders.base import EncoderSettings
        from recsys.encoders.loading import load_encoder

        _, backend, precision = peer.split()
        return load_encoder(EncoderSettings("minilm", "cpu", backend, precision)).encode
    from sentence_transformers import SentenceTransformer

    from recsys.encoders.minilm import _package_folder

    model = SentenceTransformer(str(_package_folder()), device="cpu", local_files_only=True)
    model.max_seq_length = LIMIT
    batch = int(peer.rpartition(" ")[2]) if "batch" in peer else 32
    return lambda texts: model.encode(list(texts), batch_size=batch, normalize_embeddings=True)


def child(texts_file: str, folder: str, peer: str) -> None:
    """Encode in this process; print seconds and peak memory as JSON."""
    import numpy as np

    texts = json.loads(Path(texts_file).read_text())
    encode = load(peer)
    encode(texts[::32])
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = encode(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    np.save(Path(folder) / f"{peer}.npy", vectors)
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak_memory()}))


def peak_gflops() -> float:
    """What the machine does at best in float32: the largest of a few matrix products."""
    import numpy as np

    ones = np.ones((2048, 2048), dtype=np.float32)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        ones @ ones
        best = max(best, 2 * 2048**3 / (time.perf_counter() - start) / 1e9)
    return best


def gflop(lengths: Sequence[int]) -> float:
    """Work of all-MiniLM-L6-v2 on texts of these token counts: 6 layers of 384, products and attention (D. in docs)."""
    return (
        sum(6 * (2 * length * (4 * 384 * 384 + 2 * 384 * 1536) + 4 * length * length * 384) for length in lengths) / 1e9
    )


def main() -> None:
    """Run every peer in turn, print the table, write `embedding.json`."""
    import numpy as np

    from recsys.encoders.base import EncoderSettings
    from recsys.encoders.choosing import overlap
    from recsys.encoders.loading import load_encoder

    file, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 512
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    texts = texts_of(file, n)
    tokens = [min(LIMIT, length) for length in load_encoder(EncoderSettings("minilm", "cpu", "numpy")).lengths(texts)]
    record = environment(PACKAGES) | {"texts": len(texts), "tokens": sum(tokens), "peak_gflops": peak_gflops()}
    with tempfile.TemporaryDirectory() as folder:
        texts_file = Path(folder) / "texts.json"
        texts_file.write_text(json.dumps(texts))
        runs = in_turn(PEERS, repeats, [__file__, str(texts_file), folder])
        vectors = {peer: np.load(Path(folder) / f"{peer}.npy") for peer in runs}
    reference, base = vectors[PEERS[0]], median(runs[PEERS[0]], "wall")
    rows = [
        {
            "": peer,
            "texts/s": f"{len(texts) / (wall := median(found, 'wall')):.1f}",
            "tokens/s": f"{sum(tokens) / wall:,.0f}",
            "of the fp32 peak": f"{gflop(tokens) / wall / record['peak_gflops']:.0%}",
            "x": f"{base / wall:.2f}",
            "same of 20 nearest": f"{overlap(reference, vectors[peer]):.1%}",
            "largest difference": f"{float(np.abs(reference - vectors[peer]).max()):.1e}",
            "peak MB": f"{max(run['peak_mb'] for run in found):,.0f}",
        }
        for peer, found in runs.items()
    ]
    mean = sum(tokens) / len(texts)
    show(
        f"{len(texts)} texts, {mean:.0f} tokens in the mean, medians of {repeats}", rows, runs, record, "embedding.json"
    )


if __name__ == "__main__":
    if sys.argv[-2:-1] == ["--peer"]:
        child(sys.argv[1], sys.argv[2], sys.argv[4])
    else:
        main()
