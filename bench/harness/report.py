# SPDX-License-Identifier: Apache-2.0
"""Runs tools in turns, and says what came of it: a table for the terminal, JSON for everything else."""
import contextlib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time

from .paths import ROOT, default_congestion
from .tools import measure_beside, measure_flows


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "unknown")
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "default_congestion": default_congestion()}


def commit():
    told = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return told.stdout.strip() or None


def repeatable(words):
    """The command as one types it again; where its results went is nobody's matter."""
    kept = list(words)
    if "--out" in kept:
        at = kept.index("--out")
        del kept[at:at + 2]
    return shlex.join(kept)


def new_document(question, as_root):
    return {"question": question, "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": machine(), "commit": commit(),
            "command": repeatable(sys.argv), "as_root": as_root, "results": []}


def say(text=""):
    print(text, flush=True)


def measure_in_turns(scenario, tools, runs, seconds, baseline):
    """Each tool once, then each again: what else the machine does meets all of them."""
    entries = {}
    for companion in scenario.companions:
        for tool in tools:
            name = tool.name + (f" beside {companion}" if companion else "")
            entries[name] = new_entry(tool, name, scenario)
            if companion and tool.sizes_itself:
                entries[name]["missing"] = ["a figure beside another flow: it would run partly alone"]
                say(f"  {name}: not measured beside another flow, since it would run partly alone")
            elif missing := tool.missing():
                entries[name]["missing"] = missing
                say(f"  {name}: {', '.join(missing)} is not here" + (f"; package {tool.package}" if tool.package else "; build it first"))
    for run in range(runs):
        for companion in scenario.companions:
            for tool in tools:
                name = tool.name + (f" beside {companion}" if companion else "")
                if "missing" not in entries[name]:
                    measure_once(scenario, tool, seconds, companion, entries[name], run + 1)
    for companion in scenario.companions:
        beside = f" beside {companion}" if companion else ""
        base = entries.get(baseline + beside, {}).get("runs", [])
        for entry in entries.values():
            if entry["tool"].endswith(beside):
                summarise(entry, base, baseline)
    return list(entries.values())


def new_entry(tool, name, scenario):
    return {"tool": name, "scenario": scenario.name, **({"cell": tool.cell} if tool.cell else {}), "runs": []}


def measure_once(scenario, tool, seconds, companion, entry, number):
    title = f"run {number}: {entry['tool']}"
    try:
        with scenario.make() as ends, contextlib.ExitStack() as besides:
            ends.source_words = scenario.source_words
            beside = [besides.enter_context(each(ends)) for each in scenario.beside]
            if companion:
                measured, companion_rate = measure_beside(tool, ends, seconds, companion)
            else:
                measured, companion_rate = measure_flows(tool, ends, seconds, scenario.flows), None
            besides.close()
            figures = {"round": number, **measured.to_json()}
            for each in beside:
                figures |= each.figures()
            counters = ends.wire_counters()
    except Exception as failure:  # whatever one tool does, the others' figures count
        entry.setdefault("failures", []).append(f"run {number}: {failure!r}")
        say(f"  {title}: FAILED: {failure}")
        return
    if counters:
        figures["wire"] = counters
    said = f"  {title}: {rate_text(figures['gbit_per_second'])}"
    if companion:
        figures["companion_gbit_per_second"] = round(companion_rate, 9)
        said += f", the other {rate_text(companion_rate)}"
    entry["runs"].append(figures)
    say(said)


def rate_text(gbit_per_second):
    name, factor = unit_for(gbit_per_second)
    return f"{gbit_per_second * factor:.3f} {name}"


def unit_for(most):
    """Name and size of the unit in which a rate has a digit or two before the point."""
    return ("Gbit/s", 1.0) if most >= 1 else ("Mbit/s", 1e3) if most >= 1e-3 else ("kbit/s", 1e6)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(entry, base_runs, baseline):
    runs = entry["runs"]
    if not runs:
        return
    for run in runs:
        if "delay" in run:
            run |= {f"added_{which}_ms": round(run["delay"][f"{which}_ms"] - run["delay"]["min_ms"], 3) for which in ("median", "p95")}
    for name in ("gbit_per_second", "added_median_ms", "added_p95_ms", "jain", "cpu_seconds_per_gb", "peak_bytes", "resent_bytes", "companion_gbit_per_second"):
        if values := [run[name] for run in runs if run.get(name) is not None]:
            entry[name] = spread(values)
    bases = {base["round"]: base["gbit_per_second"] for base in base_runs}
    pairs = [run["gbit_per_second"] / bases[run["round"]] for run in runs if bases.get(run.get("round"))]
    if pairs:
        entry["ratio"] = {"to": baseline, **spread(pairs)}


def show(results, baseline):
    """One line a tool, the fastest first."""
    done = [entry for entry in results if entry["runs"]]
    unit, factor = unit_for(max((entry["gbit_per_second"]["median"] for entry in done), default=1.0))
    delays = any("added_median_ms" in entry for entry in done)
    added = f"{'added, ms':>10} {'95 %':>8} " if delays else ""
    say(f"{'':28} {unit:>8} {'min':>8} {'max':>8} {'CPU s/GB':>9} {'resent':>9} {added}{'peak MiB':>9}  ratio to {baseline}")
    for entry in sorted(done, key=lambda entry: -entry["gbit_per_second"]["median"]):
        rate = " ".join(f"{entry['gbit_per_second'][which] * factor:8.3f}" for which in ("median", "min", "max"))
        cpu = f"{entry['cpu_seconds_per_gb']['median']:9.2f}" if "cpu_seconds_per_gb" in entry else f"{'–':>9}"
        resent = "–"
        if "resent_bytes" in entry:
            resent = f"{100 * entry['resent_bytes']['median'] / statistics.median(run['bytes'] for run in entry['runs']):.2f} %"
        added = f"{entry['added_median_ms']['median']:10.1f} {entry['added_p95_ms']['median']:8.1f} " if "added_median_ms" in entry else f"{'–':>10} {'–':>8} " if delays else ""
        say(f"{entry['tool']:28} {rate} {cpu} {resent:>9} {added}{entry['peak_bytes']['median'] / 2**20:9.0f}  {remarks(entry)}")
    for entry in results:
        if not entry["runs"]:
            say(f"{entry['tool']:28} {'missing: ' + ', '.join(entry['missing']) if 'missing' in entry else 'failed'}")


def remarks(entry):
    said = f"{entry['ratio']['median']:.2f}" if "ratio" in entry else ""
    if "failures" in entry:
        said += f"   ({len(entry['failures'])} of {len(entry['failures']) + len(entry['runs'])} runs failed)"
    if "companion_gbit_per_second" in entry:
        said += f"   (the other flow: {rate_text(entry['companion_gbit_per_second']['median'])})"
    if "jain" in entry:
        said += f"   (Jain's index {entry['jain']['median']:.3f})"
    if bursts := [run["burst_seconds"] for run in entry["runs"] if len(run.get("burst_seconds", ())) > 1]:
        later = statistics.median(second for run in bursts for second in run[1:])
        said += f"   (a burst: {statistics.median(run[0] for run in bursts):.3f} s, later {later:.3f} s)"
    return said


def write(document, directory, name):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path
