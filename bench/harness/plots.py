"""Plots, from a JSON file and nothing else. Each is written as SVG and as PNG."""
import json
from pathlib import Path as File

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  after the choice of a backend

OURS, THEIRS, CPU = "#1b6ca8", "#9aa5b1", "#e0a458"
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "udtcat", "figure.dpi": 130})


def colour(tool):
    return OURS if tool.startswith("udtcat") else THEIRS


def save(figure, path):
    written = []
    for suffix in (".svg", ".png"):
        target = path.with_suffix(suffix)
        figure.savefig(target, bbox_inches="tight")
        written.append(target)
    plt.close(figure)
    return written


def unit_for(most):
    """Name and size of the unit in which the largest rate has a digit or two before the point."""
    return ("Gbit/s", 1.0) if most >= 1 else ("Mbit/s", 1000.0)


def caption(figure, document, inches_below=0.25):
    machine = document["machine"]
    figure.text(0.01, -inches_below / figure.get_figheight(), f"{machine['cores']} cores, {machine['cpu']}; {document['when'][:10]}, {document['commit']}; {document['command']}",
                fontsize=6, color="#666666", va="top")


def rates(document, scenario, path):
    """Rate bars with CPU beside them: one glance says how fast, and at what cost."""
    entries = [entry for entry in document["results"] if entry["scenario"] == scenario and entry["runs"]]
    entries.sort(key=lambda entry: entry["gbit_per_second"]["median"])
    names = [entry["tool"] for entry in entries]
    figure, (rate, cpu) = plt.subplots(1, 2, figsize=(9, 0.8 + 0.28 * len(names)), sharey=True, gridspec_kw={"width_ratios": [3, 2], "wspace": 0.05})
    unit, factor = unit_for(max(entry["gbit_per_second"]["max"] for entry in entries))
    lows, medians, highs = ([entry["gbit_per_second"][which] * factor for entry in entries] for which in ("min", "median", "max"))
    errors = [[median - low for low, median in zip(lows, medians)], [high - median for median, high in zip(medians, highs)]]
    rate.barh(names, medians, xerr=errors, color=[colour(name) for name in names], error_kw={"elinewidth": 0.8, "ecolor": "#444444"})
    for place, (median, high) in enumerate(zip(medians, highs)):
        rate.annotate(f"{median:.3g}", (high, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7)
    rate.set_xlabel(f"{unit}: median, min and max")
    rate.margins(x=0.15)
    costs = [entry.get("cpu_seconds_per_gb", {}).get("median", 0) for entry in entries]
    bars = cpu.barh(names, costs, color=CPU)
    cpu.bar_label(bars, [f"{value:.2f}" for value in costs], fontsize=7, padding=2)
    cpu.set_xlabel("CPU seconds per gigabyte, both ends")
    cpu.margins(x=0.15)
    cpu.tick_params(left=False)
    figure.suptitle(document.get("texts", {}).get(scenario, scenario), y=1.0)
    caption(figure, document)
    return save(figure, path)


def over_time(document, scenario, path, most=6):
    """The rate of one run of each of the fastest tools, half second by half second."""
    entries = [entry for entry in document["results"] if entry["scenario"] == scenario and any(run["samples"] for run in entry["runs"])]
    entries.sort(key=lambda entry: -entry["gbit_per_second"]["median"])
    ours = [entry for entry in entries if entry["tool"].startswith("udtcat")][:2]
    shown = ours + [entry for entry in entries if entry not in ours][: most - len(ours)]
    if not shown:
        return []
    figure, axes = plt.subplots(figsize=(8, 3.6))
    curves = []
    for entry in shown:
        middle = sorted(entry["runs"], key=lambda run: run["gbit_per_second"])[len(entry["runs"]) // 2]
        times, values, before = [], [], (0.0, 0)
        for at, total in middle["samples"]:
            if at > before[0]:
                times.append(at)
                values.append((total - before[1]) * 8 / (at - before[0]) / 1e9)
            before = (at, total)
        curves.append((entry, times, values))
    unit, factor = unit_for(max((max(values) for *_, values in curves if values), default=0))
    for entry, times, values in curves:
        axes.plot(times, [value * factor for value in values], label=entry["tool"], linewidth=2.2 if entry in ours else 1.2)
    axes.set_xlabel("seconds")
    axes.set_ylabel(f"{unit} at the consumer")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title(document.get("texts", {}).get(scenario, scenario))
    caption(figure, document)
    return save(figure, path)


def grid(document, path):
    """Rate by lanes or streams, a line for each number of threads, a panel for each protection."""
    cells = [entry for entry in document["results"] if "cell" in entry and entry["runs"]]
    panels = sorted({(entry["scenario"], entry["cell"]["protect"]) for entry in cells})
    if not panels:
        return []
    figure, axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.4), sharey=True, squeeze=False)
    for panel, (scenario, protect) in zip(axes[0], panels):
        mine = [entry for entry in cells if entry["scenario"] == scenario and entry["cell"]["protect"] == protect]
        for threads in sorted({entry["cell"]["threads"] for entry in mine}):
            row = sorted((entry for entry in mine if entry["cell"]["threads"] == threads), key=lambda entry: entry["cell"]["streams"])
            panel.plot([entry["cell"]["streams"] for entry in row], [entry["gbit_per_second"]["median"] for entry in row], marker="o", markersize=3,
                       label=f"{threads} thread{'s' * (threads != 1)}")
        panel.set_xscale("log", base=2)
        panel.set_title(f"{protect}, {scenario}", fontsize=9)
        panel.set_xlabel(document.get("stream_word", "lanes"))
        streams = sorted({entry["cell"]["streams"] for entry in mine})
        panel.set_xticks(streams, [str(number) for number in streams])
        panel.minorticks_off()
    axes[0][0].set_ylim(0, 1.05 * max(entry["gbit_per_second"]["median"] for entry in cells))  # shared by all panels
    axes[0][0].set_ylabel("Gbit/s")
    axes[0][-1].legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    caption(figure, document)
    return save(figure, path)


def plot_all(json_path):
    """Every plot that the file has figures for, beside it."""
    json_path = File(json_path)
    document = json.loads(json_path.read_text(encoding="utf-8"))
    written = []
    for scenario in dict.fromkeys(entry["scenario"] for entry in document["results"] if entry["runs"] and "cell" not in entry):
        stem = json_path.with_name(f"{json_path.stem}-{scenario}")
        written += rates(document, scenario, stem.with_name(stem.name + "-rates"))
        written += over_time(document, scenario, stem.with_name(stem.name + "-time"))
    return written + grid(document, json_path.with_name(f"{json_path.stem}-grid"))
