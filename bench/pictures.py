"""Draws the pictures of RESULTS.md and README.md: SVG that is legible on light and dark pages.

usage: pictures.py RESULTS.md FOLDER

Takes the numbers from the tables of RESULTS.md, and writes into FOLDER those pictures that have tables. Needs
matplotlib, which bench/run-all installs into a virtual environment.
"""
import os
import pathlib
import re
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # no date in the files
import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plot
import matplotlib.ticker

import results
import tables

GREY = "#808080"  # seen on white and on black
COLOURS = {"idx": "#1f8fdf", "in memory": "#e8890c", "unpacked": "#c94fc4", "uncompressed": "#2aa05a", "mih": "#e2503f",
           "faiss": "#8a7be0", "scan": GREY, "others": GREY}
plot.rcParams.update({
    "svg.hashsalt": "idx", "svg.fonttype": "none", "font.size": 10, "text.color": GREY, "axes.labelcolor": GREY,
    "axes.edgecolor": GREY, "xtick.color": GREY, "ytick.color": GREY, "axes.grid": True, "grid.color": GREY,
    "grid.alpha": 0.25, "legend.frameon": False, "savefig.transparent": True, "axes.spines.top": False,
    "axes.spines.right": False})


class Cells:
    """The cells of RESULTS.md as numbers."""

    def __init__(self, text):
        self.cells = results.read(text)

    def rows(self, name):
        return list(dict.fromkeys(row for table, row, _ in self.cells if table == name))

    def columns(self, name):
        return list(dict.fromkeys(column for table, _, column in self.cells if table == name))

    def get(self, *place):
        cell = self.cells.get(place, "").split(" ±")[0]
        return tables.number(cell) if cell else None


def kind_of(system):
    for kind in ("in memory", "unpacked"):
        if system.startswith("idx") and system.endswith(kind):
            return kind
    return next((kind for kind in COLOURS if system.startswith(kind)), "others")


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(folder / name, metadata={"Date": None, "Creator": None})
    plot.close(figure)


def plain(axis):
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda number, _: f"{number:,.10g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def speed_and_size(cells, folder):
    """Queries per second over bytes per fingerprint at each size: above and left is better."""
    names = [name for name in ("lookup-1e6", "lookup-1e7", "lookup-1e8") if cells.rows(name)]
    if not names:
        return
    figure, axes = plot.subplots(1, len(names), figsize=(4.4 * len(names), 4.6), sharey=True, squeeze=False)
    shown = {}
    for axis, name in zip(axes[0], names):
        for system in cells.rows(name):
            speeds = [cells.get(name, system, f"{way}, a second") for way in ("one at a time", "many at once")]
            size = cells.get(name, system, "bytes")
            if not size or not any(speeds):
                continue
            kind = kind_of(system)
            shown[kind] = axis.scatter(size, max(filter(None, speeds)), s=34, color=COLOURS[kind],
                                       marker="o" if system.startswith("idx") else "s", zorder=3)
            label = re.sub(r"^idx |`| mapped| in memory| unpacked|nhash=| b=| flip=|uncompressed |mih ", " ", system)
            if kind not in ("scan", "unpacked", "idx"):  # idx in memory, beside it, has the same name
                axis.annotate(label.strip(), (size, max(filter(None, speeds))), fontsize=7, color=COLOURS[kind],
                              xytext=(4, 3), textcoords="offset points")
        axis.set(xscale="log", yscale="log", xlabel="bytes per fingerprint", title=f"{name[7:]} fingerprints")
        axis.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        axis.set_xticks([10, 20, 50, 100, 200])
        plain(axis.xaxis)
    axes[0][0].set_ylabel("queries per second, one core")
    plain(axes[0][0].yaxis)
    named = {"idx": "idx mapped", "in memory": "idx in memory", "unpacked": "idx unpacked"}
    figure.legend(shown.values(), [named.get(kind, kind) for kind in shown], loc="upper center", ncol=len(shown),
                  bbox_to_anchor=(0.5, 0.02))
    figure.tight_layout()
    figure.savefig(folder / "speed-and-size.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plot.close(figure)


def time_over_k(cells, folder):
    rows = [re.fullmatch(r"(\S+), k = (\d+)", row) for row in cells.rows("large-k")]
    sizes = list(dict.fromkeys(row[1] for row in rows if row))
    if not sizes:
        return
    figure, axes = plot.subplots(1, len(sizes), figsize=(4.6 * len(sizes), 4), sharey=True, squeeze=False)
    colours = {"idx mapped": "idx", "idx in memory": "in memory", "idx unpacked": "unpacked", "mih wide": "mih"}
    for axis, size in zip(axes[0], sizes):
        for column in cells.columns("large-k"):
            points = [(int(row[2]), cells.get("large-k", row[0], column)) for row in rows if row[1] == size]
            points = [point for point in points if point[1]]
            if points:
                axis.plot(*zip(*points), marker="o", markersize=4, label=column[:-4],
                          color=COLOURS[colours.get(column[:-4], "faiss")])
        axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axis.set(yscale="log", xlabel="k", title=f"{size} fingerprints")
    axes[0][0].set_ylabel("nanoseconds per query, many at once")
    plain(axes[0][0].yaxis)
    axes[0][0].legend()
    save(figure, folder, "time-over-k.svg")


def recall_over_time(cells, folder):
    names = [name for name in dict.fromkeys(table for table, _, _ in cells.cells) if name.startswith("texts-")]
    if not names:
        return
    figure, axes = plot.subplots(1, len(names), figsize=(4.6 * len(names), 4), sharey=True, squeeze=False)
    for axis, name in zip(axes[0], names):
        for system in cells.rows(name):
            point = cells.get(name, system, "seconds"), cells.get(name, system, "resolved")
            colour = COLOURS["idx" if "idx" in system else "mih"]
            axis.scatter(*point, color=colour, zorder=3)
            axis.annotate(system.strip("`"), point, fontsize=7, color=colour, xytext=(4, 3), textcoords="offset points")
        size, least = name.split("-")[1:]
        axis.set(xscale="log", xlabel="seconds of one core", title=f"{size} paragraphs, resemblance {least} or more")
        plain(axis.xaxis)
    axes[0][0].set_ylabel("share of near-duplicate pairs resolved")
    save(figure, folder, "recall-over-time.svg")


def building(cells, folder):
    rows = [re.fullmatch(r"(`\S+`) (\S+)", row) for row in cells.rows("build")]
    if not rows:
        return
    figure, axes = plot.subplots(1, 2, figsize=(9.2, 4))
    for axis, column in zip(axes, ("seconds", "memory, MiB")):
        for scheme, colour in zip(dict.fromkeys(row[1] for row in rows), ("idx", "in memory")):
            points = [(float(row[2]), cells.get("build", row[0], column)) for row in rows if row[1] == scheme]
            axis.plot(*zip(*points), marker="o", markersize=4, label=scheme.strip("`"), color=COLOURS[colour])
        axis.set(xscale="log", yscale="log", xlabel="fingerprints", ylabel=column)
        plain(axis.yaxis)
    axes[0].legend()
    save(figure, folder, "building.svg")


DRAWN = (speed_and_size, time_over_k, recall_over_time, building)


def main(path, folder):
    cells = Cells(pathlib.Path(path).read_text(encoding="utf-8"))
    for draw in DRAWN:
        draw(cells, pathlib.Path(folder))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
