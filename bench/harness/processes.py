# SPDX-License-Identifier: Apache-2.0
"""Processes that are measured: what they cost, and what they said."""
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path as File


@dataclass
class Cost:
    """Of a process and the children that it waited for."""

    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    def __add__(self, other):
        return Cost(self.cpu_seconds + other.cpu_seconds, max(self.peak_bytes, other.peak_bytes))


class Process:
    """Started at once; its stderr is kept. Ended with the benchmark, at the latest when the deadline has passed."""

    alive = []  # all that are looked at while one of them is waited for

    def __init__(self, argv, stdin=None, stdout=None, env=None):
        self.argv = [str(word) for word in argv]
        self.stderr_file = tempfile.TemporaryFile()
        self.popen = subprocess.Popen(self.argv, stdin=stdin if stdin is not None else subprocess.DEVNULL,
                                      stdout=stdout if stdout is not None else subprocess.DEVNULL, stderr=self.stderr_file,
                                      env={**os.environ, **(env or {})}, start_new_session=True)
        self.cost = None
        self.status = None
        self.peak_bytes = 0
        self.on_look = None  # called now and then while one is waited for
        Process.alive.append(self)

    def wait(self, seconds):
        """True if it has ended; its cost and status are known then."""
        deadline = time.monotonic() + seconds
        while self.cost is None:
            for process in Process.alive:
                process.look_at_memory()
                if process.on_look:
                    process.on_look()
            pid, status, use = os.wait4(self.popen.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.popen.returncode = self.status
                Process.alive.remove(self)
                self.cost = Cost(use.ru_utime + use.ru_stime, self.peak_bytes)
            elif time.monotonic() > deadline:
                return False
            else:
                time.sleep(0.02)
        return True

    def children(self):
        """The pids; none of a process that has ended."""
        if self.cost is not None:
            return []
        return File(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text(encoding="ascii").split()

    def look_at_memory(self):
        """The kernel's own high-water mark, of the program and its children; that of wait4() counts what was before exec()."""
        try:
            for pid in (self.popen.pid, *self.children()):
                for line in File(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
                    if line.startswith("VmHWM:"):
                        self.peak_bytes = max(self.peak_bytes, int(line.split()[1]) * 1024)
        except OSError:
            pass  # it has just ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, first=signal.SIGTERM):
        """Ends it and all that it started."""
        for number in (first, signal.SIGKILL):
            if self.cost is None:
                try:
                    os.killpg(self.popen.pid, number)
                except ProcessLookupError:
                    pass
                self.wait(5)
        return self

    def errors(self):
        self.stderr_file.seek(0)
        return self.stderr_file.read().decode(errors="replace")

    def json(self):
        """The last line of stderr that is a JSON object."""
        for line in reversed(self.errors().splitlines()):
            if line.startswith("{"):
                return json.loads(line)
        raise Failed(self, "said no figures")


class Failed(RuntimeError):
    def __init__(self, process, why):
        super().__init__(f"{' '.join(process.argv[:6])}…: {why}: {process.errors().strip()[-300:]}")


def finish(process, seconds, accepted=(0,)):
    """Waits; an ending that is not accepted is a failure of the measurement, not a figure."""
    if not process.wait(seconds):
        process.stop()
        raise Failed(process, f"still running after {seconds:.0f} s")
    if process.status not in accepted:
        raise Failed(process, f"exit status {process.status}")
    return process


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("what should have started has not")
        time.sleep(0.02)
