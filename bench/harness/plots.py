# SPDX-License-Identifier: Apache-2.0
"""Plots, from a JSON file and nothing else. Each is written as SVG and as PNG."""
import json
import textwrap
from pathlib import Path as File

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  after the choice of a backend

from .report import unit_for  # noqa: E402

OURS, THEIRS, CPU = "#1b6ca8", "#9aa5b1", "#e0a458"
WHO = {"ours": OURS, "stock": THEIRS, "stock, 64 KiB windows": "#b5656b"}
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "udtcat", "figure.dpi": 130})


def colour(tool):
    return OURS if tool.startswith(("udtcat", "udr")) else THEIRS


def save(figure, path):
    written = []
    for suffix in (".svg", ".png"):
        target = path.with_suffix(suffix)
        figure.savefig(target, bbox_inches="tight")
        written.append(target)
    plt.close(figure)
    return written


CAPTION_POINTS = 6


def caption(figure, document, inches_below=0.25):
    """As wide as the figure and no wider: savefig() would make the picture as wide as its longest line."""
    machine = document["machine"]
    text = f"{machine['cores']} cores, {machine['cpu']}; {document['when'][:10]}, {document['commit']}; {document['command']}"
    columns = int(figure.get_figwidth() * 72 / (CAPTION_POINTS * 0.6))  # a letter is 0.6 em wide
    figure.text(0.01, -inches_below / figure.get_figheight(), textwrap.fill(text, columns), fontsize=CAPTION_POINTS, color="#666666", va="top")


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


LEVEL_ORDER = ("clear", "auth", "safe", "private")


def line_style(cell):
    """Ours and theirs by colour; without helping threads dashed."""
    if "who" not in cell:
        return {}
    return {"color": WHO[cell["who"]], "linestyle": "--" if cell["threads"] < 2 else "-"}


def name_threads(cell):
    threads = f"{cell['threads']} thread{'s' * (cell['threads'] != 1)}"
    return f"{cell['who']}, {threads}" if "who" in cell else threads


def by_streams(panel, entries, **style):
    """A line with its spread."""
    entries = sorted(entries, key=lambda entry: entry["cell"]["streams"])
    numbers = [entry["cell"]["streams"] for entry in entries]
    low, median, high = ([entry["gbit_per_second"][which] for entry in entries] for which in ("min", "median", "max"))
    panel.plot(numbers, median, marker="o", markersize=3, **style)
    if any(least < most for least, most in zip(low, high)):
        panel.fill_between(numbers, low, high, color=panel.lines[-1].get_color(), alpha=0.15, linewidth=0)


def stream_axis(panel, entries, word):
    streams = sorted({entry["cell"]["streams"] for entry in entries})
    panel.set_xscale("log", base=2)
    panel.set_xlabel(word)
    panel.set_xticks(streams, [str(number) for number in streams])
    panel.minorticks_off()


def grid(document, path):
    """Rate by lanes or streams: a row of panels for each path, a panel for each protection, a line for each number of threads."""
    cells = [entry for entry in document["results"] if "cell" in entry and entry["runs"]]
    scenarios = list(dict.fromkeys(entry["scenario"] for entry in cells))
    protects = sorted({entry["cell"]["protect"] for entry in cells}, key=LEVEL_ORDER.index)
    if not cells:
        return []
    figure, axes = plt.subplots(len(scenarios), len(protects), figsize=(3.2 * len(protects), 3.1 * len(scenarios)), sharey="row", squeeze=False,
                                gridspec_kw={"hspace": 0.4})
    for row, scenario in zip(axes, scenarios):
        for panel, protect in zip(row, protects):
            mine = [entry for entry in cells if entry["scenario"] == scenario and entry["cell"]["protect"] == protect]
            for name in dict.fromkeys(name_threads(entry["cell"]) for entry in mine):
                line = [entry for entry in mine if name_threads(entry["cell"]) == name]
                by_streams(panel, line, label=name, **line_style(line[0]["cell"]))
            panel.set_title(f"{protect}, {scenario}", fontsize=9)
            stream_axis(panel, mine, document["stream_word"])
        row[0].set_ylim(bottom=0)
        row[0].set_ylabel("Gbit/s")
    axes[0][-1].legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    caption(figure, document)
    return save(figure, path)


def streams(document, path, shown=("clear", "private")):
    """As the papers have it: a rate by the number of streams, clear and private, with as many threads as were tried."""
    cells = [entry for entry in document["results"] if entry["runs"] and entry.get("cell", {}).get("protect") in shown and "who" in entry["cell"]]
    scenarios = list(dict.fromkeys(entry["scenario"] for entry in cells))
    if len({entry["cell"]["streams"] for entry in cells}) < 2:
        return []
    figure, axes = plt.subplots(1, len(scenarios), figsize=(4.4 * len(scenarios), 3.4), squeeze=False)
    for panel, scenario in zip(axes[0], scenarios):
        here = [entry for entry in cells if entry["scenario"] == scenario]
        unit, factor = unit_for(max(entry["gbit_per_second"]["max"] for entry in here))
        for who in sorted({entry["cell"]["who"] for entry in here}):
            for protect in shown:
                mine = [entry for entry in here if (entry["cell"]["who"], entry["cell"]["protect"]) == (who, protect)]
                most = max((entry["cell"]["threads"] for entry in mine), default=0)
                line = [{**entry, "gbit_per_second": {name: value * factor for name, value in entry["gbit_per_second"].items()}}
                        for entry in mine if entry["cell"]["threads"] == most]
                if line:
                    by_streams(panel, line, label=f"{who}, {protect}", color=WHO[who], linestyle="-" if protect == "private" else ":")
        stream_axis(panel, here, "streams")
        panel.set_title(document.get("texts", {}).get(scenario, scenario), fontsize=9)
        panel.set_ylim(bottom=0)
        panel.set_ylabel(unit)
    axes[0][-1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    caption(figure, document)
    return save(figure, path)


def plot_all(json_path):
    """Every plot that the file has figures for, beside it."""
    json_path = File(json_path)
    document = json.loads(json_path.read_text(encoding="utf-8"))
    written = streams(document, json_path.with_name(f"{json_path.stem}-streams"))
    if "stream_word" in document:
        return written + grid(document, json_path.with_name(f"{json_path.stem}-grid"))
    for scenario in dict.fromkeys(entry["scenario"] for entry in document["results"] if entry["runs"]):
        stem = json_path.with_name(f"{json_path.stem}-{scenario}")
        written += rates(document, scenario, stem.with_name(stem.name + "-rates"))
        written += over_time(document, scenario, stem.with_name(stem.name + "-time"))
    return written
