"""How fast texts become vectors, and how true they are: recsys by backend and precision beside sentence-transformers.

Usage: python benchmarks/embedding.py PAPERS [N] [REPEATS]

PAPERS is any file that recsys reads; N of its texts, evenly spaced, are encoded. Every peer has the same weights, texts
and token limit, two threads or what OMP_NUM_THREADS says, and a fresh process each time, in turn; loading the model and
a first pass over every 32nd text are not counted. Values are checked before speed counts.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import environment

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


def child(peer: str, texts_file: str, vectors_file: str) -> None:
    """Encode in this process; print seconds and peak memory as JSON."""
    import numpy as np

    texts = json.loads(Path(texts_file).read_text())
    encode = load(peer)
    encode(texts[::32])
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = encode(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    np.save(vectors_file, vectors)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak / (1 << 10)}))


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
    runs: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
    vectors: dict[str, Any] = {}
    record = environment(PACKAGES) | {"texts": len(texts), "tokens": sum(tokens), "peak_gflops": peak_gflops()}
    with tempfile.TemporaryDirectory() as folder:
        texts_file, vectors_file = Path(folder) / "texts.json", Path(folder) / "vectors.npy"
        texts_file.write_text(json.dumps(texts))
        for _ in range(repeats):
            for peer in PEERS:
                command = [sys.executable, __file__, "--peer", peer, str(texts_file), str(vectors_file)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{peer}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                    continue
                runs[peer].append(json.loads(done.stdout.splitlines()[-1]))
                vectors[peer] = np.load(vectors_file)
    reference = vectors[PEERS[0]]
    print(f"{len(texts)} texts, {sum(tokens) / len(texts):.0f} tokens in the mean, medians of {repeats}; {record}\n")
    print("| | texts/s | tokens/s | of the fp32 peak | x | same of 20 nearest | largest difference | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    base = statistics.median(run["wall"] for run in runs[PEERS[0]])
    rows = []
    for peer, found in runs.items():
        if not found:
            continue
        wall = statistics.median(run["wall"] for run in found)
        row = {
            "peer": peer,
            "texts_per_s": len(texts) / wall,
            "tokens_per_s": sum(tokens) / wall,
            "of_peak": gflop(tokens) / wall / record["peak_gflops"],
            "times": base / wall,
            "overlap": overlap(reference, vectors[peer]),
            "difference": float(np.abs(reference - vectors[peer]).max()),
            "peak_mb": max(run["peak_mb"] for run in found),
            "runs": found,
        }
        rows.append(row)
        speed = f"{row['texts_per_s']:.1f} | {row['tokens_per_s']:,.0f} | {row['of_peak']:.0%} | {row['times']:.2f}"
        fidelity = f"{row['overlap']:.1%} | {row['difference']:.1e} | {row['peak_mb']:,.0f}"
        print(f"| {peer} | {speed} | {fidelity} |")
    Path("embedding.json").write_text(json.dumps({"environment": record, "rows": rows}, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        child(*sys.argv[2:5])
    else:
        main()
