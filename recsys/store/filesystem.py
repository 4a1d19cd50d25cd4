"""What kind of disk an index lies on: SQLite's write-ahead log needs shared memory, which network disks lack."""

from __future__ import annotations

from pathlib import Path

_NETWORK = {
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "pvfs2", "smb2", "smb3", "smbfs", "webdav",
}  # fmt: skip


def network_kind(folder: Path) -> str:
    """The name of the network file system that a folder lies on, such as `nfs4`; empty for a local disk."""
    import psutil

    mounts = {Path(part.mountpoint): part.fstype.lower() for part in psutil.disk_partitions(all=True)}
    here = folder.resolve()
    kind = next((mounts[path] for path in (here, *here.parents) if path in mounts), "")
    return kind if kind in _NETWORK else ""
