# SPDX-License-Identifier: Apache-2.0
"""Where a transfer runs: between which two ends, and over what."""
import contextlib
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path as File

ROOT = File(__file__).resolve().parents[2]
BUILD = File(os.environ.get("UDTCAT_BENCH_BUILD", ROOT / "build" / "release"))
WANLAB = BUILD / "bench" / "wan" / "wanlab"

# Linux's own, and what a person with root would set for a long fat path. Those of net.core are the whole machine's.
ORDINARY_LIMITS = {f"net.core.{way}mem_{which}": "212992" for way in "rw" for which in ("default", "max")}
DEFAULT_BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304"}
TUNED_BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 536870912", "net.ipv4.tcp_wmem": "4096 131072 536870912"}


# Programs have root's files and the rights of an ordinary user: no buffers past net.core.rmem_max, no larger pipes, no priority.
RIGHTS = ",".join(f"-{right}" for right in ("net_admin", "net_raw", "sys_admin", "sys_resource", "sys_nice", "ipc_lock"))
AS_USER = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}", "--"]


def setting(name):
    return File("/proc/sys") / name.replace(".", "/")


@contextlib.contextmanager
def machine_set_up(as_root):
    """Lets namespaces choose among all congestion controls that the kernel has, and gives programs what every system gives its
    users; with as_root, what root may take. Put back at the end."""
    Ends.as_root = as_root
    wanted = {"net.ipv4.tcp_allowed_congestion_control": setting("net.ipv4.tcp_available_congestion_control").read_text(encoding="ascii")}
    if not as_root:
        wanted |= ORDINARY_LIMITS
    before = {name: setting(name).read_text(encoding="ascii") for name in wanted}
    try:
        for name, value in wanted.items():
            setting(name).write_text(value, encoding="ascii")
        yield
    finally:
        for name, value in before.items():
            setting(name).write_text(value, encoding="ascii")


def default_congestion():
    """What a program gets that does not choose."""
    return setting("net.ipv4.tcp_congestion_control").read_text(encoding="ascii").strip()


class Ends:
    """Two ends with an address each; commands are prefixed so that they run there."""

    near_address = far_address = "127.0.0.1"
    near_prefix: list = []
    far_prefix: list = []
    as_root = True
    port = 5001  # of the tool that is measured
    source_words: tuple = ()  # of `flow source`, after the seconds: how many bytes, and how often

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def at_near(self, argv, within=()):
        """within   what prepares the place with root's rights"""
        return [*self.near_prefix, *within, *self.rights(), *map(str, argv)]

    def at_far(self, argv, within=()):
        return [*self.far_prefix, *within, *self.rights(), *map(str, argv)]

    def rights(self):
        return [] if self.as_root else AS_USER

    def set_tcp(self, congestion=None, buffers=None):
        settings = {"net.ipv4.tcp_congestion_control": congestion or default_congestion(), **(buffers or DEFAULT_BUFFERS)}
        script = "set -e; " + "; ".join(f"echo '{value}' > /proc/sys/{name.replace('.', '/')}" for name, value in settings.items())
        for prefix in (self.near_prefix, self.far_prefix):
            subprocess.run([*prefix, "sh", "-c", script], check=True)

    def wire_counters(self):
        """What the link was offered, out and back; None where nobody counts."""
        return None


def write_trace(path, lines):
    if lines:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return str(path) if lines else ""


class Wan(Ends):
    """bench/wan/wanlab."""

    near_address, far_address = "10.77.0.1", "10.77.0.2"

    def __init__(self, traces=(), **link):
        """traces   the lines of mahimahi's files, out and back; none for a way at the rate"""
        self.traces = traces
        self.options = [word for name, value in link.items() for word in (f"--{name.replace('_', '-')}", str(value))]

    def __enter__(self):
        command = [str(WANLAB), *self.options, "--quiet", "--hold"]
        with tempfile.TemporaryDirectory(prefix="udtcat-bench-") as directory:
            if self.traces:
                command += ["--trace", ",".join(write_trace(File(directory, way), lines) for way, lines in zip(("out", "back"), self.traces))]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            line = self.process.stdout.readline()  # it has read its files
        if not line:
            raise RuntimeError(f"wanlab did not start: {' '.join(command)}")
        self.lab = json.loads(line)
        prefix = [str(WANLAB), "on", "--lab", str(self.lab["pid"])]
        self.near_prefix, self.far_prefix = [*prefix, "near", "--"], [*prefix, "far", "--"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            subprocess.run([str(WANLAB), "--clean"], check=False)

    def tell(self, *words):
        return subprocess.run([str(WANLAB), "tell", "--lab", str(self.lab["pid"]), *words], check=True, capture_output=True, text=True).stdout

    def wire_counters(self):
        return json.loads(self.tell("stats"))


def hold_namespace():
    """A process that lives in a network namespace of its own, and goes with us."""
    process = subprocess.Popen(["unshare", "--net", "--kill-child", "sh", "-c", "ip link set lo up; echo ready; exec sleep 100000"],
                               stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise RuntimeError("no network namespace could be made; run as root")
    return process


def inside(process):
    return ["nsenter", f"--net=/proc/{process.pid}/ns/net", "--"]


class Loopback(Ends):
    """One host, nothing in between; a namespace of its own, so that nobody else's ports or settings matter."""

    def __init__(self, mtu=65536):
        self.mtu = mtu

    def __enter__(self):
        self.holder = hold_namespace()
        self.near_prefix = self.far_prefix = inside(self.holder)
        subprocess.run([*self.near_prefix, "ip", "link", "set", "lo", "mtu", str(self.mtu)], check=True)
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()


class Veth(Ends):
    """Two hosts and a cable: two namespaces joined by a veth pair."""

    near_address, far_address = "10.78.0.1", "10.78.0.2"

    def __init__(self, mtu=1500):
        self.mtu = mtu

    def __enter__(self):
        self.near, self.far = hold_namespace(), hold_namespace()
        self.near_prefix, self.far_prefix = inside(self.near), inside(self.far)
        for prefix, command in (
            (self.near_prefix, f"link add lan0 type veth peer name lan0 netns {self.far.pid}"),
            (self.near_prefix, f"address add {self.near_address}/24 dev lan0"),
            (self.far_prefix, f"address add {self.far_address}/24 dev lan0"),
            (self.near_prefix, f"link set lan0 mtu {self.mtu} up"),
            (self.far_prefix, f"link set lan0 mtu {self.mtu} up"),
        ):
            subprocess.run([*prefix, "ip", *command.split()], check=True)
        return self

    def __exit__(self, *_):
        for holder in (self.near, self.far):
            holder.kill()
            holder.wait()


@dataclass(frozen=True)
class Scenario:
    """A path by name, and what it stands for."""

    name: str
    text: str
    make: object = field(repr=False)
    seconds: float = 10
    companions: tuple = (None,)  # kernel TCP flows that share the path, one after the other: by congestion control
    beside: tuple = ()  # (ends) -> a context around the transfer, whose figures() are its own
    flows: int = 1  # of the same tool, at once
    source_words: tuple = ()  # of `flow source`
    tools: tuple = ()  # by default; () for those of bench/run
    baseline: str = "raw libudt"


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("loopback", "one host, no link", Loopback, 5),
        Scenario("loopback-1500", "one host, no link, 1500-byte MTU", lambda: Loopback(1500), 5),
        Scenario("lan", "two hosts and a cable, 1500-byte MTU", Veth, 5),
        Scenario("lan-9000", "two hosts and a cable, 9000-byte MTU", lambda: Veth(9000), 5),
        Scenario("poster", "10 Gbit/s, 75 ms, 0.1 % loss", lambda: Wan(rate="10G", rtt="75ms", loss="0.1%")),
        Scenario("ranger", "10 Gbit/s, 68 ms, clean", lambda: Wan(rate="10G", rtt="68ms")),
        Scenario("cineca", "100 Mbit/s, 26 ms, clean", lambda: Wan(rate="100M", rtt="26ms")),
        Scenario("lossy", "1 Gbit/s, 75 ms, 1 % loss", lambda: Wan(rate="1G", rtt="75ms", loss="1%")),
        Scenario("long", "1 Gbit/s, 268 ms, 0.97 % loss", lambda: Wan(rate="1G", rtt="268ms", loss="0.97%"), 20),
        Scenario("jitter", "1 Gbit/s, 50 ms, 2 % late by 3 ms", lambda: Wan(rate="1G", rtt="50ms", reorder="2%", reorder_delay="3ms")),
        Scenario("shared", "1 Gbit/s, 20 ms, beside a kernel TCP flow", lambda: Wan(rate="1G", rtt="20ms"), 20, ("cubic", "bbr")),
        *(Scenario(f"plain-{rtt}ms-{loss}%", f"2 Gbit/s, {rtt} ms, {loss} % loss", lambda rtt=rtt, loss=loss: Wan(rate="2G", rtt=f"{rtt}ms", loss=f"{loss}%"))
          for rtt in (20, 75) for loss in (0, 0.1, 0.5, 1, 5)),
        Scenario("plain-reorder", "2 Gbit/s, 20 ms, 1 % late by 3 ms", lambda: Wan(rate="2G", rtt="20ms", reorder="1%", reorder_delay="3ms")),
        Scenario("limited", "10 Gbit/s, 40 ms, each flow policed to 1 Gbit/s", lambda: Wan(rate="10G", rtt="40ms", per_flow_rate="1G")),
        Scenario("free", "10 Gbit/s, 40 ms, clean", lambda: Wan(rate="10G", rtt="40ms")),
        Scenario("two-paths", "two paths of 1 Gbit/s, 40 ms: a flow takes one by its hash", lambda: Wan(paths=2, rate="1G", rtt="40ms")),
        Scenario("lossy-path", "the same, and the second loses 5 %", lambda: Wan(paths=2, rate="1G", rtt="40ms", path="2:loss=5%")),
        Scenario("longhaul", "1 Gbit/s, 300 ms, clean", lambda: Wan(rate="1G", rtt="300ms"), 20),
    )
}
