# SPDX-License-Identifier: Apache-2.0
"""The tables of the papers that the project started from, ours beside theirs."""
from .gridftp import STREAMS, ours, theirs, untuned
from .measurement import UDTCAT, Tool
from .report import say
from .tools import FLOW, measure_udtcat


def threads_and_lanes(protects, threads, lanes):
    return [Tool(f"udtcat {protect} {t} threads {n} lanes", (UDTCAT, FLOW), measure_udtcat(protect, ("--threads", str(t), "--lanes", str(n))),
                 cell={"protect": protect, "threads": t, "streams": n})
            for protect in protects for t in threads for n in lanes]


def levels_and_streams(levels, streams, threads):
    """Stock programs and ours at once behind each other; pairs of threads, theirs and ours."""
    tools = []
    for level in levels:
        for number in streams:
            for their_threads, our_threads in threads:
                stock = theirs(level, number, their_threads)
                tools += [stock, ours(level, number, our_threads, stock.name)]
    return tools


def poster():
    """UDTCAT and UDR against scp, rsync and netcat: 10 Gbit/s, 75 ms, 0.1 % loss."""
    paper = {"UDTCAT memory, clear": 5.41, "UDTCAT disk, clear": 4.89, "UDR scp": 1.25, "UDR rsync": 1.28, "UDTCAT one thread, disk, encrypted": 0.95,
              "netcat": 0.82, "rsync over ssh": 0.19}
    names = ["udtcat private", "udtcat clear", "udtcat private, file", "raw libudt", "tcp cubic", "tcp bbr tuned", "ssh", "scp, file", "rsync ssh, file", "socat tls", "mbuffer"]
    return {"scenarios": ["poster"], "tools": names, "theirs": paper, "unit": "Gbit/s"}


def tengig():
    """Copy tools on ten gigabits: rate and CPU beside each other."""
    paper = {"any tool, one stream, 10 Gbit/s": "none near line rate"}
    names = ["udtcat private", "udtcat clear", "udtcat private, file", "tcp cubic", "ssh", "ssh aes128-gcm", "scp, file", "rsync ssh, file", "socat tls", "mbuffer"]
    return {"scenarios": ["lan", "lan-9000"], "tools": names, "theirs": paper, "unit": ""}


def cineca():
    """Stock GridFTP and ours at 1 to 8 streams, clear and private: 100 Mbit/s, 26 ms. Theirs was capped by a window a stream."""
    paper = dict(zip((f"GridFTP, memory, {n} streams" for n in (0, 1, 2, 3, 4, 5, 6, 8, 10)), (18.88, 19.28, 38.08, 55.92, 73.68, 84.64, 85.36, 85.36, 86.80)))
    cells = [tool(level, n).name for level in ("clear", "private") for n in STREAMS for tool in (theirs, ours)]
    names = ["udtcat private", "tcp cubic", "ssh", "scp, file", *cells, *(untuned(n).name for n in STREAMS)]
    return {"scenarios": ["cineca"], "tools": names, "theirs": paper, "unit": "Mbit/s"}


def harnessing():
    """Threads by lanes, safe and private: more of both than processors costs little."""
    powers = (1, 2, 4, 8, 16, 32, 64)
    return {"grid": threads_and_lanes(("safe", "private"), powers, powers), "scenarios": ["loopback"], "seconds": {"loopback": 1.5}, "runs": 1, "stream_word": "lanes",
            "theirs": {"Opteron, private, one thread → a pool of two": "100 → 196 Mbit/s", "Opteron, safe": "254 → 471 Mbit/s"}, "unit": ""}


def characterizing():
    """GridFTP at four levels by streams, with and without threads, stock and ours, on a LAN and at 68 ms."""
    cells = levels_and_streams(("clear", "auth", "safe", "private"), (1, 2, 4, 8, 32), ((0, 1), (2, 2)))
    paper = {"ALCF LAN, encrypted, no threads → threads": "349 to 356 → 353 to 830 Mbit/s", "ALCF LAN, protected": "779 to 799 → 829 to 1598 Mbit/s",
             "ALCF LAN, authenticated": "3562 to 4524 → 3640 to 4322 Mbit/s", "ALCF LAN, none": "3873 to 4442 → 3957 to 4193 Mbit/s",
             "68 ms, encrypted": "240 to 250 → 230 to 980 Mbit/s", "68 ms, protected": "337 to 800 → 292 to 2683 Mbit/s",
             "68 ms, authenticated": "230 to 5391 → 308 to 5723 Mbit/s", "68 ms, none": "314 to 5598 → 313 to 5552 Mbit/s"}
    return {"grid": cells, "scenarios": ["lan", "ranger"], "seconds": {"lan": 1.5, "ranger": 3.5}, "runs": 2, "stream_word": "streams", "theirs": paper, "unit": ""}


SEEDS = {"seeds/poster": poster, "seeds/harnessing": harnessing, "seeds/characterizing": characterizing, "seeds/tengig": tengig, "seeds/cineca": cineca}


def show_theirs(plan):
    say("\nIn the paper" + (f", {plan['unit']}" if plan["unit"] else "") + ":")
    for name, value in plan["theirs"].items():
        say(f"  {name}: {value}")
