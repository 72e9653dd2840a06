"""Uploaded files (logs and tables of values) in a temporary folder, addressed by content.

Files are only written below this folder, under generated names. A worker reads a file when a
scenario names it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from pathlib import Path
from typing import Final

from airtcp.web.limits import Limits

#: The largest expansion of a compressed file, as a multiple of the upload limit.
_MOST_UNPACKED: Final = 8
_GZIP: Final = b"\x1f\x8b"


class UploadError(Exception):
    """A file is rejected; the message says why."""


class Uploads:
    """A folder of uploaded files. The oldest ones are dropped to make room."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder, self._limits = folder, limits

    def add(self, content: bytes) -> str:
        """Store a file, and return its identifier. Raises UploadError."""
        if not content:
            raise UploadError("the file is empty; allowed: a log, or a table of values")
        if len(content) > self._limits.upload_bytes:
            raise UploadError(f"the file is too large; allowed: {_mib(self._limits.upload_bytes)}")
        if content.startswith(_GZIP):
            content = self._unpacked(content)
        identifier = hashlib.sha256(content).hexdigest()
        folder = self.folder / identifier
        if not folder.is_dir():
            self._make_room(len(content))
            folder.mkdir()
            (folder / "log").write_bytes(content)
            # A worker distinguishes tables from logs by the file name, so it has both names.
            try:
                os.link(folder / "log", folder / "table.csv")
            except OSError:
                shutil.copyfile(folder / "log", folder / "table.csv")
        os.utime(folder)
        return identifier

    def has(self, identifier: str) -> bool:
        """Whether a file is still stored."""
        return (self.folder / identifier / "log").is_file()

    def _unpacked(self, content: bytes) -> bytes:
        most = _MOST_UNPACKED * self._limits.upload_bytes
        unpacker = zlib.decompressobj(wbits=31)
        parts, size = [], 0
        try:
            while content and not unpacker.eof:
                part = unpacker.decompress(content, most + 1 - size)
                parts.append(part)
                size += len(part)
                if size > most:
                    raise UploadError(f"the file is too large unpacked; allowed: {_mib(most)}")
                content = unpacker.unconsumed_tail
        except zlib.error:
            raise UploadError("the file is not in gzip format; allowed: a whole .gz") from None
        if not unpacker.eof:
            raise UploadError("the gzip data is truncated; allowed: a whole .gz")
        return b"".join(parts)

    def _make_room(self, size: int) -> None:
        there = sorted(self.folder.iterdir(), key=lambda one: one.stat().st_mtime)
        sizes = {one: (one / "log").stat().st_size for one in there if (one / "log").is_file()}
        total = sum(sizes.values()) + size
        for one, freed in sizes.items():
            if total <= self._limits.uploads_bytes:
                break
            shutil.rmtree(one, ignore_errors=True)
            total -= freed


def _mib(size: int) -> str:
    return f"{size / 2**20:g} MiB"
