"""What is read from disk is run: whatever somebody else could have put there is not read."""

import os
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest

from wengert import disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")

KEY = b"k" * 32


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("WENGERT_CACHE", "1")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "above" / "code"))
    disk.write(KEY, b"contents")
    assert disk.read(KEY) == b"contents"
    return tmp_path / "above" / "code"


def file_of(folder: Path) -> Path:
    return folder / f"{KEY.hex()}.wgc"


def test_folders_that_are_made_are_private(folder):
    for path in (folder, folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600


def within_a_second(read):
    answers: list = []
    thread = threading.Thread(target=lambda: answers.append(read()), daemon=True)
    thread.start()
    thread.join(1.0)
    assert answers, "it hangs"
    return answers[0]


@pytest.mark.parametrize("kind", ["fifo", "link", "link to a device", "folder", "socket", "device"])
def test_only_regular_files_are_read(folder, kind, tmp_path, monkeypatch):
    file = file_of(folder)
    kept = tmp_path / "kept"
    file.rename(kept)
    if kind == "fifo":
        os.mkfifo(file, 0o600)
    elif kind == "link":
        file.symlink_to(kept)  # the contents are right, but whose they are cannot be said
    elif kind == "link to a device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir(mode=0o700)
    elif kind == "socket":
        monkeypatch.chdir(folder)  # the path of a socket must be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    else:
        try:
            os.mknod(file, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        except OSError:
            pytest.skip("only the administrator can make devices")
    assert within_a_second(lambda: disk.read(KEY)) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_files_that_others_can_write_are_not_read(folder, mode):
    file_of(folder).chmod(mode)
    assert disk.read(KEY) is None
    file_of(folder).chmod(0o644)
    assert disk.read(KEY) == b"contents"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_folders_that_others_can_write_are_not_used(folder, mode):
    """Others could have added a file with a link to one of ours; in a sticky folder too."""
    folder.chmod(mode)
    assert disk.read(KEY) is None
    disk.write(b"other" * 4, b"more")
    assert [path.name for path in folder.iterdir()] == [file_of(folder).name]
    assert str(folder) in disk.why_not(folder)
    folder.chmod(0o755)
    assert disk.read(KEY) == b"contents"
    assert disk.why_not(folder) is None


def test_folders_above_may_be_writable_only_if_sticky(folder):
    folder.parent.chmod(0o777)
    assert disk.read(KEY) is None  # somebody could have put another folder in its place
    folder.parent.chmod(0o1777)
    assert disk.read(KEY) == b"contents"


def test_where_a_link_lies_counts(folder, monkeypatch, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "link").symlink_to(folder)
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(outside / "link"))
    assert disk.read(KEY) == b"contents"
    outside.chmod(0o777)
    assert disk.read(KEY) is None


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the administrator can give files away"
)
def test_files_and_folders_of_others_are_not_read(folder):
    for path in (file_of(folder), folder, folder.parent):
        os.chown(path, 12345, -1)
        assert disk.read(KEY) is None
        os.chown(path, os.geteuid(), -1)
        assert disk.read(KEY) == b"contents"


def test_a_file_that_is_too_long_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST", 4)
    assert disk.read(KEY) is None


def test_a_relative_folder_of_the_desktop_is_ignored(monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", "1")
    monkeypatch.delenv("WENGERT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/place")
    if sys.platform == "linux":
        assert disk.folder() == Path.home() / ".cache" / "wengert"
    monkeypatch.setenv("WENGERT_CACHE_DIR", "relative")
    assert disk.folder() == Path.cwd() / "relative"
