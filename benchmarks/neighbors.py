"""All-pairs lists: every paper's k nearest, exact and approximate, beside the libraries that people use for it.

Usage: python benchmarks/neighbors.py INDEX [N] [REPEATS]

The vectors are those of an index of recsys, N of them (all where 0), the same for every peer, each in a fresh process,
peers in turn. Time is from the matrix to n x 40 ids and scores, the row itself left out: training, building and
searching, imports apart; just-in-time compilers are warmed on 2,000 rows. Recall is of the true 20 (and 40) nearest of
1,000 rows, by ids. Peers that are not installed are left out, and said.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measuring import environment, in_turn, median, peak_memory, show

K = 40
PACKAGES = ("numpy", "openvino", "faiss-cpu", "pynndescent", "numba", "scikit-learn")


def vectors_of(index: str, n: int) -> Any:
    """The first n embedded papers' vectors, (n, dim) float32 unit rows, by paper id."""
    from recsys.encoders.base import Fingerprint
    from recsys.pipeline.listable import Listable
    from recsys.store.built import Built
    from recsys.store.connection import reading
    from recsys.store.corpus import Corpus

    with reading(Path(index)) as connection:
        built = Built(connection)
        digest = Fingerprint.from_json(built.fingerprint() or "").digest
        found = Listable.gather(Path(index), built, Corpus(connection), digest).embeddings
    return found[:n] if n else found


def without_self(ids: Any) -> Any:
    """(n, K + 1) ids without each row's own, or without the last where it was not found."""
    import numpy as np

    own = ids == np.arange(len(ids))[:, None]
    own[~own.any(axis=1), -1] = True
    return ids[~own].reshape(len(ids), -1)[:, :K]


def recsys_exact(vectors: Any, product: Any = None) -> Any:
    """Exact builds of recsys, by the fastest product at hand."""
    import numpy as np

    from recsys.allpairs.exact import exact_lists

    return np.concatenate([block.positions for block in exact_lists(vectors, K, product=product)])


def recsys_exact_fp32(vectors: Any) -> Any:
    """The same by NumPy's float32."""
    from recsys.allpairs.products import NumpyProduct

    return recsys_exact(vectors, NumpyProduct(vectors))


def recsys_hnsw(vectors: Any) -> Any:
    """Approximate builds of recsys."""
    import numpy as np

    from recsys.neighbors import all_neighbors
    from recsys.search.hnsw import HnswSearch

    index = HnswSearch.build(vectors, np.arange(len(vectors)))
    return np.concatenate([block.positions for block in all_neighbors(vectors, K, index)])


def faiss_flat(vectors: Any) -> Any:
    """`faiss.knn`."""
    import faiss

    return without_self(faiss.knn(vectors, vectors, K + 1, metric=faiss.METRIC_INNER_PRODUCT)[1])


def faiss_hnsw(vectors: Any) -> Any:
    """HNSW32, built at 200, searched at 128."""
    import faiss

    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 200, 128
    index.add(vectors)
    return without_self(index.search(vectors, K + 1)[1])


def faiss_ivf(vectors: Any) -> Any:
    """4 sqrt(n) cells, a sixteenth of which are probed."""
    import faiss

    cells = int(4 * len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
    index.nprobe = cells // 16
    index.train(vectors)
    index.add(vectors)
    return without_self(index.search(vectors, K + 1)[1])


def descend(vectors: Any, kept: int) -> Any:
    """PyNNDescent's own graph, of so many neighbours."""
    import pynndescent

    return without_self(
        pynndescent.NNDescent(vectors, metric="dot", n_neighbors=kept, random_state=0).neighbor_graph[0]
    )


def scikit_learn(vectors: Any) -> Any:
    """Brute force by cosine."""
    from sklearn.neighbors import NearestNeighbors

    brute = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric="cosine").fit(vectors)
    return without_self(brute.kneighbors(vectors, return_distance=False))


PEERS: dict[str, Callable[[Any], Any]] = {
    "recsys exact": recsys_exact,
    "recsys exact, numpy fp32": recsys_exact_fp32,
    "recsys hnsw": recsys_hnsw,
    "faiss flat": faiss_flat,
    "faiss HNSW32, ef 128": faiss_hnsw,
    "faiss IVF, 1/16 of the cells": faiss_ivf,
    "pynndescent, 41 neighbours": partial(descend, kept=41),
    "pynndescent, 60 neighbours": partial(descend, kept=60),
    "pynndescent, 101 neighbours": partial(descend, kept=101),
    "scikit-learn brute": scikit_learn,
}


def child(vectors_file: str, truth_file: str, peer: str) -> None:
    """Make every list in this process; print seconds, recall and peak memory as JSON."""
    import numpy as np

    solve = PEERS[peer]
    vectors = np.load(vectors_file)
    solve(vectors[:2000])
    wall, cpu = time.perf_counter(), time.process_time()
    ids = solve(vectors)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    truth = np.load(truth_file)
    own = np.arange(len(truth)) * len(vectors) // len(truth)
    held = (ids[own][:, :, None] == truth[:, None, :]).any(axis=1)
    print(json.dumps({"s": wall, "cpu": cpu, "at20": held[:, :20].mean(), "at40": held.mean(), "mb": peak_memory()}))


def main() -> None:
    """Run every peer in turn, print the table, write `neighbors.json`."""
    import numpy as np

    from recsys.neighbors import neighbors_of
    from recsys.recall import evenly

    index, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    vectors = np.ascontiguousarray(vectors_of(index, n))
    record = environment(PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        vectors_file, truth_file = f"{folder}/vectors.npy", f"{folder}/truth.npy"
        np.save(vectors_file, vectors)
        np.save(truth_file, neighbors_of(vectors, evenly(len(vectors)), K).positions)
        runs = in_turn(list(PEERS), repeats, [__file__, vectors_file, truth_file])
    first = median(next(iter(runs.values())), "s")
    rows = [
        {
            "": peer,
            "s": f"{median(found, 's'):.1f}",
            "times the first": f"{median(found, 's') / first:.2f}",
            "recall@20": f"{median(found, 'at20'):.4f}",
            "recall@40": f"{median(found, 'at40'):.4f}",
            "CPU s": f"{median(found, 'cpu'):.1f}",
            "peak MB": f"{median(found, 'mb'):,.0f}",
        }
        for peer, found in runs.items()
    ]
    show(
        f"{len(vectors):,} x {vectors.shape[1]} vectors, {K} nearest each, medians of {repeats}",
        rows,
        runs,
        record,
        "neighbors.json",
    )


if __name__ == "__main__":
    if sys.argv[-2:-1] == ["--peer"]:
        child(sys.argv[1], sys.argv[2], sys.argv[4])
    else:
        main()
