# SPDX-License-Identifier: Apache-2.0
"""GridFTP from /dev/zero there to /dev/null here: Globus' programs, ours, and theirs by way of ours."""
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path as File

from .measurement import PORT, SLACK, UDTCAT, Measurement, Tool, listening, use_new_key
from .paths import BUILD
from .processes import Failed, Process, until

STREAMS = (1, 2, 4, 8)  # of the rows that can be asked for by name
ENDLESS = 1 << 50
GLOBUS = ("globus-url-copy", "globus-gridftp-server")
PACKAGES = "globus-gass-copy-progs, globus-gridftp-server-progs"
DRIVER = BUILD / "libglobus_xio_udtcat_driver.so"

# The credential travels over the control channel: for a benchmark only.
GLOBUS_LEVELS = {"clear": ["-nodcau"], "dcau": ["-data-cred", "auto"], "dcsafe": ["-data-cred", "auto", "-dcsafe"],
                 "dcpriv": ["-data-cred", "auto", "-dcpriv"]}
GLOBUS_LEVEL_OF = {"clear": "clear", "auth": "dcau", "safe": "dcsafe", "private": "dcpriv"}  # by ours


class Written:
    """What a process that is waited for, or a child of it, has written so far: [seconds, bytes by then]."""

    LOGIN = 65_536  # guess: what is said before the first byte of the file is less
    INTERVAL = 0.25  # guess: seconds, enough for a plot

    def __init__(self, waited_for, pid):
        self.pid, self.samples, self.begin = pid, [], time.monotonic()
        waited_for.on_look = self.look

    def look(self):
        with contextlib.suppress(OSError, IndexError):  # it has just ended, or has not begun
            told = File(f"/proc/{self.pid()}/io").read_text(encoding="ascii")
            self.samples.append([time.monotonic() - self.begin, int(told.split("wchar: ")[1].split()[0])])

    def begun(self):
        return bool(self.samples) and self.samples[-1][1] > self.LOGIN

    def from_first_byte(self):
        """Bytes, seconds without the login, and samples."""
        first = next(place for place, (_, total) in enumerate(self.samples) if total > self.LOGIN)
        begin, before = self.samples[max(0, first - 1)]
        end, total = self.samples[-1]
        shown = []
        for at, so_far in self.samples[first:]:
            if not shown or at - begin - shown[-1][0] >= self.INTERVAL or at == end:
                shown.append([round(at - begin, 3), so_far - before])
        return total - before, end - begin, shown


def watch(client, seconds, pid=None):
    """An endless transfer for so many seconds from its first byte on; then the client is ended."""
    written = Written(client, pid or (lambda: client.popen.pid))
    deadline = time.monotonic() + SLACK
    while not written.begun():
        if client.wait(0.02):
            raise Failed(client, f"ended before the first byte, status {client.status}")
        if time.monotonic() > deadline:
            raise Failed(client, "not a byte has come")
    if client.wait(seconds):
        raise Failed(client, f"ended too soon, status {client.status}")
    client.stop(signal.SIGKILL)
    return written.from_first_byte()


def names(own, ends, directory):
    """Globus' programs want names for addresses, and a namespace has no resolver: a hosts file of its own for each."""
    hosts = File(directory, f"hosts-{own}")
    hosts.write_text(f"{own} {os.uname().nodename}\n127.0.0.1 localhost\n{ends.near_address} near\n{ends.far_address} far\n", encoding="ascii")
    return ["unshare", "--mount", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]


def server_words(address, directory, threads, more=()):
    return ["globus-gridftp-server", "-c", "/dev/null", "-p", PORT, "-threads", threads, "-control-interface", address, "-data-interface", address,
            "-hostname", address, "-aa", "-anonymous-user", "root", "-allow-root", "-anonymous-names-allowed", "*", "-home-dir", "/", "-d", "error",
            "-l", f"{directory}/log-{address}", *more]


def gone(server):
    """Whose cost is the server's when it has waited for them."""
    return lambda: not server.children()


@contextlib.contextmanager
def no_gateways(ends):
    yield ends.far_address, PORT, ()


GATEWAY_PORT = PORT + 2


def listening_near(ends, port):
    return lambda: f":{port} " in subprocess.run(ends.at_near(["ss", "-H", "-lnt"]), capture_output=True, text=True).stdout


@contextlib.contextmanager
def two_gateways(ends):
    use_new_key()
    words = [UDTCAT, "gridftp", "gateway"]
    common = ["--stats", "json", "--no-progress"]
    with Process(ends.at_far([*words, "-l", PORT, "--to", f"{ends.far_address}:{PORT}", *common])) as far:
        until(listening(ends, PORT, "-lnu"))
        with Process(ends.at_near([*words, ends.far_address, PORT, "--from", f"{ends.near_address}:{GATEWAY_PORT}", *common])) as near:
            until(listening_near(ends, GATEWAY_PORT))
            yield ends.near_address, GATEWAY_PORT, (far, near)


def measure_globus(level, streams, threads=0, gateways=no_gateways, options=()):
    """Their client and their server; options of the client."""

    def measure(ends, seconds):
        ends.set_tcp()
        with tempfile.TemporaryDirectory(prefix="udtcat-bench-") as directory:
            env = {"X509_CERT_DIR": directory, "HOME": directory, "GLOBUS_THREAD_MODEL": "pthread" if threads else "none"}
            words = server_words(ends.far_address, directory, threads)
            with Process(ends.at_far(words, names(ends.far_address, ends, directory)), env=env) as server:
                until(listening(ends, PORT))
                with gateways(ends) as (host, port, between):
                    words = ["globus-url-copy", "-p", streams, *GLOBUS_LEVELS[level], *options, "-len", ENDLESS, f"ftp://{host}:{port}/dev/zero",
                             "file:///dev/null"]
                    client = Process(ends.at_near(words, names(ends.near_address, ends, directory)), env=env)
                    size, elapsed, samples = watch(client, seconds)
                    until(gone(server))
        cost = sum((process.cost for process in (server, *between)), client.cost)
        resent = None
        if between:
            stats = between[0].json()
            resent = int(stats["packets_resent"] * stats["bytes_sent"] / max(1, stats["packets_sent"] - stats["packets_resent"]))
        return Measurement(size, elapsed, cost.cpu_seconds, cost.peak_bytes, resent, samples)

    return measure


def measure_ours(level, streams, over_what, options=()):
    """Our client and our server, its data connections streams of one session; or what the options say."""

    def measure(ends, seconds):
        ends.set_tcp()
        use_new_key()
        common = ["--no-progress", "--protect", level, *options]
        over = ["--over", over_what]
        control = [] if level == "clear" else ["--clear-control"]
        with Process(ends.at_far([UDTCAT, "gridftp", "serve", "--root", "/", "-l", f"{ends.far_address}:{PORT}", "--auth", "anonymous", *common])) as server:
            until(listening(ends, PORT))
            client = Process(ends.at_near([UDTCAT, "gridftp", "get", "-p", streams, *over, *common, *control, "--range", f"0-{ENDLESS}",
                                           f"ftp://{ends.far_address}:{PORT}/dev/zero", "/dev/null"]))
            size, elapsed, samples = watch(client, seconds)
        cost = client.cost + server.cost
        return Measurement(size, elapsed, cost.cpu_seconds, cost.peak_bytes, None, samples)

    return measure


def measure_driver(level, streams):
    """Two of their servers with our driver under them, from one to the other as their client bids them."""

    def measure(ends, seconds):
        ends.set_tcp()
        use_new_key()
        with tempfile.TemporaryDirectory(prefix="udtcat-bench-") as directory, contextlib.ExitStack() as started:
            env = {"HOME": directory, "X509_CERT_DIR": directory, "LD_LIBRARY_PATH": str(DRIVER.parent)}
            more = ["-dc-whitelist", "tcp,gsi,udtcat", "-dc-default", f"udtcat:protection={level},gsi"]
            servers = []
            for at, address, ready in ((ends.at_far, ends.far_address, listening(ends, PORT)), (ends.at_near, ends.near_address, listening_near(ends, PORT))):
                words = server_words(address, directory, 0, more)
                servers.append(started.enter_context(Process(at(words, names(address, ends, directory)), env=env)))
                until(ready)
            words = ["globus-url-copy", "-p", streams, "-nodcau", "-len", ENDLESS, f"ftp://{ends.far_address}:{PORT}/dev/zero",
                     f"ftp://{ends.near_address}:{PORT}/dev/null"]
            client = Process(ends.at_near(words, names(ends.near_address, ends, directory)), env=env)
            size, elapsed, samples = watch(client, seconds, lambda: servers[-1].children()[0])
            for server in servers:
                until(gone(server))
        cost = sum((server.cost for server in servers), client.cost)
        return Measurement(size, elapsed, cost.cpu_seconds, cost.peak_bytes, None, samples)

    return measure


def theirs(level, streams, threads=None):
    """By our name of the level; threads of each of the two programs, which has none of its own choice."""
    name = f"gridftp {GLOBUS_LEVEL_OF[level]} -p {streams}" + (f" threads {threads}" if threads is not None else "")
    cell = {"who": "stock", "protect": level, "threads": threads or 0, "streams": streams}
    return Tool(name, GLOBUS, measure_globus(GLOBUS_LEVEL_OF[level], streams, threads or 0), PACKAGES, cell=cell)


def untuned(streams):
    """Theirs with the window that a connection had when the papers were written, unless somebody tuned it."""
    cell = {"who": "stock, 64 KiB windows", "protect": "clear", "threads": 0, "streams": streams}
    return Tool(f"gridftp clear -p {streams}, 64 KiB", GLOBUS, measure_globus("clear", streams, options=("-tcp-bs", 65536)), PACKAGES, cell=cell)


def ours(level, streams, threads=None, beside=None):
    """Cipher threads of each of the two programs: as many as cores of its own choice."""
    name, options = f"udtcat gridftp {level} -p {streams}", []
    if threads is not None:
        name, options = f"{name} threads {threads}", [*options, "--threads", threads]
    cell = {"who": "ours", "protect": level, "threads": threads or os.cpu_count(), "streams": streams, "beside": beside}
    return Tool(name, (UDTCAT,), measure_ours(level, streams, "session", options), cell=cell)


GRIDFTP_TOOLS = (
    *(theirs(level, streams) for level in GLOBUS_LEVEL_OF for streams in STREAMS),
    *(untuned(streams) for streams in STREAMS),
    *(ours(level, streams, beside=theirs(level, streams).name) for level in GLOBUS_LEVEL_OF for streams in STREAMS),
    Tool("udtcat gridftp tcp -p 4", (UDTCAT,), measure_ours("clear", 4, "tcp")),
    *(Tool(f"gridftp over udtcat's driver, {level} -p 4", (*GLOBUS, DRIVER), measure_driver(level, 4), PACKAGES) for level in ("clear", "private")),
    Tool("gridftp gateway", (*GLOBUS, UDTCAT), measure_globus("clear", 8, 0, two_gateways), PACKAGES),
)
