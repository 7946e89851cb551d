"""Run workers: start one for a problem, follow what it says, and start another without what made it fail."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator

from compiled import memory
from compiled.families import case_name


def measured(problem: str, sizes: list, tools: list[str], settings: dict, patience: float, of_memory: bool) -> dict:
    """Return what the workers found out about a problem: versions, builds, samples or bytes, and failures."""
    found: dict = {"tools": {}, "missing": {}, "build": {}, "samples": {}, "memory": {}, "failed": {}}
    request = {"problem": problem, "sizes": sizes, "tools": tools, "settings": settings, "memory": of_memory}
    skip: list = []
    while True:
        trouble = follow(request | {"skip": skip}, patience, found)
        if trouble is None:
            return found
        where, reason = trouble
        print(f"  {' '.join(where) if where else problem}: {reason}", flush=True)
        if where is None:
            for size in sizes:
                found["failed"][case_name(problem, size), "worker"] = reason
            return found
        found["failed"][where] = reason
        skip.append(list(where))


def follow(request: dict, patience: float, found: dict) -> tuple[tuple[str, str] | None, str] | None:
    """Run one worker and note what it says; return what was being built when it ended early, and why, or None."""
    # Code that an earlier run left on disk would make the time to build a program look short: `warm.py` measures that.
    environment = os.environ | {"WENGERT_CACHE": "0"} | (memory.SETTINGS if request["memory"] else {})
    command = [sys.executable, "-m", "compiled.worker", json.dumps(request)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    said: queue.Queue = queue.Queue()
    errors: list[str] = []
    threading.Thread(target=listen, args=(process.stdout, said), daemon=True).start()
    threading.Thread(target=errors.extend, args=(process.stderr,), daemon=True).start()
    where = None
    try:
        for event in events(said, patience):
            where = note(event, found, where)
    except queue.Empty:
        process.kill()
        process.wait()
        return where, f"took longer than {patience:g} s"
    status = process.wait()
    if status:
        last = errors[-1].strip() if errors else ""
        return where, f"ended with status {status} {last}".strip()
    return None


def listen(stream, said: queue.Queue) -> None:
    """Put each line of a stream into a queue, and None at its end."""
    for line in stream:
        said.put(json.loads(line))
    said.put(None)


def events(said: queue.Queue, patience: float) -> Iterator[dict]:
    """Yield the events as they come in; raises `queue.Empty` when there is none for too long."""
    waiting = patience
    while (event := said.get(timeout=waiting)) is not None:
        waiting = 10 * patience if event["event"] == "timing" else patience
        yield event


def note(event: dict, found: dict, where: tuple[str, str] | None) -> tuple[str, str] | None:
    """Note an event; return what is being built now."""
    key = event.get("case"), event.get("entry")
    match event["event"]:
        case "start":
            return key
        case "tool":
            title = event["title"].removesuffix(" (function)")  # which the eager suite has to say of NumPy
            found["tools"][event["tool"]] = {"title": title, "version": event["version"]}
        case "missing":
            found["missing"][event["tool"]] = event["reason"]
        case "built":
            found["build"][key] = event["seconds"]
        case "failed":
            print(f"  {' '.join(key)}: {event['reason']}", flush=True)
            found["failed"][key] = event["reason"]
        case "memory":
            found["memory"][key] = event["bytes"]
        case "samples":
            found["samples"] = {(case, entry): times for case, entry, times in event["samples"]}
    return where if event["event"] == "memory" else None
