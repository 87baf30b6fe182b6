"""RESULTS.md: written from the measured tables, read again, and compared with the figures in README.md.

README.figures says where each figure in README.md is from; its head describes how.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tables

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FIGURES = SOURCE / "bench/README.figures"
FIRST = "Measured commit: "
MOST_LINES = 550
STEADY = 10  # percent that the rounds of a figure may be from their median; one that varies more is a range in README.md
SCALES = {"": 1.0, "million": 1e-6, "thousand": 1e-3, "percent": 100.0, "milliseconds": 1e-3}  # the latter of µs

# The pictures that bench/pictures.py draws: the file, its section, and what it shows.
PICTURES = [
    ("speed-and-size.svg", "How fast, how small, and beside whom?", "queries per second over bytes per fingerprint"),
    ("time-over-k.svg", "How does it grow?", "time of a query over k"),
    ("building.svg", "Building?", "time and memory of a build over the number of fingerprints"),
    ("recall-over-time.svg", "How good are the answers?", "pairs of which a text is dropped, over processor time, beside MinHash"),
]

# A number in running text.
FIGURE = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)*(?:e\d+)?(?!\w)")


# ---- Commits ----


def git(*arguments):
    """What git prints, or None if it fails, or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=SOURCE, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def is_document(path):
    """Whether a file is a document, or only writes and draws what was measured."""
    return (path.endswith((".md", ".svg", ".png")) or path.startswith("tools/man/")
            or path in ("bench/results.py", "bench/pictures.py", "bench/README.figures"))


def measured_commits(page):
    """The commits that RESULTS.md names, none as long as bench/run-all has not written it."""
    begin = page.find("\n" + FIRST)
    return page[begin + 1 + len(FIRST):].split("\n")[0].rstrip(". ").split(", ") if begin >= 0 else []


def changed_since(commit):
    """The files other than documents that differ from `commit` in the working tree, or None if there is no such
    commit here."""
    names = git("diff", "--name-only", commit)
    return None if names is None else [name for name in names.splitlines() if not is_document(name)]


# ---- RESULTS.md ----


def read_outputs(folder):
    """The finished tables in a folder of bench/run-all, by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" if line != ["---"] * len(header) else
            "|" + "---|" * len(header) for line in lines]


def wrapped(text):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) >= 120:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def page_tables(measured, outputs):
    """(name, title, sentence, section, header, rows) of each table of RESULTS.md, those of several parts among them."""
    pages, found = {page.name: page for page in tables.PAGES}, {}
    for table in measured:
        header, rows = table.rows([text for command in outputs[table.name]["commands"] for text in command["printed"]])
        page = pages.get(table.page)
        if page is None:
            found[table.name] = [table.title, table.sentence, table.section, header, rows]
            continue
        if page.is_beside:
            header = [header[0], *(f"{table.part}: {name}" for name in header[1:])]
        elif table.part:
            rows = [[f"{table.part}: {row[0]}", *row[1:]] for row in rows]
        if page.name not in found:
            found[page.name] = [page.title, page.sentence, table.section, header, rows]
        else:
            found[page.name][3:] = joined(*found[page.name][3:], header, rows)
    return [(name, *parts) for name, parts in found.items()]


def joined(header, rows, header2, rows2):
    """One table of two: a row of each label, a column of each name."""
    header3, cells = list(dict.fromkeys(header + header2)), {}
    for names, some in ((header, rows), (header2, rows2)):
        for row in some:
            cells.setdefault(row[0], {}).update(zip(names[1:], row[1:]))
    return header3, [[label, *(row.get(name, "") for name in header3[1:])] for label, row in cells.items()]


def write(outputs, pictures):
    """The text of RESULTS.md. `pictures` is (file name, section, what it shows) of each picture there is."""
    measured = [table for table in tables.TABLES if table.name in outputs]
    commits = list(dict.fromkeys(outputs[table.name]["commit"] for table in measured))
    dates = sorted(outputs[table.name]["date"] for table in measured)
    loads = max(outputs[table.name]["others"] for table in measured)
    drift = max(abs(outputs[table.name]["drift"]) for table in measured)
    minutes = sum(outputs[table.name]["seconds"] for table in measured) / 60
    lines = ["# Results", "", f"{FIRST}{', '.join(commits)}. ", ""]
    lines[2] = lines[2].strip()
    lines += wrapped(
        f"Measured {dates[0]} to {dates[-1]} UTC, in {minutes:.0f} minutes, on {outputs[measured[0].name]['machine']}. "
        f"Other processes used at most {loads:.2f} of a processor before a table began, and a fixed piece of work took within "
        f"{100 * drift:.0f} % of the same time before each. `bench/run-all OUTPUT` wrote this page, its pictures, and the "
        "figures in [README.md](../README.md); nothing here is typed. [tables.py](tables.py) has the commands of each table, and OUTPUT keeps what each printed.")
    lines += [""] + wrapped(
        "Unless a table says otherwise: one pinned core, k = 3, exact answers, a tenth of the fingerprints near-copies, "
        "half of the queries near to one. A cell is the median, and behind ± the round that is farthest from it; "
        "a cell without ± is of one round, whose figure is itself a median of several passes. Peers: `mih` is multi-index "
        "hashing with numbers in its buckets, `mih wide` with fingerprints; `uncompressed` is sorted tables of plain "
        "fingerprints with directories; `faiss` is its IndexBinaryMultiHash. Each has the settings that were best for "
        "it. [DECISIONS.md](DECISIONS.md) has what was tried without gain.")
    body, section = [], None
    found = page_tables(measured, outputs)
    for name, title, sentence, where, header, rows in found:
        if where != section:
            section = where
            body += ["", f"## {section}"]
            for picture, place, shown in pictures:
                if place == section:
                    body += ["", f"![{shown}]({picture})"]
        body += ["", f"### {name}: {title}", *wrapped(sentence), "", *markdown(header, rows)]
    numbers = {(name, row[0], header[i]): row[i] for name, _, _, _, header, rows in found for row in rows
               for i in range(1, len(row)) if isinstance(row[i], tables.Figures)}
    compared = [(comparison, *comparison.make(numbers)) for comparison in tables.COMPARISONS]
    if any(rows for _, _, _, rows in compared):
        lines += ["", "## Where do others win, and what has changed?"]
    for comparison, sentence, header, rows in compared:
        if rows:
            lines += ["", f"### {comparison.name}: {comparison.title}", *wrapped(sentence), "", *markdown(header, rows)]
    lines += body
    return "\n".join(lines) + "\n"


def read(text):
    """{(table, row, column): cell} of RESULTS.md."""
    cells, name, header = {}, None, None
    for line in text.splitlines():
        if line.startswith("### "):
            name, header = line[4:].split(":")[0], None
        elif line.startswith("|") and name and not set(line) <= set("|- "):
            parts = [part.strip() for part in line.strip().strip("|").split("|")]
            if header is None:
                header = parts
            else:
                cells.update({(name, parts[0], header[i]): parts[i] for i in range(1, len(parts))})
    return cells


# ---- Figures elsewhere ----


def read_figures(text):
    """[(words, [place])] of README.figures: the words around figures, and the place in RESULTS.md of each `[]` in them."""
    entries = []
    for line in text.splitlines():
        if line.startswith("    "):
            entries[-1][1].append(line.strip())
        elif line and not line.startswith("#"):
            entries.append((line, []))
    return entries


def without_code(text):
    """The same text with code and addresses of links blank, so that places in it stay."""
    return re.sub(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", lambda code: re.sub(r"[^\n]", " ", code[0]), text, flags=re.M | re.S)


def found(words, text):
    """Where words are in a text, as matches whose groups are the figures."""
    parts = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in words.split("[]")]
    figure = r"\d+(?:,\d{3})*(?:\.\d+)?"
    return list(re.finditer(rf"({figure}(?: to {figure})?)".join(parts), text))


def unnamed(text, entries):
    """(line, number) of each number in a text that no entry names."""
    named = [match.span() for words, _ in entries for match in found(words, text)]
    return [(text.count("\n", 0, figure.start()) + 1, figure[0]) for figure in FIGURE.finditer(without_code(text))
            if not any(begin <= figure.start() and figure.end() <= end for begin, end in named)]


def figure_of(place, cells):
    """What the figure of a place must be, of two significant digits, or as many as the place says: the median, or where
    rounds are more than STEADY percent from it, a range such as 1.4 to 1.8."""
    parts = place.split("; ")
    digits = int(parts.pop().split()[0]) if parts[-1].endswith(" digits") else 2
    if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] not in SCALES):
        raise ValueError(f"'{place}' is not a table, a row, a column, and at most one of {', '.join(SCALES)}")
    if tuple(parts[:3]) not in cells:
        raise ValueError(f"RESULTS.md has no cell '{'; '.join(parts[:3])}'")
    cell, _, spread = cells[tuple(parts[:3])].partition(" ±")
    figure, percent = tables.number(cell) * SCALES[parts[3] if len(parts) == 4 else ""], float((spread or "0").split()[0])
    if percent <= STEADY:
        return tables.number_text(figure, digits)
    return " to ".join(tables.number_text(figure * (1 + part * percent / 100), 2) for part in (-1, 1))


def filled(text, entries, cells):
    """(text with the figures of the cells, [what is wrong]). Figures stay whose tables --full alone measures, where it
    did not."""
    wrong, changes = [], []
    missing = {table.name for table in tables.TABLES if table.full} - {table for table, _, _ in cells}
    for words, places in entries:
        matches = found(words, text)
        if len(matches) != 1 and (places or not matches):
            wrong.append(f"these words of README.figures are there {len(matches)} times: {words}")
        elif len(places) != words.count("[]"):
            wrong.append(f"README.figures has {len(places)} places for the figures of: {words}")
        for at, place in enumerate(places if len(matches) == 1 else [], 1):
            if place.split("; ")[0] in missing:
                continue
            try:
                changes.append((matches[0].span(at), figure_of(place, cells), place))
            except ValueError as error:
                wrong.append(str(error))
    for (begin, end), figure, place in sorted(changes, reverse=True):
        if text[begin:end] != figure:
            line = text.count("\n", 0, begin) + 1
            wrong.append(f"line {line} has {text[begin:end]}, where RESULTS.md has {figure}: {place}")
        text = text[:begin] + figure + text[end:]
    return text, wrong
