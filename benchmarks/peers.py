"""The environment that holds the packages we compare with, beside wengert itself: `benchmarks/.venv`.

It is made on first use and again whenever `requirements.txt`, `pyproject.toml` or the version of Python changes (a
stamp file holds their digest). What cannot be installed is reported and left out: a comparison with the rest is still
worth having. There is no stamp then, so the next run tries again.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
VENV = HERE / ".venv"
STAMP = VENV / "installed"
REQUIREMENTS = HERE / "requirements.txt"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def interpreter() -> Path:
    """Return the interpreter of the peers' environment, making the environment first if it has to be made."""
    digest = wanted()
    if not PYTHON.exists() or not STAMP.exists() or STAMP.read_text() != digest:
        print("setting up benchmarks/.venv (the first time takes a minute or more)", flush=True)
        STAMP.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        peers, ourselves = install_peers(), install("wengert", "--editable", str(ROOT))
        if peers and ourselves:
            STAMP.write_text(digest)
    return PYTHON


def wanted() -> str:
    """Return the digest of everything that decides what the environment should hold."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (REQUIREMENTS, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def install_peers() -> bool:
    """Install all requirements at once, or, if that fails, each that can be; return whether none is missing."""
    if install("the peers", "--requirement", str(REQUIREMENTS), then="trying one by one"):
        return True
    lines = [line.strip() for line in REQUIREMENTS.read_text().splitlines()]
    worked = [install(line, line) for line in lines if line and not line.startswith("#")]
    return all(worked)


def install(what: str, *arguments: str, then: str = "going on without") -> bool:
    """Install with pip; return whether it worked, and if not, say so with the last line of what pip said."""
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        print(f"could not install {what} ({reason}): {then}", flush=True)
    return done.returncode == 0
