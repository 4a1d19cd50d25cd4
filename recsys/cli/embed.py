"""`recsys embed`."""

from __future__ import annotations

from recsys.cli import options
from recsys.cli.progress import shown
from recsys.cli.reporting import report
from recsys.config import DEFAULT_INDEX


def embed(
    index: options.Index = DEFAULT_INDEX,
    encoder: options.Encoder = "",
    device: options.Device = "auto",
    backend: options.Backend = "auto",
    precision: options.Precision = "auto",
    batch_tokens: options.BatchTokens = 0,
    max_length: options.MaxLength = 0,
    allow_download: options.AllowDownload = False,
    replace_vectors: options.ReplaceVectors = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Make a vector of every new or changed text. Stops and resumes anywhere."""
    from recsys.pipeline.embed import embed as run

    with shown() as progress:
        done = run(
            index,
            encoder=encoder,
            device=device,
            backend=backend,
            precision=precision,
            batch_tokens=batch_tokens,
            max_length=max_length,
            allow_download=allow_download,
            replace_vectors=replace_vectors,
            wait=wait,
            progress=progress,
        )
    report(done, json)
