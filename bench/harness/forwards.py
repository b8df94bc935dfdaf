# SPDX-License-Identifier: Apache-2.0
"""A TCP service at the far end, under a port of the near one: by which program. Each is a context; inside it the ports answer, and after
it `cost` is there."""
import contextlib
import tempfile

from .measurement import PORT, SOCAT, UDTCAT, listening, make_certificate, use_new_key
from .paths import Ends
from .processes import Cost, Process, until
from .tools import Sshd


def near_listening(ends, port):
    here = Ends()
    here.far_prefix = ends.near_prefix
    return listening(here, port)


class Direct:
    """Nothing in between."""

    name = "none"
    cost = Cost()

    def __init__(self, ends, near_port, service_port):
        self.host, self.port = ends.far_address, service_port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Forward:
    """Two processes. A subclass has a `name`; near_words(), the near one's command line; and start_far(), which enters all that it starts
    into `started`, returns once that answers, and gives the far process."""

    host = "127.0.0.1"

    def __init__(self, ends, near_port, service_port):
        self.ends, self.port, self.service_port = ends, near_port, service_port

    def __enter__(self):
        with contextlib.ExitStack() as started:
            self.far = self.start_far(started)
            self.near = started.enter_context(Process(self.ends.at_near(self.near_words())))
            until(near_listening(self.ends, self.port))
            self.started = started.pop_all()
        return self

    def __exit__(self, *_):
        self.started.close()  # the near one first
        self.cost = self.near.cost + self.far.cost


class Udtcat(Forward):
    name = "udtcat"
    quiet = ("--no-progress", "--stats", "none")

    def __init__(self, ends, near_port, service_port, options=()):
        super().__init__(ends, near_port, service_port)
        self.options = options  # of the connector

    def start_far(self, started):
        use_new_key()
        words = [UDTCAT, "-l", PORT, "--to", f"127.0.0.1:{self.service_port}", *self.quiet]
        far = started.enter_context(Process(self.ends.at_far(words)))
        until(listening(self.ends, PORT, "-lnu"))
        return far

    def near_words(self):
        return [UDTCAT, self.ends.far_address, PORT, "--from", f"127.0.0.1:{self.port}", *self.quiet, *self.options]


class Ssh(Forward):
    name = "ssh -L"

    def start_far(self, started):
        self.sshd = started.enter_context(Sshd(self.ends))
        return self.sshd.daemon

    def near_words(self):
        return ["ssh", *self.sshd.options, "-N", "-L", f"127.0.0.1:{self.port}:127.0.0.1:{self.service_port}", f"root@{self.ends.far_address}"]


class SocatTls(Forward):
    """A process a connection, and a handshake of TLS."""

    name = "socat TLS"
    many = "reuseaddr,fork,backlog=1024,nodelay"

    def start_far(self, started):
        both = make_certificate(started.enter_context(tempfile.TemporaryDirectory(prefix="udtcat-bench-")))
        words = [*SOCAT, f"OPENSSL-LISTEN:{PORT},cert={both},verify=0,{self.many}", f"TCP:127.0.0.1:{self.service_port},nodelay"]
        far = started.enter_context(Process(self.ends.at_far(words)))
        until(listening(self.ends, PORT))
        return far

    def near_words(self):
        return [*SOCAT, f"TCP-LISTEN:{self.port},bind=127.0.0.1,{self.many}", f"OPENSSL:{self.ends.far_address}:{PORT},verify=0,nodelay"]


FORWARDS = {each.name: each for each in (Udtcat, Ssh, SocatTls, Direct)}
