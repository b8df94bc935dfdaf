# SPDX-License-Identifier: Apache-2.0
"""What a tool is and what it gives, and what more than one kind of them needs."""
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field

from .paths import BUILD, Ends

UDTCAT = BUILD / "udtcat"
PORT = Ends.port
SOCAT = ("socat", "-b", "262144")  # guess: bytes a block; with its own 8192 the calls would be measured, not TLS
SLACK = 60  # guess: seconds to drain what is buffered on the slowest path


@dataclass
class Measurement:
    bytes: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    resent_bytes: int = None  # as the tool itself counts; None: it does not say
    samples: list = field(default_factory=list)  # [seconds, bytes by then]
    figures: dict = field(default_factory=dict)  # the others that there are

    def to_json(self):
        return {
            "bytes": self.bytes,
            "seconds": round(self.seconds, 4),
            "gbit_per_second": round(self.bytes * 8 / self.seconds / 1e9, 9) if self.seconds > 0 else 0.0,
            "cpu_seconds_per_gb": round(self.cpu_seconds / (self.bytes / 1e9), 4) if self.bytes else None,
            "peak_bytes": self.peak_bytes,
            "resent_bytes": self.resent_bytes,
            "samples": self.samples,
            **self.figures,
        }


@dataclass
class Tool:
    name: str
    needs: tuple  # programs, by name or path
    measure: object = field(repr=False)  # (ends, seconds) -> Measurement
    package: str = ""
    sizes_itself: bool = False  # makes trial copies first: when the one that counts runs is its own affair
    cell: dict = None  # its place in a table: who, protect, threads, streams, and beside which tool

    @property
    def takes_any_port(self):
        return self.name.startswith(("udtcat ", "tcp ")) and "gridftp" not in self.name and not self.sizes_itself

    def missing(self):
        return [str(need) for need in self.needs if shutil.which(str(need)) is None]


def listening(ends, port, kind="-lnt"):
    return lambda: f":{port} " in subprocess.run(ends.at_far(["ss", "-H", kind]), capture_output=True, text=True).stdout


CACHE = tempfile.TemporaryDirectory(prefix="udtcat-bench-cache-")


def use_new_key():
    """And no memory of paths: the two hosts have never met."""
    os.environ["UDTCAT_KEY"] = subprocess.run([str(UDTCAT), "keygen"], check=True, capture_output=True, text=True).stdout.strip()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(dir=CACHE.name)


def make_certificate(directory):
    """For socat's TLS: the path of a certificate and its key in one file."""
    both, alone = f"{directory}/both.pem", f"{directory}/certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=bench",
                    "-keyout", both, "-out", alone], check=True, capture_output=True)
    with open(both, "a", encoding="ascii") as file, open(alone, encoding="ascii") as certificate:
        file.write(certificate.read())
    return both
