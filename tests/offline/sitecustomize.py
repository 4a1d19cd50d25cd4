"""Loaded by every Python child of the test suite (PYTHONPATH): no socket leaves the machine."""

import socket

_LOCAL = ("127.0.0.1", "::1", "localhost")
_connect = socket.socket.connect


def _guarded(self: socket.socket, address: object) -> object:
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _LOCAL:  # type: ignore[index]
        raise OSError(f"the test suite is offline: {address}")
    return _connect(self, address)


socket.socket.connect = _guarded
