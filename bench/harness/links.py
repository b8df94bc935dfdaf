# SPDX-License-Identifier: Apache-2.0
"""Access links and other real paths: rates that vary, bursts, policers, queues too short and too long, paths that change. Each beside kernel
TCP in the clear, with tuned buffers for TCP, and with the round trip of a small question beside the transfer."""
import functools
import json
import math
import random
import tempfile
import threading
import time

from .paths import BUILD, Scenario, Wan
from .processes import Failed, Process
from .tools import TcpFlow

PROBE = BUILD / "bench" / "wan" / "wanprobe"
PROBE_PORT, BACK_PORT = 5011, 5012
OPPORTUNITY_BITS = 12_000  # of a line of a trace


def opportunities(rates):
    """The lines of a trace. rates: (seconds, Mbit/s) one after the other."""
    lines, at_ms, credit = [], 0.0, 0.0
    for seconds, megabits in rates:
        each_ms = OPPORTUNITY_BITS / (megabits * 1000)
        end_ms, at_ms = at_ms + 1000 * seconds, at_ms + (1 - credit) * each_ms
        while at_ms <= end_ms:
            lines.append(math.ceil(at_ms))
            at_ms += each_ms
        credit, at_ms = 1 - (at_ms - end_ms) / each_ms, end_ms
    return lines


@functools.cache
def walk(low, high, step, spread, seed, seconds=40):
    """A random walk of the rate, with a fixed seed: the lines of a trace."""
    chance, rate, rates, total = random.Random(seed), math.sqrt(low * high), [], 0.0
    while total < seconds:
        rates.append((chance.uniform(*step), rate))
        total += rates[-1][0]
        rate = min(high, max(low, rate * math.exp(chance.gauss(0, spread))))
    return opportunities(rates)


@functools.cache
def starlink_rates(seed=3, seconds=45):
    chance = random.Random(seed)
    return opportunities([(0.5, min(250, max(50, chance.gauss(150, 60)))) for _ in range(2 * seconds)])


def starlink_steps(seed=3, seconds=45):
    """A satellite each 15 s: another round trip, and an outage between."""
    chance, steps = random.Random(seed), []
    for at in range(0, seconds, 15):
        steps.append((at, f"set rtt {chance.uniform(25, 60):.0f}ms"))
        steps += [(at + 14.6, "outage on"), (at + 14.6 + chance.uniform(0.1, 0.4), "outage off")]
    return tuple(steps)


class Beside:
    """Something that runs during a transfer."""

    def __init__(self, ends):
        self.ends = ends

    def __enter__(self):
        return self

    def figures(self):
        """Its measurements, after the transfer."""
        return {}


class Steps(Beside):
    """Tells wanlab each setting at its time: (seconds, words)."""

    def __init__(self, ends, steps):
        super().__init__(ends)
        self.steps = steps
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.tell)

    def __enter__(self):
        self.thread.start()
        return self

    def tell(self):
        begin = time.monotonic()
        for at, words in self.steps:
            if self.ended.wait(begin + at - time.monotonic()):
                return
            self.ends.tell(*words.split())

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Cut(Beside):
    """Cuts the path that carries most, of several, and gives it back."""

    LOOK_SECONDS = 0.5  # for so long is counted which that is

    def __init__(self, ends, at, back=None):
        super().__init__(ends)
        self.at, self.back = at, back
        self.said = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.cut)

    def __enter__(self):
        self.thread.start()
        return self

    def carried(self):
        return [path["out"]["bytes"] for path in self.ends.wire_counters()["paths"]]

    def cut(self):
        begin = time.monotonic()
        if self.ended.wait(self.at - self.LOOK_SECONDS):
            return
        before = self.carried()
        if self.ended.wait(begin + self.at - time.monotonic()):
            return
        lately = [now - then for now, then in zip(self.carried(), before)]
        path = 1 + lately.index(max(lately))
        self.ends.tell("outage", "on", str(path))
        self.said = {"cut": {"path": path, "monotonic": time.monotonic(), "bytes_lately": lately}}
        if self.back is not None and not self.ended.wait(begin + self.back - time.monotonic()):
            self.ends.tell("outage", "off", str(path))

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def figures(self):
        return self.said


class Questions(Beside):
    """How long a small question and its answer take beside the transfer."""

    def __init__(self, ends, each_ms):
        super().__init__(ends)
        self.out = tempfile.TemporaryFile("w+")
        self.service = Process(ends.at_far([PROBE, "echo", PROBE_PORT]))
        self.asker = Process(ends.at_near([PROBE, "delay", ends.far_address, PROBE_PORT, each_ms]), stdout=self.out)

    def __exit__(self, *_):
        self.asker.stop()
        self.service.stop()

    def figures(self):
        if self.asker.status != 0:
            raise Failed(self.asker, "had no answer")
        self.out.seek(0)
        return {"delay": json.loads(self.out.read())}


class BackLoad(Beside):
    """A kernel TCP flow that fills the way back."""

    def __enter__(self):
        self.flow = TcpFlow(self.ends, 600, "cubic", BACK_PORT, ("-R",))
        self.flow.__enter__()
        time.sleep(2)  # until it has filled its queue
        return self

    def __exit__(self, *unused):
        self.flow.__exit__(*unused)


BULK = ("udtcat private", "tcp bbr tuned", "tcp cubic tuned")
PIPES = ("udtcat private", "tcp bbr pipe", "tcp cubic pipe")


def link(name, text, *beside, seconds=20, steps=(), traces=tuple, each_ms=20, source_words=(), flows=1, companions=(None,), **options):
    """each_ms   between questions: what a slow line hardly feels
    traces    made when they are wanted
    options   of wanlab"""
    beside = (functools.partial(Questions, each_ms=each_ms), functools.partial(Steps, steps=steps), *beside)
    tools = PIPES if source_words else BULK
    return Scenario(name, text, lambda: Wan(traces(), **options), seconds, companions, beside, flows, source_words, tools, tools[1])


LINKS = {
    scenario.name: scenario
    for scenario in (
        link("lte-walk", "LTE: 2 to 60 Mbit/s, 50 ms, 1 MB queue", rate="15M", rtt="50ms", queue="1MB",
             traces=lambda: (walk(2, 60, (0.1, 0.2), 0.35, 7), ())),
        link("lte-walk-300kB", "LTE: 2 to 60 Mbit/s, 50 ms, 300 kB queue", rate="15M", rtt="50ms", queue="300kB", traces=lambda: (walk(2, 60, (0.1, 0.2), 0.35, 7), ())),
        link("wifi-bursts", "Wi-Fi: 30 to 300 Mbit/s in bursts each 4 to 20 ms, 10 ms, 0.1 % loss", rtt="10ms", queue="1MB", loss="0.1%", release="4-20",
             traces=lambda: (walk(30, 300, (0.2, 0.5), 0.4, 5),) * 2),
        link("starlink", "Starlink: 50 to 250 Mbit/s, another path each 15 s, 0.5 % loss in bursts", steps=starlink_steps(), rate="150M", rtt="40ms",
             queue="1MB", loss="0.5%", burst="8", traces=lambda: (starlink_rates(),) * 2),
        link("geo", "50 Mbit/s, 600 ms, 0.5 % loss, 375 kB queue", rate="50M", rtt="600ms", loss="0.5%", queue="375kB", seconds=30),
        link("geo-deep", "50 Mbit/s, 600 ms, 0.5 % loss, 3.75 MB queue", rate="50M", rtt="600ms", loss="0.5%", queue="3750kB", seconds=30),
        *(link(f"policer-{rate}{name}", f"a policer of {rate} with a bucket of {bucket}, 20 ms", rate="1G", rtt="20ms", queue="2500kB", police=f"{rate}/0",
               police_burst=bucket) for rate, bucket, name in (("20M", "1MB", ""), ("100M", "5MB", ""), ("500M", "10MB", ""), ("100M", "100kB", "-100kB"))),
        link("bufferbloat", "20 Mbit/s, 20 ms, a queue of 2 s", rate="20M", rtt="20ms", queue="2s"),
        link("bufferbloat-codel", "20 Mbit/s, 20 ms, a queue of 2 s with CoDel", rate="20M", rtt="20ms", queue="2s", qdisc="codel"),
        link("bufferbloat-shared", "20 Mbit/s, 20 ms, a queue of 2 s, beside a kernel TCP flow", rate="20M", rtt="20ms", queue="2s", companions=("cubic", "bbr")),
        *(link(f"shallow-{rate}", f"{rate}bit/s, 20 ms, a queue of {queue}", rate=rate, rtt="20ms", queue=queue)
          for rate, queue in (("1G", "125kB"), ("500M", "62kB"), ("200M", "25kB"))),
        link("shallow-100M", "100 Mbit/s, 26 ms, a queue of 30 KiB", rate="100M", rtt="26ms", queue="30KiB"),
        *(link(f"reorder-{share}%-{by}", f"200 Mbit/s, 40 ms, {share} % late by {by}", rate="200M", rtt="40ms", reorder=f"{share}%", reorder_delay=by)
          for share, by in ((20, "30ms"), (5, "15ms"), (20, "5ms"))),
        link("duplicates", "200 Mbit/s, 40 ms, 2 % twice", rate="200M", rtt="40ms", duplicate="2%"),
        link("rate-steps", "200 Mbit/s, from 8 to 16 s 10; 20 ms, 1 MB queue", steps=((8, "set rate 10M"), (16, "set rate 200M")), rate="200M", rtt="20ms",
             queue="1MB", seconds=24),
        link("rate-falls-100-times", "1 Gbit/s, from 8 to 14 s 10 Mbit/s; 20 ms, 1 MB queue", steps=((8, "set rate 10M"), (14, "set rate 1G")), rate="1G",
             rtt="20ms", queue="1MB"),
        link("rtt-doubles", "200 Mbit/s, 30 ms, after 5 s 60; 1 MB queue", steps=((5, "set rtt 60ms"),), rate="200M", rtt="30ms", queue="1MB"),
        link("rtt-steps", "200 Mbit/s, 20 ms, from 8 to 16 s 200; 1 MB queue", steps=((8, "set rtt 200ms"), (16, "set rtt 20ms")), rate="200M", rtt="20ms",
             queue="1MB", seconds=24),
        link("loss-steps", "200 Mbit/s, 40 ms, from 8 to 16 s 10 % loss; 1 MB queue", steps=((8, "set loss 10%/0"), (16, "set loss 0")), rate="200M",
             rtt="40ms", queue="1MB", seconds=24),
        link("outage", "200 Mbit/s, 40 ms, none from 8 to 11 s; 1 MB queue", steps=((8, "outage on"), (11, "outage off")), rate="200M", rtt="40ms", queue="1MB"),
        link("cut", "two paths of 1 Gbit/s, 40 ms: that which carries most is cut from 8 to 11 s", functools.partial(Cut, at=8, back=11), paths=2, rate="1G",
             rtt="40ms"),
        link("asymmetric", "1 Gbit/s out, 5 Mbit/s back, 40 ms", rate="1G/5M", rtt="40ms", queue="5MB/256kB"),
        link("back-loaded", "1 Gbit/s out, 5 Mbit/s back filled by CUBIC, 40 ms", BackLoad, rate="1G/5M", rtt="40ms", queue="5MB/256kB"),
        link("lossy-15%", "100 Mbit/s, 40 ms, 15 % loss", rate="100M", rtt="40ms", loss="15%/0"),
        *(link(f"lossy-{share}%-tens", f"100 Mbit/s, 40 ms, {share} % loss in tens", rate="100M", rtt="40ms", loss=f"{share}%/0", burst="10")
          for share in (15, 20, 30)),
        *(link(name, f"{number} flows of the same tool: 200 Mbit/s, 40 ms, 1 MB queue", rate="200M", rtt="40ms", queue="1MB", flows=number)
          for name, number in (("twenty", 20), ("eight", 8), ("two", 2))),
        link("slow-256k", "100 kB: 256 kbit/s, 500 ms, 64 kB queue", rate="256k", rtt="500ms", queue="64kB", each_ms=100, source_words=(100_000,)),
        link("slow-64k", "100 kB: 64 kbit/s, 200 ms, 32 kB queue", rate="64k", rtt="200ms", queue="32kB", each_ms=200, source_words=(100_000,)),
        link("slow-64k-8kB", "100 kB: 64 kbit/s, 200 ms, 8 kB queue", rate="64k", rtt="200ms", queue="8kB", each_ms=200, source_words=(100_000,)),
        link("slow-9600", "10 kB: 9600 bit/s, 200 ms, 8 kB queue", rate="9600", rtt="200ms", queue="8kB", each_ms=2000, source_words=(10_000,)),
        link("bursts-1MB", "1 MB each 5 s: 1 Gbit/s, 75 ms", rate="1G", rtt="75ms", source_words=(1_000_000, 5)),
    )
}
