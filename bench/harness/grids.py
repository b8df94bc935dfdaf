# SPDX-License-Identifier: Apache-2.0
"""Grids of cells: protection by streams by threads, ours and, where a plan has them, stock programs."""
from .paths import SCENARIOS
from .report import measure_once, new_entry, say, summarise


def measure_grid(plan, runs, seconds=None):
    """Interleaved like everything else: the whole grid, then the whole grid again. By default for the plan's own time, which has room for
    the path's slow start."""
    entries = []
    for name in plan["scenarios"]:
        mine = {tool.name: new_entry(tool, tool.name, SCENARIOS[name]) for tool in plan["grid"]}
        absent = {tool.name for tool in plan["grid"] if tool.missing()}
        for run in range(runs):
            for tool in plan["grid"]:
                if tool.name not in absent:
                    measure_once(SCENARIOS[name], tool, seconds or plan["seconds"][name], None, mine[tool.name], run + 1)
        for tool in plan["grid"]:
            if tool.name in absent:
                mine[tool.name]["missing"] = tool.missing()
            beside = tool.cell.get("beside")
            summarise(mine[tool.name], mine[beside]["runs"] if beside else [], beside)
        show_grid(list(mine.values()), name, plan["stream_word"])
        entries += mine.values()
    return entries


def row_name(cell):
    threads = f"{cell['threads']} threads" if cell["threads"] != 1 else "1 thread"
    return f"{cell['who']}, {threads}" if "who" in cell else threads


def show_grid(entries, scenario, stream_word):
    """A table a level; behind it, where stock programs are beside, how ours compares with them, round by round."""
    done = [entry for entry in entries if entry["runs"]]
    for protect in dict.fromkeys(entry["cell"]["protect"] for entry in done):
        mine = [entry for entry in done if entry["cell"]["protect"] == protect]
        columns = sorted({entry["cell"]["streams"] for entry in mine})
        say(f"\n{scenario}, {protect}, Gbit/s; {stream_word} across")
        show_rows(mine, columns, "", lambda entry: entry["gbit_per_second"]["median"])
        show_rows([entry for entry in mine if "ratio" in entry], columns, " ÷ stock", lambda entry: entry["ratio"]["median"])
    for entry in entries:
        if not entry["runs"]:
            say(f"{entry['tool']}: {'missing: ' + ', '.join(entry['missing']) if 'missing' in entry else 'failed'}")


def show_rows(entries, columns, suffix, value_of):
    rows = {}
    for entry in entries:
        rows.setdefault(row_name(entry["cell"]) + suffix, {})[entry["cell"]["streams"]] = value_of(entry)
    if rows and not suffix:
        say(f"{'':26}" + "".join(f"{n:8}" for n in columns))
    for name, values in rows.items():
        say(f"{name:26}" + "".join(f"{values[n]:8.2f}" if n in values else f"{'–':>8}" for n in columns))
