"""Which device a torch encoder runs on."""

from __future__ import annotations

from importlib.metadata import version

from recsys.errors import EncoderUnavailable


def choose_device(asked: str) -> str:
    """`auto` is CUDA, else Apple's GPU, else the CPU; anything else is taken at its word.

    Raises:
        EncoderUnavailable: the device is not there; the message lists those that are.
    """
    if asked == "cpu" or (asked == "auto" and "+cpu" in version("torch")):
        return "cpu"  # without the seconds that torch takes to start
    import torch

    available = ["cpu"]
    if torch.backends.mps.is_available():
        available.insert(0, "mps")
    if torch.cuda.is_available():
        available[:0] = ["cuda", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    if asked == "auto":
        return available[0]
    if asked not in available:
        raise EncoderUnavailable(f"no device {asked!r} here", f"use --device with one of: auto, {', '.join(available)}")
    return asked
