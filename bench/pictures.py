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

matplotlib.use("agg")  # which measures texts; files are SVG all the same
import matplotlib.pyplot as plot
import matplotlib.text
import matplotlib.ticker
import matplotlib.transforms

import results
import tables

GREY = "#808080"  # seen on white and on black
COLOURS = {"idx": "#1f8fdf", "in memory": "#e8890c", "unpacked": "#c94fc4", "uncompressed": "#2aa05a", "mih": "#e2503f",
           "mih wide": "#e2503f", "faiss": "#8a7be0", "scan": GREY, "others": GREY}
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
    return max((kind for kind in COLOURS if system.startswith(kind)), key=len, default="others")


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(folder / name, metadata={"Date": None, "Creator": None})
    plot.close(figure)


def plain(axis):
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda number, _: f"{number:,.10g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def panels(count, height):
    """A figure of panels below one another, as wide as a page, and these."""
    figure, axes = plot.subplots(count, 1, figsize=(9, height * count), squeeze=False)
    return figure, axes[:, 0]


# Where a point's name may be: shifts of its corner in points, and which corner; the nearest first.
PLACES = [(x * far, y * far, "left" if x > 0 else "right" if x < 0 else "center",
           "bottom" if y > 0 else "top" if y < 0 else "center")
          for far in (1, 2, 3, 4.5, 6)
          for x, y in ((5, 3), (-5, 3), (5, -3), (-5, -3), (6, 0), (-6, 0), (0, 6), (0, -6), (3, 7), (-3, 7), (3, -7), (-3, -7))]


def name_points(figure, axis, points):
    """Writes names, [(x, y, name, colour)], beside their points, where they cover neither points nor other names; a line
    leads from a name to its point where other points are nearer."""
    renderer = figure.canvas.get_renderer()
    taken = [axis.transData.transform((x, y)) for x, y, _, _ in points]
    taken = [matplotlib.transforms.Bbox([[x - 4, y - 4], [x + 4, y + 4]]) for x, y in taken]
    for x, y, name, colour in points:
        if not name:
            continue
        best = None
        for right, up, side, height in PLACES:
            line = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
            written = axis.annotate(name, (x, y), fontsize=8, color=colour, xytext=(right, up), textcoords="offset points",
                                    ha=side, va=height, arrowprops=line if abs(right) + abs(up) > 10 else None)
            written.update_positions(renderer)
            box = matplotlib.text.Text.get_window_extent(written, renderer)  # without its line
            covered = sum(box.overlaps(other) for other in taken)
            covered += not (axis.bbox.x0 <= box.x0 and box.x1 <= axis.bbox.x1 + 20)
            if best is None or covered < best[0]:
                if best:
                    best[1].remove()
                best = covered, written, box
            else:
                written.remove()
            if covered == 0:
                break
        taken.append(best[2].padded(2.5))


def system_name(system):
    """A name beside a point whose colour says the rest."""
    if system.startswith("scan") or system == "idx unpacked":
        return ""
    system = re.sub(r"nhash=(\d+) b=(\d+) flip=(\d+)", r"\1 × \2 bits, \3 flipped", system).replace(", 0 flipped", "")
    return re.sub(r"^(idx|uncompressed|mih wide|mih|faiss) |`| mapped| in memory", "", system)


def frontier(systems):
    """The sizes and speeds, [(size, speed)], than which none of them is both smaller and faster."""
    best = []
    for size, speed in sorted(systems):
        if not best or speed > best[-1][1]:
            best.append((size, speed))
    return best


def speed_and_size(cells, folder):
    """Queries per second over bytes per fingerprint at each size: above and left is better. Two lines have the best of idx
    and of the others."""
    names = [name for name in ("1e6", "1e7", "1e8") if f"{name}: bytes" in cells.columns("lookup")]
    if not names:
        return
    figure, axes = panels(len(names), 4.2)
    shown, named = {}, []
    for axis, name in zip(axes, names):
        points, systems = [], {}
        for system in cells.rows("lookup"):
            speeds = [cells.get("lookup", system, f"{name}: {way}, a second") for way in ("one", "many")]
            size = cells.get("lookup", system, f"{name}: bytes")
            if size and any(speeds):
                systems[system] = size, max(filter(None, speeds))
        # What is far below the others is at the lower edge, with its rate beside it.
        floor = max(speed for _, speed in systems.values()) / 200
        axis.set_ylim(floor / 1.5, floor * 400)
        for system, (size, speed) in systems.items():
            kind, is_low = kind_of(system), speed < floor
            called = f"{system_name(system) or system}: {speed:,.0f}" if is_low else system_name(system)
            point = axis.scatter(size, max(speed, floor), s=34, color=COLOURS[kind], zorder=3,
                                 marker="v" if is_low else "o" if system.startswith("idx") else "s",
                                 facecolor="none" if kind == "mih" else COLOURS[kind])
            if kind not in shown or not is_low:
                shown[kind] = point
            # What is mapped has its name at the point of the same in memory, which is beside it.
            points.append((size, max(speed, floor), "" if kind == "idx" else called, COLOURS[kind]))
        for ours, called, colour in ((True, "the best of idx", COLOURS["idx"]), (False, "the best of the others", GREY)):
            best = frontier([place for system, place in systems.items()
                             if system.startswith("idx") == ours and place[1] > floor])
            shown[called], = axis.step(*zip(*best, (1000, best[-1][1])), where="post", color=colour, linewidth=0.9,
                                       linestyle="--", zorder=1)
        axis.set(xscale="log", yscale="log", ylabel="queries per second", title=f"{name} fingerprints, one core")
        axis.set_xticks([10, 20, 50, 100, 200])
        axis.set_xlim(7, max(250, 1.3 * max(size for size, _ in systems.values())))
        plain(axis.xaxis)
        plain(axis.yaxis)
        named.append((axis, points))
    axes[-1].set_xlabel("bytes per fingerprint")
    figure.tight_layout()
    for axis, points in named:
        name_points(figure, axis, points)
    kinds = {"idx": "idx mapped", "in memory": "idx in memory", "unpacked": "idx unpacked", "mih": "mih, m parts",
             "mih wide": "mih wide, m parts", "scan": "scans"}
    figure.legend(shown.values(), [kinds.get(kind, kind) for kind in shown], loc="upper center", ncol=5,
                  bbox_to_anchor=(0.5, 0.01))
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


ALL = 0.004  # of pairs, missed: where the picture shows that none is


def recall_over_time(cells, folder):
    """The share of pairs of which a text is dropped, on a scale that spreads what is near to all of them."""
    names = list(dict.fromkeys(row.split(": ")[0] for row in cells.rows("hashes")))
    if not names:
        return
    figure, axes = panels(len(names), 2.8)
    named = []
    for axis, name in zip(axes, names):
        points = []
        for row in (row for row in cells.rows("hashes") if row.startswith(f"{name}: ")):
            system = row.split(": ", 1)[1]
            seconds, resolved = cells.get("hashes", row, "all, s"), cells.get("hashes", row, "resolved")
            if not seconds or resolved is None:
                continue
            colour = COLOURS["idx" if "idx" in system else "mih"]
            missed = min(max(1 - resolved, ALL), 0.7)
            axis.scatter(seconds, missed, color=colour, zorder=3, marker="o" if "idx" in system else "s")
            points.append((seconds, missed, system.strip("`"), colour))
        size, least = name.split(", ")
        axis.set(xscale="log", yscale="log", ylabel="resolved",
                 title=f"{size} texts: pairs whose resemblance is {least} or more")
        axis.set_ylim(0.8, 0.0025)
        axis.yaxis.set_major_locator(matplotlib.ticker.FixedLocator([0.5, 0.2, 0.1, 0.05, 0.02, 0.01, ALL]))
        axis.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(
            lambda missed, _: "all" if missed == ALL else f"{100 - 100 * missed:.0f} %"))
        axis.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axis.margins(x=0.25)
        plain(axis.xaxis)
        named.append((axis, points))
    axes[-1].set_xlabel("processor seconds from hashes, verified\n\nresolved: pairs of which one text is dropped, or both, as a share of all pairs "
                        "that resemble each other so much")
    figure.tight_layout()
    for axis, points in named:
        name_points(figure, axis, points)
    save(figure, folder, "recall-over-time.svg")


DRAWN = (speed_and_size, time_over_k, recall_over_time)


def main(path, folder):
    cells = Cells(pathlib.Path(path).read_text(encoding="utf-8"))
    for draw in DRAWN:
        draw(cells, pathlib.Path(folder))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
