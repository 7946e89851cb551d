"""A folder of files that may be lost at any time: compiled and rewritten code, kept for the next process.

A file has the name of its key, and begins with a digest of key and contents. One that is damaged, cut short, or in
another's place is as good as none. Files are written aside and moved into place, so that whoever reads sees all of it
or nothing, and processes that write at once do each other no harm. If the folder cannot be written to, nothing is kept.

What is read here is run, so nobody else may have been able to write it. Links are not followed, and only regular files
are read. The file and its folder must belong to this user or to the administrator, and must not be writable by anybody
else; nor may the folders above, unless they are sticky, as `/tmp` is: there others can add, but not replace. Where that
does not hold nothing is read or kept, and `why_not` says so.

`WENGERT_CACHE_DIR` is the folder (by default a folder of the user's own, where the system keeps such things);
`WENGERT_CACHE=0` turns it off. When there is more in it than `MOST` bytes, what was not used for longest goes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

MOST = 1 << 30
"""So many bytes at most, when somebody looks."""

LARGEST = 1 << 26
"""Files larger than this are not kept."""

_BETWEEN_LOOKS = 256
"""How many files are written between two looks at the whole folder, which takes a second where there are many."""
_MAGIC = b"wengert code 1\n"
_HEAD = len(_MAGIC) + 32
_SUFFIX = ".wgc"
_written = os.urandom(1)[0]  # most processes write a few files, and do not look


def folder() -> Path | None:
    """Where files are kept; `None` if they are not to be."""
    if os.environ.get("WENGERT_CACHE", "").strip().lower() in ("0", "no", "off", "false"):
        return None
    chosen = os.environ.get("WENGERT_CACHE_DIR")
    if chosen:
        return Path(os.path.abspath(chosen))
    try:
        home = Path.home()
    except RuntimeError:  # nobody's process
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "wengert"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "wengert" / "cache"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else home / ".cache") / "wengert"  # a relative one counts as not set


def read(key: bytes) -> bytes | None:
    """What was kept under a key, if it is whole and nobody else can have written it."""
    place = folder()
    if place is None or why_not(place) is not None:
        return None
    path = place / (key.hex() + _SUFFIX)
    try:
        # Opening a FIFO must not wait for a writer, nor opening a device do anything.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_ours(status) or status.st_size > LARGEST + _HEAD:
                return None
            text = file.read(LARGEST + _HEAD)
    except OSError:
        return None
    if text[:_HEAD] != _MAGIC + _checksum(key, text[_HEAD:]):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # when it was last used
    return text[_HEAD:]


def write(key: bytes, contents: bytes) -> None:
    """Keep something, in place of what there may be."""
    global _written
    place = folder()
    if place is None or len(contents) > LARGEST:
        return
    name = None
    try:
        _make(place)
        if why_not(place) is not None:
            return
        with tempfile.NamedTemporaryFile(dir=place, suffix=".part", delete=False) as file:
            name = file.name
            file.write(_MAGIC + _checksum(key, contents) + contents)
        os.replace(name, place / (key.hex() + _SUFFIX))
    except OSError:
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        return
    if _written % _BETWEEN_LOOKS == 0:
        _tidy(place)
    _written += 1


def _checksum(key: bytes, contents: bytes) -> bytes:
    return hashlib.blake2b(contents, key=key[:32], digest_size=32).digest()


def _make(place: Path) -> None:
    """Make a folder and those above it, for this user alone."""
    for path in (*reversed(place.parents), place):
        with contextlib.suppress(FileExistsError):
            if not path.exists():
                path.mkdir(mode=0o700)


def _is_ours(status: os.stat_result, sticky: bool = False) -> bool:
    """Whether this user, or the administrator, owns a file or folder, and nobody else can write to it.

    With `sticky`, a folder that others can write to counts if they cannot replace there what is not theirs.
    """
    if not hasattr(os, "geteuid"):
        return True
    if status.st_uid not in (0, os.geteuid()):
        return False
    return not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or (sticky and bool(status.st_mode & stat.S_ISVTX))


def why_not(place: Path) -> str | None:
    """Why code in a folder is not run, nor kept there; `None` if it is, or there is no such folder yet."""
    try:
        if not _is_ours(place.stat()):
            return f"{place} belongs to somebody else, or others can write to it"
        # Where links lie counts as much as where they lead.
        for path in {*place.parents, *Path(os.path.realpath(place)).parents}:
            if not _is_ours(path.stat(), sticky=True):
                return f"{path}, above {place.name}, belongs to somebody else, or others can write to it"
    except OSError as error:
        return None if isinstance(error, FileNotFoundError) else str(error)
    return None


def usage() -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    place = folder()
    found = [] if place is None else _files(place)
    return len(found), sum([size for _, size, _ in found])


def _files(place: Path) -> list[tuple[float, int, str]]:
    """When each file was last used, its size and its path."""
    found = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, ".part")):
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
    return found


def _tidy(place: Path) -> None:
    """Remove what was not used for longest, down to three quarters of `MOST`."""
    found = _files(place)
    total = sum([size for _, size, _ in found])
    if total <= MOST:
        return
    for _, size, path in sorted(found):
        if total <= MOST * 3 // 4:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


@functools.cache
def state_of_package() -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of each file of this package: whoever changes one changes what code becomes."""
    found = []
    start = str(Path(__file__).parent)
    waiting = [start]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append((entry.path[len(start) :], status.st_size, status.st_mtime_ns))
                elif entry.is_dir() and entry.name != "__pycache__":
                    waiting.append(entry.path)
    return tuple(sorted(found))
