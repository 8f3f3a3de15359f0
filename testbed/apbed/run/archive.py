# SPDX-License-Identifier: GPL-2.0-only
"""Files in one piece, to be sent between hosts: the same files are always the same bytes."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from apbed.kernels import cache

MODE = 0o755  # programs among them must stay programs


def pack(files: Mapping[str, Path]) -> bytes:
    """An archive of these files, by the names they are to have. No dates, no modes, no owners."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980, as all
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def pack_folder(folder: Path) -> bytes:
    """An archive of all plain files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return pack({path.relative_to(folder).as_posix(): path for path in files})


def unpack(archive: bytes, folder: Path) -> None:
    """Write the files below `folder`, which exists. No name leads out of it (zipfile)."""
    with zipfile.ZipFile(io.BytesIO(archive)) as entries:
        for name in entries.namelist():
            Path(entries.extract(name, folder)).chmod(MODE)


def digest(archive: bytes) -> str:
    """SHA-256, by which it is known."""
    return hashlib.sha256(archive).hexdigest()


def kept(archive: bytes) -> Path:
    """The folder of this host's cache that has the files, unpacked now unless they are there."""
    known = digest(archive)
    folder = cache.cache_dir().parent / "sent" / known
    folder.parent.mkdir(parents=True, exist_ok=True)
    with cache.locked(f"sent-{known[:12]}"):
        if not _is_whole(archive, folder):
            with cache.whole(folder) as partial:
                unpack(archive, partial)
    return folder


def _is_whole(archive: bytes, folder: Path) -> bool:
    """Whether the folder has the archive's files, byte for byte."""
    with zipfile.ZipFile(io.BytesIO(archive)) as entries:
        for name in entries.namelist():
            path = folder / name
            if not path.is_file() or path.read_bytes() != entries.read(name):
                return False
    return True
