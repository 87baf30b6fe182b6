"""RESULTS.md: written from the tables in bench/results, read again, and compared with the figures in README.md.

bench/results/NAME.json is what bench/run-all measured of a table: its commit, date, machine, the versions of what it is
compared with, and what each command printed; or, of tables that were measured before there were such files, their
header and rows as RESULTS.md had them. README.figures says where each figure in README.md is from.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tables

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FOLDER = SOURCE / "bench/results"
FIGURES = SOURCE / "bench/README.figures"
MOST_LINES = 300
STEADY = 10  # percent that the rounds of a figure may be from their median; one that varies more is a range in README.md
SCALES = {"": 1.0, "million": 1e-6, "thousand": 1e-3, "percent": 100.0, "milliseconds": 1e-3,  # of µs
          "minutes": 1 / 60}

# The pictures that bench/pictures.py draws: the file, its section, and what it shows.
PICTURES = [
    ("speed-and-size.svg", "How fast, how small, and beside whom?", "queries per second over bytes per fingerprint"),
    ("time-over-k.svg", "How does it grow?", "time of a query over k"),
    ("recall-over-time.svg", "Which of these texts do I keep?", "pairs of which a text is dropped, over processor time"),
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
    """Whether a file is a document, which changes no figure."""
    return path.endswith((".md", ".svg", ".png", ".txt", "CMakeLists.txt")) or path.startswith("tools/man/")


def changed_since(commit, paths):
    """The files below `paths`, other than documents, that differ from `commit` in the working tree, or None if there is
    no such commit here."""
    names = git("diff", "--name-only", commit, "--", *paths)
    return None if names is None else [name for name in names.splitlines() if not is_document(name)]


def age(table, output):
    """What makes a measured table old, in a few words; an empty text if nothing does."""
    if output is None:
        return "not measured"
    if output.get("commands_given", table.commands) != table.commands:
        return "old: other commands"
    changed = changed_since(output["commit"], table.paths)
    if changed is None:
        return "of a commit that is not here"
    return f"old: {changed[0]}" + (f" and {len(changed) - 1} more" if len(changed) > 1 else "") if changed else ""


# ---- RESULTS.md ----


def read_outputs(folder):
    """The measured tables in a folder, by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def rows_of(table, output):
    """(header, rows) of a measured table, as texts, without those that it leaves out."""
    header, rows = output.get("header"), output.get("rows")
    if rows is None:
        header, rows = table.rows([text for command in output["commands"] for text in command["printed"]])
    return header, [[str(cell) for cell in row] for row in rows if not any(part in str(row[0]) for part in table.left_out)]


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


def page_tables(outputs):
    """{name: [title, sentence, section, header, rows, [(part, output)]]} of each table of RESULTS.md, those of several
    parts among them."""
    pages, found = {page.name: page for page in tables.PAGES}, {}
    for table in tables.TABLES:
        if table.name not in outputs or not table.shown:
            continue
        output = outputs[table.name]
        header, rows = rows_of(table, output)
        page = pages.get(table.page)
        if page is not None and page.is_beside:
            header = [header[0], *(f"{table.part}: {name}" for name in header[1:])]
        elif table.part:
            rows = [[f"{table.part}: {row[0]}", *row[1:]] for row in rows]
        shown = page or table
        if shown.name not in found:
            found[shown.name] = [shown.title, shown.sentence, table.section, header, rows, []]
        else:
            found[shown.name][3:5] = joined(*found[shown.name][3:5], header, rows)
        found[shown.name][5].append((table.part or table.name, output))
    return found


def measured_sentence(sources):
    """Such as: Measured at a9c2959a8e, 2026-11-28."""
    commits = {}
    for part, output in sources:
        note = f", while others used {output['others']:.2f} of a processor" if output["others"] > tables.MOST_OTHERS else ""
        commits.setdefault(f"{output['commit'][:10]}, {output['date'][:10]}{note}", []).append(part)
    if len(commits) == 1:
        return f"Measured at {next(iter(commits))}."
    return "Measured at " + "; ".join(f"{commit} ({', '.join(parts)})" for commit, parts in commits.items()) + "."


def joined(header, rows, header2, rows2):
    """One table of two: a row of each label, a column of each name."""
    header3, cells = list(dict.fromkeys(header + header2)), {}
    for names, some in ((header, rows), (header2, rows2)):
        for row in some:
            cells.setdefault(row[0], {}).update(zip(names[1:], row[1:]))
    return header3, [[label, *(row.get(name, "") for name in header3[1:])] for label, row in cells.items()]


def write(outputs, pictures):
    """The text of RESULTS.md. `pictures` is (file name, section, what it shows) of each picture there is."""
    found = page_tables(outputs)
    cells = {(name, row[0], header[i]): row[i] for name, (_, _, _, header, rows, _) in found.items() for row in rows
             for i in range(1, len(row)) if row[i]}
    before, behind, header, rows = tables.compared(cells)
    lines = ["# Results", "", "## What is idx better and worse at, beside whom, and by how much?", "", *wrapped(before), "",
             *markdown(header, rows), "", *wrapped(behind), "", *wrapped(
                 "`bench/run-all OUTPUT` wrote this page, its pictures, and the figures in "
                 "[README.md](../README.md), from the files in [results](results); nothing here is typed. "
                 "[tables.py](tables.py) has the commands of each table, and [DECISIONS.md](DECISIONS.md) what was tried "
                 "without gain.")]
    section = None
    for name, (title, about, where, header, rows, sources) in found.items():
        if where != section:
            section = where
            lines += ["", f"## {section}"]
            for picture, place, shown in pictures:
                if place == section:
                    lines += ["", f"![{shown}]({picture})"]
        lines += ["", f"### {name}: {title}", *wrapped(f"{about} {measured_sentence(sources)}"), "", *markdown(header, rows)]
    lines += ["", "## How was this measured?", "", *wrapped(tables.CONDITIONS), ""]
    kept = [f"{table.name} ({outputs[table.name]['commit'][:10]})" for table in tables.TABLES
            if table.name in outputs and not table.shown]
    if kept:
        lines += [*wrapped("Tables that are in [results](results) alone, with their commits: " + ", ".join(kept) + "."), ""]
    return "\n".join(lines + conditions(outputs)) + "\n"


def conditions(outputs):
    """Which machines measured, and the versions of what idx is compared with."""
    machines, versions = {}, {}
    for output in outputs.values():
        machines.setdefault(output["machine"].split(";")[0], []).append(output["date"][:10])
        for name, version in output.get("versions", {}).items():
            versions.setdefault(name, set()).add(version)
    said = "; and ".join(f"{machine} ({min(dates)} to {max(dates)})" for machine, dates in machines.items())
    shown = ", ".join(f"{name} {' and '.join(sorted(some))}" for name, some in sorted(versions.items()))
    return wrapped(f"Machines, whose kernels and compilers are in [results](results): {said}." + (f" Versions: {shown}." if shown else ""))


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
