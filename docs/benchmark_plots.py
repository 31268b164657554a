"""The tables and rows of the benchmarks as plots against other solvers; drawn anew whenever the site is built.

A comparison is one instance (or the median of one size) with two times: that of dsprog and that of the other. Times
are not typed in here, they come from the tables of ``benchmarks/README.md`` and from the rows under ``docs/results``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
NO_PROOF = "abess"


@dataclass(frozen=True)
class Time:
    """CPU seconds, None where a table does not say them, and whether there was a proof."""

    seconds: float | None
    proved: bool


@dataclass(frozen=True)
class Comparison:
    """One instance: what it is, who else, and both times."""

    problems: str
    other: str
    ours: Time
    theirs: Time


def as_time(cell: str) -> Time | None:
    """A cell of a table; None if it is empty.

    >>> as_time("open at 3.7; 7.5 with 45 s"), as_time("0.13, 31"), as_time("6.6, 3.7 %").proved
    (Time(seconds=3.7, proved=False), Time(seconds=0.13, proved=True), False)
    """
    found = re.search(r"\d*\.?\d+", cell)
    if not cell.strip():
        return None
    return Time(None if found is None else float(found[0]), not re.search("open|fails|%", cell))


def table_of(text: str, heading: str, first: str) -> list[dict[str, str]]:
    """The rows of the table below a heading whose header begins with these words."""
    section = re.split(r"^## ", text.split(f"\n## {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]
    lines = section[section.index(f"| {first}") :].split("\n\n", 1)[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [dict(zip(header, row)) for row in rows]


def of_exact_solvers(text: str) -> Iterator[Comparison]:
    """Medians of three seeds; proved where all three were."""
    rows = table_of(text, "Exact solvers", "family")
    ours = {(r["family"], r["n"]): r for r in rows if r["solver"] == "BranchAndBound"}
    for row in rows:
        if row["solver"] in ("SCIP branch and cut", "Prismatic, optimum"):
            times = [
                Time(float(r["cpu s"]), r["solved"][0] == r["solved"][-1]) for r in (ours[row["family"], row["n"]], row)
            ]
            yield Comparison("f − g in general", row["solver"].split()[0].rstrip(","), *times)


def of_energies() -> Iterator[Comparison]:
    """Each instance of `dsprog reproduce energies`."""
    with (ROOT / "docs" / "results" / "energies" / "energies.csv").open() as file:
        rows = list(csv.DictReader(file))
    times = {(r["instance"], r["solver"]): Time(float(r["seconds"]), r["proved"] == "1") for r in rows}
    for (instance, solver), theirs in times.items():
        if solver != "dsprog":
            yield Comparison("energies, QUBO, max-cut", solver, times[instance, "dsprog"], theirs)


def of_table(rows: list[dict[str, str]], problems: str, pairs: dict[str, str]) -> Iterator[Comparison]:
    """Each row of a table, for every column of another solver with the column of ours beside it."""
    for row in rows:
        for other, own in pairs.items():
            ours, theirs = as_time(row[own]), as_time(row[other])
            if ours is not None and theirs is not None:
                yield Comparison(problems, re.split("[:,(]", other)[0].strip().replace("Scip", "SCIP"), ours, theirs)


def comparisons() -> list[Comparison]:
    """All of them."""
    text = (ROOT / "benchmarks" / "README.md").read_text()
    subsets = {"OKRidge": "dsprog", "l0bnb": "dsprog penalised", "El0ps": "dsprog penalised"}
    subsets |= {"abess (no proof)": "dsprog"}
    rewards = dict.fromkeys(("Scip", "HiGHS, natural model", "SubModST", "submodKC"), "default")
    features = {"l0bnb: CPU s, gap": "dsprog: CPU s, nodes"}
    return [
        *of_exact_solvers(text),
        *of_energies(),
        *of_table(table_of(text, "Best subsets", "rows, p"), "best subsets", subsets),
        *of_table(table_of(text, "Feature selection", "λ, ridge"), "features with a price", features),
        *of_table(table_of(text, "Budgets", "instance"), "rewards within a budget", rewards),
    ]


def grouped(found: list[Comparison]) -> dict[tuple[str, str], list[Comparison]]:
    """By problems and other solver, in their order."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in found:
        groups.setdefault((comparison.problems, comparison.other), []).append(comparison)
    return groups


def summary(found: list[Comparison]) -> str:
    """The table of who proved what, and how much sooner."""
    lines = [
        "| problems | other | instances | both proved | their time, median multiple of ours | the other is quicker on "
        "| only dsprog proved | only the other proved |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (problems, other), rows in grouped(found).items():
        both = [(r.ours.seconds, r.theirs.seconds) for r in rows if r.ours.proved and r.theirs.proved]
        ratios = [theirs / ours for ours, theirs in both if ours and theirs]
        alone = sum(r.ours.proved and not r.theirs.proved for r in rows)
        theirs_alone = sum(r.theirs.proved and not r.ours.proved for r in rows)
        cells = [problems, other, len(rows), len(both), f"{median(ratios):.2g}" if ratios else "–"]
        cells += [sum(ratio < 1 for ratio in ratios), alone, theirs_alone]
        if other == NO_PROOF:
            cells = [problems, f"{other} (no proofs)", len(rows), "–", *cells[4:6], "–", "–"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def draw_times(found: list[Comparison], path: Path) -> None:
    """Their CPU seconds against ours, a panel for each kind of problem."""
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(c.problems for c in found))
    figure, axes = plt.subplots(2, 3, figsize=(11, 8), layout="constrained")
    for axis, kind in zip(axes.flat, kinds):
        rows = [c for c in found if c.problems == kind and c.ours.seconds is not None]
        largest = 2 * max(c.theirs.seconds or 0.0 for c in rows)
        for (_, other), some in grouped(rows).items():
            colour = COLOURS[list(dict.fromkeys(c.other for c in rows)).index(other)]
            for proved, marker in ((True, "o"), (False, "^")):
                part = [c for c in some if c.theirs.proved == proved]
                xs, ys = [c.ours.seconds for c in part], [c.theirs.seconds or largest for c in part]
                faces = colour if proved else "none"
                axis.scatter(xs, ys, s=26, marker=marker, facecolors=faces, edgecolors=colour, linewidths=1.1)
            axis.scatter([], [], s=26, color=colour, label=f"{other}, no proofs" if other == NO_PROOF else other)
        low = min(min(c.ours.seconds, c.theirs.seconds or largest) for c in rows) / 2
        high = 2 * max(largest, *(c.ours.seconds for c in rows))
        axis.plot([low, high], [low, high], color="gray", linewidth=0.8)
        axis.set(xscale="log", yscale="log", title=kind, xlabel="dsprog, CPU s", ylabel="other, CPU s")
        axis.legend(fontsize="small", frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    for axis in axes.flat[len(kinds) :]:
        axis.axis("off")
    axes.flat[-1].scatter([], [], s=26, color="gray", label="proved")
    axes.flat[-1].scatter([], [], s=26, marker="^", facecolors="none", edgecolors="gray", label="open when it stopped")
    axes.flat[-1].plot([], [], color="gray", linewidth=0.8, label="equal times; above it dsprog is quicker")
    axes.flat[-1].legend(loc="center", frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_growth(text: str, path: Path) -> None:
    """CPU seconds against n for the families of the exact solvers."""
    import matplotlib.pyplot as plt

    rows = table_of(text, "Exact solvers", "family")
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained", sharey=True)
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    for axis, family in zip(axes.flat, dict.fromkeys(row["family"] for row in rows)):
        for solver, colour in zip(solvers, COLOURS):
            some = [row for row in rows if row["family"] == family and row["solver"] == solver]
            points = [(int(row["n"]), float(row["cpu s"]), row["solved"][0] == row["solved"][-1]) for row in some]
            axis.plot([n for n, _, _ in points], [s for _, s, _ in points], color=colour, linewidth=1, label=solver)
            for n, seconds, proved in points:
                faces = colour if proved else "white"
                axis.scatter([n], [seconds], s=22, facecolors=faces, edgecolors=colour, zorder=3)
        axis.set(yscale="log", title=family, xlabel="n")
    for axis in axes[:, 0]:
        axis.set_ylabel("CPU s")
    axes.flat[0].legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_bounds(text: str, path: Path) -> None:
    """What published root bounds leave open on log determinants, and what the search leaves at its end."""
    import matplotlib.pyplot as plt

    rows = table_of(text, "Log determinants", "n ")
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained", sharey=True)
    for axis, n in zip(axes, dict.fromkeys(row["n"] for row in rows)):
        some = [row for row in rows if row["n"] == n]
        sizes = [int(row["s"]) for row in some]
        names = {"linx": "linx, published", "DDFact": "DDFact, published", "gap": "dsprog, at the end"}
        for (column, label), colour in zip(names.items(), (*COLOURS[1:3], COLOURS[0])):
            axis.plot(sizes, [float(row[column]) for row in some], "o-", markersize=4, color=colour, label=label)
        axis.set(yscale="log", title=f"n = {n}", xlabel="elements chosen", ylabel="above the value")
    axes[0].legend(fontsize="small", frameon=False, loc="center")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def make(folder: Path) -> None:
    """Draw everything into a folder."""
    folder.mkdir(exist_ok=True)
    found = comparisons()
    (folder / "peers.md").write_text(summary(found))
    draw_times(found, folder / "peers.png")
    text = (ROOT / "benchmarks" / "README.md").read_text()
    draw_growth(text, folder / "growth.png")
    draw_bounds(text, folder / "bounds.png")


if __name__ == "__main__":
    make(Path(__file__).parent / "plots")
