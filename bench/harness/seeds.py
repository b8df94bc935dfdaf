"""The tables of the papers that the project started from, ours beside theirs."""
from .paths import SCENARIOS
from .report import say, summarise
from .tools import FLOW, UDTCAT, Tool, measure_udtcat


def threads_and_lanes(protects, threads, lanes):
    return [({"protect": protect, "threads": t, "streams": n},
             Tool(f"udtcat {protect} {t} threads {n} lanes", (UDTCAT, FLOW), measure_udtcat(protect, ("--threads", str(t), "--lanes", str(n)))))
            for protect in protects for t in threads for n in lanes]


def poster():
    """UDTCAT and UDR against scp, rsync and netcat: 10 Gbit/s, 75 ms, 0.1 % loss."""
    theirs = {"UDTCAT memory, clear": 5.41, "UDTCAT disk, clear": 4.89, "UDR scp": 1.25, "UDR rsync": 1.28, "UDTCAT one thread, disk, encrypted": 0.95,
              "netcat": 0.82, "rsync over ssh": 0.19}
    names = ["udtcat private", "udtcat clear", "udtcat private, file", "raw libudt", "tcp cubic", "tcp bbr tuned", "ssh", "scp, file", "rsync ssh, file", "socat tls", "mbuffer"]
    return {"scenarios": ["poster"], "tools": names, "theirs": theirs, "unit": "Gbit/s"}


def tengig():
    """Copy tools on ten gigabits: rate and CPU beside each other."""
    theirs = {"any tool, one stream, 10 Gbit/s": "none near line rate"}
    names = ["udtcat private", "udtcat clear", "udtcat private, file", "tcp cubic", "ssh", "ssh aes128-gcm", "scp, file", "rsync ssh, file", "socat tls", "mbuffer"]
    return {"scenarios": ["lan", "lan-9000"], "tools": names, "theirs": theirs, "unit": ""}


def cineca():
    """One stream against GridFTP's 0 to 10, each capped by its window: 100 Mbit/s, 26 ms."""
    theirs = dict(zip((f"GridFTP, memory, {n} streams" for n in (0, 1, 2, 3, 4, 5, 6, 8, 10)), (18.88, 19.28, 38.08, 55.92, 73.68, 84.64, 85.36, 85.36, 86.80)))
    names = ["udtcat private", "tcp cubic", "ssh", "scp, file", *(f"gridftp clear -p {n}" for n in (1, 2, 4, 8))]
    return {"scenarios": ["cineca"], "tools": names, "theirs": theirs, "unit": "Mbit/s"}


def harnessing():
    """Threads by lanes, safe and private: more of both than processors costs little."""
    powers = (1, 2, 4, 8, 16, 32, 64)
    return {"grid": threads_and_lanes(("safe", "private"), powers, powers), "scenarios": ["loopback"], "seconds": 1.5, "runs": 1, "stream_word": "lanes",
            "theirs": {"Opteron, private, one thread → a pool of two": "100 → 196 Mbit/s", "Opteron, safe": "254 → 471 Mbit/s"}, "unit": ""}


def characterizing():
    """Four levels by lanes, with and without threads, on a LAN and at 68 ms."""
    lanes = (1, 2, 4, 8, 16, 32)
    cells = threads_and_lanes(("auth", "clear", "safe", "private"), (1, 2), lanes)
    theirs = {"ALCF LAN, encrypted, no threads → threads": "349 to 356 → 353 to 830 Mbit/s", "ALCF LAN, protected": "779 to 799 → 829 to 1598 Mbit/s",
              "68 ms, encrypted": "240 to 250 → 230 to 980 Mbit/s", "68 ms, none": "314 to 5598 Mbit/s"}
    return {"grid": cells, "scenarios": ["lan", "ranger"], "seconds": 2, "runs": 1, "stream_word": "lanes", "theirs": theirs, "unit": ""}


SEEDS = {"seeds/poster": poster, "seeds/harnessing": harnessing, "seeds/characterizing": characterizing, "seeds/tengig": tengig, "seeds/cineca": cineca}


def measure_grid(plan, runs, seconds):
    """Interleaved like everything else: the whole grid, then the whole grid again."""
    entries = []
    for name in plan["scenarios"]:
        mine = [{"tool": tool.name, "scenario": name, "cell": cell, "runs": []} for cell, tool in plan["grid"]]
        for _ in range(runs):
            for entry, (_, tool) in zip(mine, plan["grid"]):
                try:
                    with SCENARIOS[name].make() as ends:
                        entry["runs"].append(tool.measure(ends, seconds).to_json())
                except Exception as failure:  # one cell of a hundred
                    entry.setdefault("failures", []).append(repr(failure))
                    say(f"  {tool.name}: FAILED: {failure}")
        for entry in mine:
            summarise(entry, [], None)
        show_grid(mine, name)
        entries += mine
    return entries


def show_grid(entries, scenario):
    for protect in dict.fromkeys(entry["cell"]["protect"] for entry in entries):
        cells = {(entry["cell"]["threads"], entry["cell"]["streams"]): entry["gbit_per_second"]["median"] for entry in entries
                 if entry["cell"]["protect"] == protect and entry["runs"]}
        columns = sorted({streams for _, streams in cells})
        say(f"\n{scenario}, {protect}, Gbit/s: threads down, lanes across")
        say(f"{'':6}" + "".join(f"{n:8}" for n in columns))
        for threads in sorted({threads for threads, _ in cells}):
            say(f"{threads:6}" + "".join(f"{cells[threads, n]:8.2f}" if (threads, n) in cells else f"{'–':>8}" for n in columns))


def show_theirs(plan):
    say("\nIn the paper" + (f", {plan['unit']}" if plan["unit"] else "") + ":")
    for name, value in plan["theirs"].items():
        say(f"  {name}: {value}")
