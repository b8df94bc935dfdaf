# SPDX-License-Identifier: Apache-2.0
"""Runs tools in turns, and says what came of it: a table for the terminal, JSON for everything else."""
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time

from .paths import ROOT, default_congestion
from .tools import measure_beside


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
        with scenario.make() as ends:
            if companion:
                measured, companion_rate = measure_beside(tool, ends, seconds, companion)
            else:
                measured, companion_rate = tool.measure(ends, seconds), None
            counters = ends.wire_counters()
    except Exception as failure:  # whatever one tool does, the others' figures count
        entry.setdefault("failures", []).append(f"run {number}: {failure!r}")
        say(f"  {title}: FAILED: {failure}")
        return
    figures = {"round": number, **measured.to_json()}
    if counters:
        figures["wire"] = counters
    said = f"  {title}: {figures['gbit_per_second']:.3f} Gbit/s"
    if companion:
        figures["companion_gbit_per_second"] = round(companion_rate, 4)
        said += f", the other {companion_rate:.3f}"
    entry["runs"].append(figures)
    say(said)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(entry, base_runs, baseline):
    runs = entry["runs"]
    if not runs:
        return
    for name in ("gbit_per_second", "cpu_seconds_per_gb", "peak_bytes", "resent_bytes", "companion_gbit_per_second"):
        if values := [run[name] for run in runs if run.get(name) is not None]:
            entry[name] = spread(values)
    bases = {base["round"]: base["gbit_per_second"] for base in base_runs}
    pairs = [run["gbit_per_second"] / bases[run["round"]] for run in runs if bases.get(run.get("round"))]
    if pairs:
        entry["ratio"] = {"to": baseline, **spread(pairs)}


def show(results, baseline):
    """One line a tool, the fastest first."""
    say(f"{'':28} {'Gbit/s':>8} {'min':>8} {'max':>8} {'CPU s/GB':>9} {'resent':>9} {'peak MiB':>9}  ratio to {baseline}")
    done = [entry for entry in results if entry["runs"]]
    for entry in sorted(done, key=lambda entry: -entry["gbit_per_second"]["median"]):
        rate = entry["gbit_per_second"]
        cpu = f"{entry['cpu_seconds_per_gb']['median']:9.2f}" if "cpu_seconds_per_gb" in entry else f"{'–':>9}"
        resent = "–"
        if "resent_bytes" in entry:
            resent = f"{100 * entry['resent_bytes']['median'] / statistics.median(run['bytes'] for run in entry['runs']):.2f} %"
        ratio = f"{entry['ratio']['median']:.2f}" if "ratio" in entry else ""
        if "failures" in entry:
            ratio += f"   ({len(entry['failures'])} of {len(entry['failures']) + len(entry['runs'])} runs failed)"
        if "companion_gbit_per_second" in entry:
            ratio += f"   (the other flow: {entry['companion_gbit_per_second']['median']:.3f} Gbit/s)"
        say(f"{entry['tool']:28} {rate['median']:8.3f} {rate['min']:8.3f} {rate['max']:8.3f} {cpu} {resent:>9} {entry['peak_bytes']['median'] / 2**20:9.0f}  {ratio}")
    for entry in results:
        if not entry["runs"]:
            say(f"{entry['tool']:28} {'missing: ' + ', '.join(entry['missing']) if 'missing' in entry else 'failed'}")


def write(document, directory, name):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path
