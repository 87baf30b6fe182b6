"""The tables of RESULTS.md: what measures each, how long that takes, and how a row is made of what was printed.

A table's commands run `rounds` times over; what is printed is kept as it is (bench/run-all), and `rows` makes the table
from it, so that a table can be written differently without being measured again. A cell is a text, or numbers of which
the median and the spread are shown. A table is old once something has changed below its `paths`.
"""
import dataclasses
import re
import statistics

PINNED = "taskset -c {core} "  # one thread, on the last core
THREE = "@ffffff0000000000:1,@000000fffff00000,@00000000000fffff"
FOUR = "@ffffff0000000000,@fff000fff0000000,@000ffffff0000000,@000000000fffffff:1"
FIVE = "@ffffe00000000000,@ffc01ff000000000,@003ffff000000000,@0000000ffffc0000,@000000000003ffff"
NAMES = {THREE: "three", FOUR: "four", FIVE: "five"}
RESIDENCES = {"idx": "mapped", "idx-memory": "in memory", "idx-unpacked": "unpacked"}


@dataclasses.dataclass
class Table:
    name: str
    section: str  # the question that it answers
    title: str
    sentence: str
    minutes: float  # on two idle cores, for --help and the sum of all
    commands: list
    rows: object  # from the printed texts, one of each command and round, to (header, rows)
    rounds: int = 3
    full: bool = False  # measured by --full alone
    shown: bool = True  # in RESULTS.md; bench/results has all
    left_out: tuple = ()  # rows whose labels have one of these are not in RESULTS.md either
    needs: tuple = ()  # "corpus", whole documents; "paragraphs"; "python": the virtual environments
    paths: tuple = ()  # files and folders that decide its figures
    page: str = ""  # the table of RESULTS.md that it is a part of, if others are as well
    part: str = ""  # what its rows or columns begin with there


@dataclasses.dataclass
class Page:
    """A table of RESULTS.md that is made of several measured ones, whose columns are beside each other, or whose rows are
    below each other."""
    name: str
    title: str
    sentence: str
    is_beside: bool


# ---- Cells ----


class Figures:
    """One number, measured several times: its median, and how far the rounds are from it at most."""

    def __init__(self, numbers, digits=3):
        self.numbers, self.digits = numbers, digits

    def median(self):
        return statistics.median(self.numbers)

    def __str__(self):
        shown = number_text(self.median(), self.digits)
        if len(self.numbers) < 2 or self.median() == 0:
            return shown
        spread = max(abs(number - self.median()) for number in self.numbers) / abs(self.median())
        return f"{shown} ±{100 * spread:.0f} %" if spread >= 0.005 else shown


def number_text(number, digits=3):
    """A number with so many significant digits: 1,970,000 or 0.0123."""
    if number == 0 or number != number:
        return "0"
    rounded = float(f"{number:.{digits - 1}e}")
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    decimals = digits - 1 - int(f"{rounded:e}".split("e")[1])
    return f"{rounded:.{max(0, decimals)}f}"


# ---- What was printed ----


def records(runs):
    """The rows of tables with a header, separated by tabs or bars, as dicts from column to text."""
    for text in runs:
        header = None
        for line in text.splitlines():
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if set(line) <= set("|-"):
                    continue
            elif "\t" in line:
                cells = line.split("\t")
            else:
                header = None
                continue
            if header is None or len(cells) != len(header) or cells[0] == header[0]:
                header = cells
            else:
                yield dict(zip(header, cells))


def number(text):
    return float(re.sub(r"[,x]|ns$|us$| ", "", text))


def grouped(runs, key, values, digits=3, first="", keep=None):
    """(header, rows): one row for each label that `key` makes of a record (None leaves it out); `values` maps a column
    to a function from a record to a number, to a text, or to None where this record has nothing for it."""
    found, texts = {}, {}
    for record in records(runs):
        if keep and not keep(record):
            continue
        label = key(record)
        if label is None:
            continue
        row = found.setdefault(label, {})
        for column, value in values.items():
            cell = value(record)
            if isinstance(cell, str):
                texts[label, column] = cell
            elif cell is not None:
                row.setdefault(column, []).append(cell)
    rows = []
    for label, row in found.items():
        cells = [texts.get((label, column)) or (Figures(row[column], digits) if column in row else "")
                 for column in values]
        rows.append([label, *cells])
    return [first, *values], rows


def column(name, scale=1, **wanted):
    """Takes the number of a column, from records that have the wanted texts in others."""

    def take(record):
        if record.get(name, "-") == "-" or any(record.get(key) != text for key, text in wanted.items()):
            return None
        return number(record[name]) * scale

    return take


def named(end, *columns, scale=1):
    """Takes the sum of columns from what bench/within printed of a command whose name ends so."""

    def take(record):
        if "name" not in record or not record["name"].endswith(end) or columns[0] not in record:
            return None
        return sum(number(record[column]) for column in columns) * scale

    return take


# ---- Look-ups ----


def system_label(record):
    """Such as 'idx `auto` in memory' or 'mih wide m=3'."""
    system, scheme = record["system"], record["scheme"]
    if system not in RESIDENCES:
        return f"{system} {scheme}" if scheme != "-" else system.removesuffix(" tiled")
    if system == "idx-unpacked":  # the same plain tables, whatever the scheme of the files
        return "idx unpacked"
    return f"idx `{scheme_name(scheme)}` {RESIDENCES[system]}"


def scheme_name(scheme):
    """Such as auto, or three; the benchmarks print the beginning of long names."""
    return next((name for masks, name in NAMES.items() if len(scheme) > 40 and masks.startswith(scheme)),
                scheme.split("=")[0])


def lookup_rows(runs):
    def size(record):
        tables, resident = number(record["table_bytes_per_fp"]), number(record["resident_bytes_per_fp"])
        # Mapped, it has the files and what opening allocates; otherwise what was allocated is all that look-ups need.
        return resident if record["system"] in ("idx-memory", "idx-unpacked") else tables + resident

    return grouped(runs, system_label, {
        "one, a second": column("queries_per_second", mode="single"),
        "many, a second": column("queries_per_second", mode="staged"),
        "bytes": size}, keep=is_row_of_lookup)


def is_row_of_lookup(record):
    """Not the slower kinds of what is there: multi-index hashing with numbers in its buckets, and mapped schemes by
    masks."""
    mapped_masks = record["system"] == "idx" and scheme_name(record["scheme"]) in NAMES.values()
    return record["mode"] != "cold" and record["system"] != "mih" and not mapped_masks


def large_k_rows(runs):
    """The time of a query by k, many at once; of `mih wide` and FAISS the setting that is the fastest at this k."""
    times = {}
    for record in records(runs):
        if record["mode"] != "staged":
            continue
        kind = {"idx": "idx mapped", "idx-memory": "idx in memory", "idx-unpacked": "idx unpacked",
                "mih wide": "mih wide", "faiss": "faiss"}.get(record["system"])
        if kind:
            key = f"{int(record['n']):.0e}, k = {record['k']}".replace("e+0", "e"), kind
            times.setdefault(key, {}).setdefault(record["scheme"], []).append(number(record["ns_per_query"]))
    labels = list(dict.fromkeys(label for label, _ in times))
    kinds = [kind for kind in ("idx mapped", "idx in memory", "idx unpacked", "mih wide", "faiss")
             if any(kind == other for _, other in times)]
    rows = [[label] + [Figures(min(times[label, kind].values(), key=statistics.median)) if (label, kind) in times else ""
                       for kind in kinds] for label in labels]
    return ["n, k", *(f"{kind}, ns" for kind in kinds)], rows


def unpacked_rows(runs):
    """Nanoseconds of a query by n and k, of unpacked tables and of the fastest `mih wide` that needs no more bytes than
    these may have."""
    cells = {}
    for record in records(runs):
        cell = cells.setdefault((int(record["n"]), int(record["k"])), {})
        unpacked = record["system"] == "idx-unpacked"
        size = number(record["resident_bytes_per_fp" if unpacked else "table_bytes_per_fp"])
        if unpacked or size <= (64 if int(record["n"]) <= 10000 else 40):
            times = cell.setdefault((unpacked, record["mode"]), {}).setdefault((record["scheme"], size), [])
            times.append(number(record["ns_per_query"]))
    rows = []
    for (count, k), cell in cells.items():
        best = {key: min((statistics.median(times), *setting) for setting, times in settings.items())
                for key, settings in cell.items()}
        if len(best) < 4:
            continue
        (one, _, size), (many, *_) = best[True, "single"], best[True, "staged"]
        (peer_one, *_), (peer_many, parts, peer_size) = best[False, "single"], best[False, "staged"]
        rows.append([f"{count:,}, k = {k}", Figures([one]), Figures([many]), Figures([size]), parts, Figures([peer_one]),
                     Figures([peer_many]), Figures([peer_size]), number_text(peer_one / one, 2),
                     number_text(peer_many / many, 2)])
    return ["n, k", "unpacked, one", "unpacked, many", "bytes", "mih wide", "mih, one", "mih, many", "mih, bytes",
            "mih / unpacked, one", "mih / unpacked, many"], rows


MOST_OTHERS = 0.15  # of a processor: what others may use of an idle machine

# What decides the figures of tables.
CORE = ("format", "libidx/base", "libidx/fingerprints")
READING = (*CORE, "libidx/segment", "libidx/scheme", "libidx/view", "libidx/lookup")
BUILDING = (*CORE, "libidx/streams", "libidx/segment", "libidx/scheme", "libidx/building")
DEDUP = ("libidx/base", "libidx/streams", "libidx/sets", "libidx/text", "tools/dedup", "tools/documents",
         "tools/formats", "tools/input", "tools/resemblance")
LOOKUP_BENCH = ("bench/lookup.c", "bench/idx_system.c", "bench/probes.c", "bench/scan.c", "bench/faiss.cpp", "bench/data.c")
PAIRS = (*BUILDING, "libidx/pairs", "libidx/batch", "bench/pairs.c", "bench/data.c")
PYTHON = ("libidx/python",)

LOOKUP = PINNED + "{bench}/lookup --folder {scratch} --passes 3 "
SCHEMES = f" --scheme 2:1:1 --scheme '{THREE}' --scheme '{FIVE}' --scheme auto"
EXACT = "'libidx auto' 'libidx 2:1:1' 'faiss MultiHash 4x16' 'faiss MultiHash 2x32 flip 1' 'pynear MIH 4x16'"  # in Python
SKETCHES = "'idx build --resemble' 'datasketch 16 × 5' 'datasketch 16 × 5, Redis' 'rensa 16 × 5'"
PEERS = " --system idx --system uncompressed --system mih"
SLOWER = "`three`", "`four`", "`five`", "`2:1:1` mapped", "nhash=4"  # rows of look-ups beside which others are
PROPOSING = " 'rensa, 16 bands' 'rensa, 32 bands' 'FastSketchLSH, 16 bands' 'FastSketchLSH, 32 bands'"
VERIFYING = " SetSimilaritySearch py_stringsimjoin 'DuckDB, SQL'"  # exactly; beyond a hundred thousand they take minutes
LARGE = 70  # GB of free disk that a hundred million texts take


def sets_of(kind, count, least, systems):
    return (PINNED + f"env IDX={{idx}} OLD_PYTHON={{old_python}} {{python}} bench/sets.py {kind} {{bench}}/sets.so "
            f"{{data}}/paragraphs.tsv {count} {least}{systems}")


def dedup_of(name, texts, least, threads, memory="8G"):
    """Runs idx dedup on texts that bench/make prints."""
    run = (f"{{bench}}/make {texts} >{{scratch}}/texts.tsv && bench/within --name '{name}' none bash -c '{{idx}} dedup --drop "
           f"--resemble {least} --threads {threads} --memory {memory} --tmpdir {{scratch}} {{scratch}}/texts.tsv >/dev/null'")
    if not texts.startswith("recombined {n8}"):
        return run
    free = "$(df --output=avail -B1G {scratch} | tail -n 1)"
    return (f"if [ {free} -lt $(({LARGE} / {{scale}})) ]; then echo 'recombined-1e8 is left out: it takes {LARGE} GB of disk' >&2; exit 1; fi; "
            + run)

ONE = " --threads 1 "
LEAST_MEMORY = 50 * 10**6  # that a process needs


def numbered(first, last):
    """Prints the paragraphs from one line to another, with numbers for IDs."""
    return (f"""awk 'BEGIN {{{{FS = OFS = "\\t"}}}} NR >= {first} {{{{$1 = NR - 1; print}}}} NR == {last} {{{{exit}}}}' """
            "{data}/paragraphs.tsv")


def built(name, count, texts):
    """Builds an index of so many texts, and opens it."""
    return (PINNED + f"bench/within --name 'build {name} {count}' --size {{scratch}}/texts.idx none {{idx}} build --resemble 0.8 "
            f"--id-type u64{ONE}--format tsv {{scratch}}/texts.idx {texts} && " +
            PINNED + f"{{bench}}/resembling open --name 'open {name}' {{scratch}}/texts.idx {texts}")


def paragraphs_index(count):
    """Builds an index of paragraphs, looks them and others up in it, and finds all pairs; and fills another one, text by text."""
    texts, pairs = "--format tsv {scratch}/own.tsv", f"--resemble 0.8 --tmpdir {{scratch}}{ONE}"
    ask = "{bench}/resembling ask --name "
    return " && ".join((
        numbered(1, count) + " >{scratch}/own.tsv",
        "shuf -n 20000 --random-source=<(yes) {scratch}/own.tsv >{scratch}/some.tsv",
        numbered(f"{count} + 1", f"{count} + 20000") + " >{scratch}/new.tsv",
        built("paragraphs", count, "{scratch}/own.tsv"),
        PINNED + ask + "own --own {scratch}/texts.idx {scratch}/some.tsv",
        PINNED + ask + "new {scratch}/texts.idx {scratch}/new.tsv",
        "quarter=$(($(du -sb {scratch}/texts.idx | cut -f 1) / 4))",
        f"memory=$((quarter > {LEAST_MEMORY} ? quarter : {LEAST_MEMORY}))",
        PINNED + "bench/within $memory " + ask + "own --disk --own {scratch}/texts.idx {scratch}/some.tsv",
        PINNED + "bench/within $memory " + ask + "new --disk {scratch}/texts.idx {scratch}/new.tsv",
        PINNED + f"bench/within --name 'pairs of the index' none bash -c '{{idx}} pairs {pairs}{{scratch}}/texts.idx >/dev/null'",
        PINNED + f"bench/within --name 'pairs of the texts' none bash -c '{{idx}} dedup --pairs {pairs}{texts} >/dev/null'",
        "{idx} build --resemble 0.8 --id-type u64 {scratch}/grown.idx </dev/null",
        PINNED + f"bench/within --name 'add {count}' --size {{scratch}}/grown.idx none bash -c '{{idx}} add --if-new{ONE}"
        f"{{scratch}}/grown.idx {texts} >/dev/null'"))


LEFT = 5 * 10**9  # bytes of the disk that stay free beside the largest index in 2:1:1
PEAK = 14  # bytes of disk for a fingerprint that its build takes at its largest, at billions


def paper(scheme, count):
    """Builds an index of so many fingerprints, a number or what the shell computes, and looks up in it."""
    return (f"n=$(({count})) && {{bench}}/rows write --count $n | bench/within --name \"{scheme} $n\" --size {{scratch}}/paper.idx "
            f"none {{idx}} build --format u64 --id-type none --memory {{six}} --threads 2 --scheme {scheme} {{scratch}}/paper.idx - && "
            + PINNED + f"{{bench}}/rows ask {{scratch}}/paper.idx --name {scheme} --count $n --queries 20000 && "
            + PINNED + "bench/within $(($(du -sb {scratch}/paper.idx | cut -f 1) / 4)) {bench}/rows ask {scratch}/paper.idx "
            f"--name {scheme} --disk --count $n --queries 20000")


PAGES = [
    Page("hashes", "Which texts to keep, from the hashes of their shingles",
         "All systems read the same arrays of 64-bit hashes, of shingles of five words; a tenth of the texts are edited "
         "copies. Times are of one core. MinHash makes sketches of 128 values and proposes pairs that share a band, which the "
         "same code in C then verifies; exact systems verify as they go. MiB are what the process grew by at most. A true pair has "
         "the resemblance in the row's name or more. *Resolved*: the share of true pairs that lose a text. *Correctly dropped*: "
         "the share of dropped texts that are in a true pair. *Copies found*: the share of copies that are dropped; these have 50 "
         "words or more, and 1 to 4 % of them replaced.", False),
    Page("texts", "Which texts to keep, from the texts",
         "The same with reading the texts. Each system gets the hashes of idx's `shingles`, the fastest way, but gaoya, which "
         "makes its own. The other exact joins are in the table above; reading adds the same time to each.", False),
    Page("lookup", "Queries per second within 3 bits, and bytes per fingerprint",
         "One query at a time, and many at once; half of the queries are near to a fingerprint. The fingerprints are those of "
         "a million paragraphs (texts), or uniform ones. Blocks have 64 bytes. FAISS of libfaiss-dev is left out at 1e8, where "
         "its fastest exact setting needs 18 GB.", True),
    Page("pairs", "All near pairs of a million to a hundred million",
         "Processor seconds. Brute force compares all with all by AVX-512, and the plain join is four counting sorts. At "
         "1e8 and at large k, one thread was measured. Paragraphs (texts) have hundreds of times as many near pairs as "
         "uniform fingerprints.", False),
    Page("recombined", "Deduplicating ten and a hundred million paragraphs",
         "Seconds of `idx dedup` of recombined paragraphs (`bench/make`), in 4 GiB, 1e8 in 8.", False),
    Page("python-peers", "Beside other packages",
         "One array of queries, half of them near, on one core. pynear's multi-index hashing finds the nearest 16 within 3 bits.",
         True),
    Page("quality", "Recall and precision of the recipes",
         "Copies of the corpus's documents with at most 1 % of the words edited; short documents have 50 to 199 words. Other "
         "scripts are from packages that the corpus lacks; *mixed* are Chinese documents, each followed by an English one.", False),
]

# Of systems, what is slower than with fewer bands, and what larger tables have; and from texts, what is above already.
LEFT_OUT = "FastSketchLSH, 32", "FastSketchLSH, 16", "rensa, 32", "SetSimilaritySearch", "py_stringsimjoin", "DuckDB"
QUALITY = ("libidx/base", "libidx/fingerprints", "libidx/text", "bench/quality.c", "bench/texts.c", "bench/edits.c")
FEW_EDITED = "grep -P '^test|^edits.*\\t<=1\\t'"  # of what bench/quality prints


def quality_rows(runs, languages):
    return grouped(runs, lambda r: f"`{r['recipe']}` {r['language']}", {
        f"{size}: {what}, k = {k}": column(what, k=k, **{"class": words})
        for size, words in (("long", "200+"), ("short", "50-199")) for what in ("recall", "precision")
        for k in ("3", "6")}, keep=lambda r: r.get("test") == "edits" and r["language"] in languages)


TABLES = [
    *(Table(f"hashes-{size}-{least}", "Which of these texts do I keep?", f"{words} texts, resemblance {least}", "", minutes,
            [sets_of("hashes", count, least, " idx_sets" + PROPOSING + others)],
            lambda runs: set_rows(runs), rounds=rounds, left_out=left_out,
            needs=("paragraphs", "python"), paths=(*DEDUP[:4], "bench/sets.c", "bench/sets.py"), page="hashes",
            part=f"{size}, {least}")
      for size, words, count, least, others, rounds, minutes, left_out in (
          ("250k", "250,000", "{n250}", 0.8, "", 3, 1.5, LEFT_OUT[:1]), ("250k", "250,000", "{n250}", 0.5, "", 3, 1.5, LEFT_OUT[:2]),
          ("1e6", "A million", "{n6}", 0.8, "", 1, 2, LEFT_OUT[:2]),
          ("1e5", "A hundred thousand", "{n5}", 0.8, " datasketch" + VERIFYING, 1, 1, (*LEFT_OUT[:3], "py_")))),
    *(Table(f"texts-{size}-{least}", "Which of these texts do I keep?", f"{words} texts, resemblance {least}", "", minutes,
            [sets_of("texts", count, least, " 'idx dedup' libidx.dedup" + PROPOSING + others)],
            lambda runs: set_rows(runs), left_out=LEFT_OUT,
            rounds=rounds, needs=("paragraphs", "python"),
            paths=(*DEDUP, "libidx/python/libidx/_dedup.py", "bench/sets.c", "bench/sets.py"), page="texts",
            part=f"{size}, {least}")
      for size, words, count, least, others, rounds, minutes in (
          ("1e6", "A million", "{n6}", 0.8, "", 1, 3),
          ("1e5", "A hundred thousand", "{n5}", 0.8, " datasketch 'gaoya, 42 bands of 3'" + VERIFYING, 1, 2))),
    Table("hard", "Which of these texts do I keep?", "Texts that share frequent shingles",
          "Seconds of `idx dedup` on one thread, by the least resemblance, and MiB of memory. The number is that of the texts, "
          "and `bench/make --help` says what they are. A million forms are left out, since they would take hours. A lower "
          "resemblance can take less time, since the time depends on which shingles texts share.", 6,
          [dedup_of(f"{kind} {name}, {least}", f"{kind} {count}", least, 1)
           for kind, sizes in (("licences", 3), ("forms", 2), ("templates", 3), ("equal", 3), ("words", 3))
           for name, count in (("1e4", "{n4}"), ("1e5", "{n5}"), ("1e6", "{n6}"))[:sizes] for least in (0.8, 0.7, 0.5)] +
          [dedup_of(f"long 20, {least}", "long 20", least, 1) for least in (0.8, 0.7, 0.5)],
          lambda runs: hard_rows(runs), rounds=1, left_out=("words", "1e4", "equal 1e5", "licences 1e5", "templates 1e5"),
          paths=(*DEDUP, "bench/make.c")),
    *(Table(f"recombined-{size}", "Which of these texts do I keep?", f"{words} recombined paragraphs",
            "Processor seconds of `idx dedup`, on one thread and on two, or on two alone, and MiB of memory.", minutes,
            [dedup_of(f"{least}, {threads}", f"recombined {count} {{data}}/paragraphs.tsv", least, threads, memory)
             for least in leasts for threads in counts], lambda runs, counts=counts: dedup_rows(runs, counts), rounds=1, full=full,
            needs=("paragraphs",), shown=size != "1e6", paths=(*DEDUP, "bench/make.c"), page="recombined", part=size)
      for size, words, count, leasts, counts, memory, minutes, full in (
          ("1e6", "A million", "{n6}", (0.8, 0.5), (1, 2), "4G", 1, True),
          ("1e7", "Ten million", "{n7}", (0.8, 0.5), (1, 2), "4G", 10, True),
          ("1e8", "A hundred million", "{n8}", (0.8,), (2,), "8G", 30, True))),
    Table("lookup-paragraphs", "How fast, how small, and beside whom?", "The fingerprints of a million paragraphs", "", 2,
          [LOOKUP + "--fingerprints {data}/paragraphs.u64 --seconds 0.3 --queries 1e6 --scheme auto "
           "--scheme 2:1:1 --parts 3 --parts 4 --uncompressed 4:1" + PEERS], lookup_rows, needs=("paragraphs",), page="lookup",
          part="texts", left_out=SLOWER,
          paths=(*READING, *LOOKUP_BENCH)),
    Table("found", "How fast, how small, and beside whom?", "By how many queries find something",
          "Queries per second, many at once, in the fingerprints of a million paragraphs, where 0, 50 and 100 % of the queries "
          "are near to one of these. The other queries differ from a fingerprint in 8 bits or more.", 2,
          [LOOKUP + "--fingerprints {data}/paragraphs.u64 --seconds 0.3 --queries 1e6 --scheme auto --parts 4 "
           f"--uncompressed 4:1 --near {near} --system idx --system uncompressed --system mih-wide | sed '1s/^/near\\t/; 1!s/^/{near}\\t/'" for near in (0, 50, 100)],
          lambda runs: found_rows(runs), rounds=1, left_out=("uncompressed", "mapped"), needs=("paragraphs",), paths=(*READING, *LOOKUP_BENCH)),
    Table("lookup-1e6", "How fast, how small, and beside whom?", "A million fingerprints", "", 3,
          [LOOKUP + "--count {n6} --seconds 0.3 --queries 1e6 --system scan --system faiss "
           "--faiss 4,16,0 --faiss 2,32,1" + SCHEMES + PEERS], lookup_rows, page="lookup", part="1e6", left_out=SLOWER,
          paths=(*READING, *LOOKUP_BENCH)),
    Table("lookup-1e7", "How fast, how small, and beside whom?", "Ten million fingerprints", "", 5,
          [LOOKUP + "--count {n7} --seconds 0.2 --queries 1e6 --system scan "
           "--system faiss --faiss 4,16,0 --faiss 2,32,1" + SCHEMES + PEERS], lookup_rows, page="lookup", part="1e7", left_out=SLOWER,
          paths=(*READING, *LOOKUP_BENCH)),
    Table("lookup-1e8", "How fast, how small, and beside whom?", "A hundred million fingerprints", "", 4,
          [LOOKUP + f"--count {{n8}} --seconds 0.4 --queries 1e6 --scheme 2:1:1 --scheme '{THREE}' --scheme '{FOUR}' "
           "--scheme auto --uncompressed 5:2 --parts 2 --parts 3 --system scan" + PEERS], lookup_rows, rounds=1,
          page="lookup", part="1e8", left_out=SLOWER,
          paths=(*READING, *LOOKUP_BENCH)),
    Table("large-k", "How does it grow?", "By k", "Time of a query, many at once; peers have their fastest "
          "setting at each k.", 2,
          [LOOKUP + f"--count {count} -k {k} --seconds 0.2 --queries 1e5 --scheme auto {parts} --system idx --system mih"
           for count, ks in (("{n5}", (3,)), ("{n6}", (1, 4, 6, 8, 12)), ("{n7}", (4, 6)))
           for k in ks for parts in [" ".join(f"--parts {m}" for m in sorted({min(m, k + 1) for m in (3, 4, *([5] if k > 8 else []))}))]],
          large_k_rows, rounds=1,
          paths=(*READING, *LOOKUP_BENCH)),
    Table("unpacked", "How does it grow?", "Plain tables in memory, by n and k",
          "Nanoseconds of a query, one at a time and many at once, and bytes per fingerprint: `--unpacked`, and the "
          "fastest multi-index hashing with fingerprints in its buckets of at most 40 bytes, 64 at 1e4. The last line "
          "of each k is of paragraphs.", 5,
          [LOOKUP + f"{data} -k {k} --seconds 0.05 --queries 4e5 --system idx-unpacked --system mih-wide "
           + " ".join(f"--parts {m}" for m in parts if m <= k + 1)
           for k in range(1, 13)
           for data, parts in (("--count {n4}", (2, 3, 4, 5, 6)), ("--count {n5}", (2, 3, 4, 5)),
                               ("--count {n6}", (2, 3, 4) if k <= 4 else (3, 4) if k <= 8 else (4,)),
                               ("--count {n7}", (2, 3) if k <= 3 else (3, 4) if k <= 10 else (4,)),
                               ("--fingerprints {data}/paragraphs.u64",
                                (2, 3, 4) if k <= 4 else (3, 4) if k <= 8 else (4,)))],
          unpacked_rows, rounds=1, full=True, needs=("paragraphs",),
          shown=False, paths=(*READING, *LOOKUP_BENCH)),
    Table("disk", "From disk?", "In memory that is a quarter of the tables",
          "Ten million fingerprints in `5:2`, blocks of 64 bytes, and 150 MiB for the process with its page cache. *Directory* "
          "reads a block when it is needed, and the kernel reads ahead. *Device* reads random blocks of 4 KiB of a table by "
          "O_DIRECT, without the page cache.", 1.5,
          ["{bench}/rows write --count {n7} | {idx} build --format u64 --id-type u64 --scheme 5:2 {scratch}/disk.idx - && " +
           PINNED + "bench/within {quarter} {bench}/rows ask {scratch}/disk.idx --disk --count {n7} --queries 200000"],
          lambda runs: grouped(runs, lambda r: f"{r['way']}, {r['at_a_time']} at a time", {
              "a second": column("queries_per_second"), "median, µs": column("p50_us"), "p99, µs": column("p99_us"),
              "pages": column("pages_per_query")}, keep=lambda r: r.get("way") in ("directory", "disk", "device")), rounds=1, left_out=("32 at",),
          paths=(*READING, "bench/rows.c")),
    Table("billion", "From disk?", "A billion fingerprints",
          "With their row numbers as IDs, built in a control group of 4 GiB, looked up in memory and in one of 2 GiB; "
          "bytes per document contain those of its ID.",
          40, ["{bench}/rows write --count {n9} | bench/within --name '" + name + " {n9}' --size {scratch}/billion.idx "
           f"{{four}} {{idx}} build --format u64 --id-type u64 --memory {{three}} --scheme '{scheme}' {{scratch}}/billion.idx - && "
           + PINNED + f"{{bench}}/rows ask {{scratch}}/billion.idx --name {name} --count {{n9}} && " +
           PINNED + f"bench/within {{two}} {{bench}}/rows ask {{scratch}}/billion.idx --name {name} --disk --count {{n9}} && "
           "rm -r {scratch}/billion.idx" for name, scheme in (("2:1:1", "2:1:1"), ("four", FOUR))],
          lambda runs: billion_rows(runs), rounds=1, full=True,
          shown=False, paths=(*BUILDING, *READING, "bench/rows.c")),
    Table("paper", "From disk?", "Billions of fingerprints, half as many as the paper's 8",
          "Fingerprints without IDs, from standard input, built within 6 GiB on two threads; looked up in memory, and with a "
          "quarter of the files' size as memory. `2:1:1` has as many as leave 5 GB of the disk free during the build. 2,000 "
          "queries are checked to find all that they should.", 60,
          [paper("1:1:3", "{n44}"),
           paper("2:1:1", f"($(df --output=avail -B1 {{scratch}} | tail -n 1) - {LEFT}) / {PEAK} / {{scale}}")],
          lambda runs: billion_rows(runs), rounds=1, full=True, left_out=(" 256",),
          paths=(*BUILDING, *READING, "bench/rows.c")),
    Table("build", "Building?", "From a file of fingerprints to a published index",
          "Ten tables with integer IDs, and two tables without; two threads. The copy is one of as many bytes.", 2,
          ["{bench}/rows write --count " + count + " >{scratch}/rows.u64 && bench/within "
           f"--name '{scheme} {count} build' --size {{scratch}}/built.idx none {{idx}} build --scheme {scheme} "
           f"--id-type {ids} --threads 2 {{scratch}}/built.idx {{scratch}}/rows.u64 && bench/within --name '{scheme} {count} copy' none "
           "sh -c 'cp -r --reflink=never {scratch}/built.idx {scratch}/copy && find {scratch}/copy -type f -exec sync {{}} +'"
           for scheme, ids in (("5:2", "u64"), ("2:1:1", "none")) for count in ("{n5}", "{n6}", "{n7}", "{n8}")],
          lambda runs: grouped(runs, lambda r: "`{}` {:.0e}".format(r["name"].split()[0], int(r["name"].split()[1]))
                               .replace("e+0", "e"), {
              "seconds": named("build", "seconds"), "processor seconds": named("build", "user_seconds", "system_seconds"),
              "memory, MiB": named("build", "resident_bytes", scale=2**-20),
              "index, MB": named("build", "size_bytes", scale=1e-6), "copy, s": named("copy", "seconds")}), rounds=1,
          full=True, shown=False, paths=(*BUILDING, "bench/rows.c")),
    Table("pairs", "All pairs?", "All near pairs of a million and ten million",
          "Processor seconds; brute force compares all with all by AVX-512, and the plain join is four counting sorts.",
          2, ["{bench}/pairs --count {n6} --schemes auto --folder {scratch}",
              "{bench}/pairs --count {n7} --schemes auto --folder {scratch}"],
          lambda runs: pair_rows(runs), rounds=1, page="pairs", paths=PAIRS,
          left_out=tuple(f"{n}, k = 3, idx, from {what}" for n in ("1e6", "1e7") for what in ("fingerprints", "an index"))
          + ("1e6, k = 3, brute",)),
    Table("pairs-1e8", "All pairs?", "All near pairs of a hundred million",
          "Processor seconds of one thread, the building of the index beside them.", 3,
          ["{bench}/pairs --count {n8} --rounds 1 --schemes auto --threads 1 --folder {scratch}"],
          lambda runs: pair_rows(runs), rounds=1, page="pairs",
          paths=PAIRS),
    Table("pairs-texts", "All pairs?", "Of a million paragraphs, at large k", "Processor seconds of one thread.", 1,
          [PINNED + f"{{bench}}/pairs --fingerprints {{data}}/paragraphs.u64 -k {k} --threads 1 --rounds 1"
           for k in (8, 12)],
          lambda runs: pair_rows(runs), rounds=1, needs=("paragraphs",), page="pairs", part="texts",
          left_out=("k = 8",), paths=PAIRS),
    Table("batch", "All pairs?", "A million queries against ten million",
          "Seconds of one thread and of two; rows without a scheme are fingerprints that stream past the queries.", 1.5,
          ["{bench}/batch --count {n7} --scheme auto --folder {scratch}"],
          lambda runs: grouped(runs, lambda r: f"`{r['scheme']}` {r['way']}" if r["scheme"] != "-" else "passing", {
              "one": column("seconds", threads="1"), "two": column("seconds", threads="2"),
              "a second, one": column("queries_per_second", threads="1")},
              keep=lambda r: r["way"] not in ("lookup", "probe", "stream") or r["scheme"] == "-"), rounds=1,
          shown=False,
          paths=(*PAIRS[:-2], "bench/batch.c", "bench/data.c")),
    Table("quality", "How good are the answers?", "Recall and precision of the recipes",
          "Edited copies of the corpus's documents, at most 1 % of the words, in English, Chinese and Japanese; "
          "short ones have 50 to 199 words.", 1.5,
          ["{bench}/quality {data}/corpus words:1 'words:1;v1' chars:2 words:3 'words:1;w=tfidf' | " + FEW_EDITED],
          lambda runs: quality_rows(runs, ("en", "zh")), rounds=1, needs=("corpus",),
          paths=QUALITY, page="quality", left_out=(";v1", "words:3", "chars:2", "tfidf` zh")),
    Table("quality-scripts", "How good are the answers?", "The same of other scripts, by packages that the corpus lacks",
          "Chinese, Japanese, Korean, Vietnamese and Khmer, and Chinese documents with an English one behind each.", 0.5,
          ["{bench}/quality {data}/scripts words:1 'words:1;v1' | " + FEW_EDITED],
          lambda runs: quality_rows(runs, ("zh", "ja", "km", "mixed")), rounds=1, needs=("corpus",),
          paths=QUALITY, page="quality", part="other", left_out=(";v1", " km", " zh")),
    Table("resemblance", "How good are the answers?", "Pairs of documents as they are, beside MinHash",
          "Pairs with a resemblance of 0.5 or more, found by SimHash within k bits, or by k equal values of 128 of MinHash.", 0.5,
          ["{bench}/quality {data}/corpus words:1 MinHash | grep -P '^test|^pairs\\t[^\\t]*\\tall\\t0.5'"],
          lambda runs: grouped(runs, lambda r: f"{r['recipe']} {r['k']}", {
              "recall": column("recall"), "precision": column("precision")},
              keep=lambda r: r.get("test") == "pairs" and r["k"] in
              (("64", "80") if r["recipe"] == "MinHash" else ("3", "6", "10"))), rounds=1, needs=("corpus",),
          left_out=("words:1 6", "MinHash 80"), paths=QUALITY),
    Table("text-index", "How good are the answers?", "An index of a million paragraphs by resemblance",
          "`idx build --resemble 0.8` made it with integer IDs. Each step had one core. *Bytes* are those of all files per text, "
          "and *bytes of sets* those of the file of sets per member, a shingle. `idx_list_resembling` looks up 20,000 texts of the "
          "index (*own*), or other paragraphs (*new*); from *disk* in a quarter of the files' size as memory, with no page there "
          "at first. *Add* is `idx add --if-new` of all texts to an empty index, where 1,024 together are on disk before they are "
          "answered. *Pairs* are those of `idx pairs` of the index, and of `idx dedup --pairs` of the texts. *Open* has the ms "
          "until an index is open, and the MiB of the process after a look-up.", 2.5,
          [paragraphs_index("{n6}")] +
          [f"{{bench}}/make short {count} >{{scratch}}/short.tsv && " + built("short", count, "{scratch}/short.tsv")
           for count in ("{n5}", "{n6}", "{n7}")],
          lambda runs: text_index_rows(runs), rounds=1, left_out=("build short", "new, 1 at", "own, 1 at", "open short"), needs=("paragraphs",),
          paths=(*READING, *BUILDING, *DEDUP, "libidx/change", "tools/answers", "bench/resembling.c")),
    Table("sketches", "How good are the answers?", "Look-ups by resemblance beside LSH",
          "On one core, 20,000 of a hundred thousand paragraphs are looked up in an index of all, by a resemblance of 0.8; then "
          "2,000 new texts, which resemble none, are looked up and added. The sets of the texts confirm candidates; their 8 bytes "
          "per shingle count as bytes of the index, in files or in memory. LSH has as many bands, of as many MinHash values, as "
          "its row says. Redis keeps the bands in memory and saves nothing; its time counts. The time of a text includes making "
          "its sketch. Others *say*, and this did not measure: Lance's index of this kind has 456 bytes per row, and finds 61 % of "
          "the pairs at 0.7 and 95 % at 0.8; Milvus's MINHASH_LSH has 512 bytes.", 4,
          [PINNED + "env IDX={idx} {python} bench/python_peers.py resembling {data}/paragraphs.tsv {n5} 0.8 " + SKETCHES],
          lambda runs: grouped(runs, lambda r: f"`{r['system']}`", {name: column(name) for name in (
              "seconds to build", "texts per second", "checked and added per second", "bytes per text", "recall", "wrong")}),
          rounds=1, needs=("paragraphs", "python"),
          paths=(*READING, "libidx/change", "libidx/sets", "libidx/text", "tools/answers", "tools/resemblance",
                 "bench/python_peers.py")),
    Table("plan", "How good are the answers?", "What `idx plan --measure` predicts",
          "Predicted and measured nanoseconds of a query, mapped, many at once.", 1.5,
          [PINNED + "{bench}/plan --measure --count {n7} -k 3 -k 6 --seconds 0.2 --folder {scratch}"],
          lambda runs: grouped(runs, lambda r: f"{int(r['n']):.0e}, k = {r['k']}, `{r['scheme']}`".replace("e+0", "e"), {
              "measured": column("measured_ns"), "predicted": column("predicted_ns")},
              keep=lambda r: r["residence"] == "mapped" and r["mode"] == "many"), rounds=1,
          shown=False, paths=(*READING, *BUILDING, "bench/plan.c")),
    Table("python-peers-1e7", "From Python?", "Beside other packages, ten million",
          "The same of ten million.", 3,
          [PINNED + "env OMP_NUM_THREADS=1 {python} bench/python_peers.py fingerprints {n7} " + EXACT],
          lambda runs: peer_rows(runs), needs=("python",), page="python-peers", part="1e7",
          left_out=("4x16",), rounds=1, paths=(*READING, *PYTHON, "bench/python_peers.py")),
    Table("python-hnsw", "From Python?", "Beside graphs", "A million fingerprints; HNSW misses some, and takes minutes "
          "to build.", 12,
          [PINNED + "env OMP_NUM_THREADS=1 {python} bench/python_peers.py fingerprints {n6} 'faiss HNSW' 'usearch HNSW'"],
          lambda runs: peer_rows(runs), rounds=1, full=True, needs=("python",), page="python-peers", part="1e6",
          shown=False, paths=(*READING, *PYTHON, "bench/python_peers.py")),
    Table("python", "From Python?", "Beside C", "The same call in both, in turns.", 1,
          ["taskset -c 0,1 {python} bench/python.py build-release"],
          lambda runs: (["call", "Python", "C", "Python / C"],
                        [[r["call"], r["Python"], r["C"], r["Python / C"]] for r in records(runs)]),
          rounds=1, needs=("python",),
          full=True, shown=False, paths=(*READING, "libidx/python", "bench/python.c", "bench/python.py")),
    Table("spark", "On Spark?", "Beside one process",
          "Processor seconds of the executors, less those of an empty job, on two workers of one core.", 20,
          ["{bench}/rows write --count {n7} >{data}/u7.u64 && {bench}/rows write --count {n8} >{data}/u8.u64 && "
           "SCALE={scale} TURNS=1 {python} bench/spark.py {idx} {data} match fingerprint pairs dedup texts recombined"],
          lambda runs: (["", "Spark", "one process", "ratio"], [
              [m[1], m[2], m[3], m[4]] for text in runs for m in re.finditer(
                  r"^(\S.*?): (-?[\d.]+) s, .*one process ([\d.]+) s, ratio (-?[\d.]+)", text, re.M)] + [
              [f"dedup of {int(m[1]):,} documents, recall {m[3]}, precision {m[4]}", m[2], "", ""] for text in runs
              for m in re.finditer(r"^dedup: (\d+) documents, ([\d.]+) s of .* recall ([\d.]+), precision ([\d.]+)", text,
                                   re.M)] + [
              [f"{m[1]}: {m[2]}", m[3], "", ""] for text in runs
              for m in re.finditer(r"^(dedup of recombined .*?), (\S+): ([\d.]+) s, empty", text, re.M)]),
          rounds=1, needs=("paragraphs", "python"),
          full=True, shown=False, paths=("libidx/python/libidx/spark", "libidx/batch", "libidx/sets", "bench/spark.py")),
    Table("serve", "As a service?", "Beside an empty reply",
          "Microseconds of processor time for a request of a service with one thread, and p99 of all time in ms.", 2,
          ["{bench}/rows write --count {n7} >{data}/uniform.u64 && "
           "python3 bench/serve build-release {data}/uniform.u64 --rounds 3 --seconds 2"],
          lambda runs: (["request", "empty, µs", "idx serve, µs", "p99 empty, ms", "p99 idx serve, ms"], [
              [m[1], m[2], m[4], m[3], m[5]] for text in runs for m in re.finditer(
                  r"^(GET, .*?): empty ([\d.]+) us, p99 ([\d.]+) ms; idx serve ([\d.]+) us, p99 ([\d.]+) ms", text, re.M)] + [
              ["POST of 1,000 fingerprints, beside idx_lookup_many", m[1], m[2], "", ""] for text in runs
              for m in re.finditer(r"^POST .*?many (\d+) ns a fingerprint; idx serve (\d+) ns", text, re.M)]),
          rounds=1,
          full=True, shown=False, paths=(*READING, "tools/connections", "tools/serve", "bench/serve", "bench/serving.c")),
]


def set_rows(runs):
    return grouped(runs, lambda r: r["system"], {
        **{f"{step}, s": column(step) for step in ("read", "sketch", "propose", "verify", "all")}, "MiB": column("MiB"),
        **{name: lambda r, name=name: f"{int(r[name]):,}" for name in ("proposed", "dropped")},
        "resolved": column("resolved"), "correctly dropped": column("dropped rightly"), "copies found": column("copies found")},
        keep=lambda r: "proposed" in r)


def hard_rows(runs):
    """A row for each kind and number, of what bench/within printed of commands such as 'forms 1e5, 0.8'."""
    return grouped(runs, lambda r: r["name"].rsplit(", ", 1)[0], {
        **{f"{least}, s": named(f", {least}", "user_seconds", "system_seconds") for least in (0.8, 0.7, 0.5)},
        "0.8, MiB": named(", 0.8", "resident_bytes", scale=2**-20)})


def found_rows(runs):
    return grouped(runs, system_label, {f"{near} %": column("queries_per_second", mode="staged", near=str(near))
                                        for near in (0, 50, 100)})


def pair_rows(runs):
    def label(record):
        scheme = "" if record["scheme"] == "-" else f" `{record['scheme']}`"
        return f"{int(record['n']):.0e}, k = {record['k']}, {record['system']}{scheme}".replace("e+0", "e")

    def is_shown(record):  # at large k a built index takes as long as an array
        return record["k"] == "3" or record["system"] in ("brute force", "idx, from an array")

    return grouped(runs, label, {
        "build, s": column("build_cpu_seconds", threads="1"),
        # FAISS, which was not asked for its processor time, has one thread as well.
        "pairs, s": lambda r: column("pairs_cpu_seconds" if r["pairs_cpu_seconds"] != "-" else "pairs_seconds",
                                     threads="1")(r),
        "two threads, s": column("pairs_seconds", threads="2"), "pairs": lambda r: f"{int(r['pairs']):,}"}, keep=is_shown)


def billion_rows(runs):
    columns = {"a second": column("queries_per_second"), "processor, µs": column("cpu_us"), "median, µs": column("p50_us"),
               "p99, µs": column("p99_us"), "pages": column("pages_per_query"),
               "processor, s": named("", "user_seconds", "system_seconds"), "elapsed, s": named("", "seconds"),
               "MiB": named("", "resident_bytes", scale=2**-20),
               "bytes": lambda r: number(r["size_bytes"]) / number(r["name"].split()[1]) if "name" in r else None,
               "fingerprints": lambda r: f"{int(r['name'].split()[1]):,}" if "name" in r else None}
    return grouped(runs, lambda r: f"`{r['index']}` {r['way']} {r['at_a_time']}" if "way" in r else
                   f"`{r['name'].split()[0]}` build", columns, keep=lambda r: r.get("size_bytes", "-") != "-" or (
                       r.get("way") in ("all", "disk") and r["at_a_time"] in ("1", "256")) or "documents" in r.get("way", ""))


def dedup_rows(runs, threads=(1, 2)):
    ends = {f"{count} thread{'s' if count > 1 else ''}": f", {count}" for count in threads}
    return grouped(runs, lambda r: r["name"].rsplit(", ", 1)[0], {
        **{f"processor, {words}": named(end, "user_seconds", "system_seconds") for words, end in ends.items()},
        **{f"elapsed, {words}": named(end, "seconds") for words, end in ends.items()},
        "MiB": named(f", {threads[0]}", "resident_bytes", scale=2**-20)})


def text_index_rows(runs):
    """Of what bench/within printed of commands, whose names end with a number of texts, and bench/resembling."""

    def label(record):
        if "way" in record:
            return f"{record['way']}, {record['name']}, {record['at_a_time']} at a time"
        return re.sub(r" \d+$", "", record["name"]) + (f", {int(record['texts']):,}" if "texts" in record else "")

    def texts(record):
        return number(record["name"].split()[-1])

    def of_command(name, value):
        return lambda r: value(r) if r.get(name, "-") != "-" else None

    return grouped(runs, lambda r: label(r), {
        "processor, s": of_command("user_seconds", named("", "user_seconds", "system_seconds")),
        "elapsed, s": of_command("user_seconds", column("seconds")),
        "a second": lambda r: number(r["queries_per_second"]) if "way" in r else
        texts(r) / number(r["seconds"]) if r.get("size_bytes", "-") != "-" else None,
        "pages": column("pages_per_query", way="disk"), "ms": column("open_ms"),
        "MiB": column("resident_bytes", 2**-20),
        "bytes": of_command("size_bytes", lambda r: number(r["size_bytes"]) / texts(r)),
        "bytes of sets": of_command("members", lambda r: number(r["sets_bytes"]) / number(r["members"]))},
        keep=lambda r: not r["name"].endswith("/resembling"))


def peer_rows(runs):
    return grouped(runs, lambda r: r["system"], {name: column(name) for name in (
        "queries per second", "bytes per fingerprint", "seconds to build", "recall")})


# ---- The first table of RESULTS.md: made of the cells of others ----

CONDITIONS = (
    "Unless a table says otherwise, it was measured on one pinned core with k = 3; answers are exact, a tenth of the "
    "fingerprints are near-copies, and half of the queries are near to a fingerprint. A cell has the median of its rounds, and "
    "behind ± how far the farthest round is from it. A cell without ± has one round, whose figure is a median of several "
    "passes. Of the peers, `mih` is multi-index hashing with numbers in its buckets, `mih wide` the same with fingerprints, and "
    "`uncompressed` sorted tables of plain fingerprints with directories, as the paper has them; these three are written here. "
    "`faiss` is IndexBinaryMultiHash. Each has the settings that were best for it. HNSW, Milvus and Vespa are not exact, and so "
    "in no table. DyFT and b-bit sketch tries were not built, and so not measured.")
EQUAL = 0.8, 1.25  # a ratio between these, whose rounds overlap, says nothing


def parsed(cell):
    """(median, least, most) of a cell."""
    figure, _, spread = cell.partition(" ±")
    median = number(figure)
    share = float(spread.split()[0]) / 100 if spread else 0
    return median, median * (1 - share), median * (1 + share)


def verdict(ours, others, is_time):
    """How many times as fast idx is, as a text and as a number; or equal."""
    ratio = others[0] / ours[0] if is_time else ours[0] / others[0]
    overlaps = ours[1] <= others[2] and others[1] <= ours[2]
    # A cell of one round has no spread, so that its ratio can't be told from noise either.
    is_equal = EQUAL[0] <= ratio <= EQUAL[1] and (overlaps or ours[1] == ours[2] or others[1] == others[2])
    return ("equal" if is_equal else f"{number_text(ratio, 2)} times"), ratio


@dataclasses.dataclass
class Question:
    asked: str
    unit: str
    is_time: bool  # less is better
    systems: dict  # cells by system: (figure, bytes or an empty text)


def questions(cells):
    """What can be asked of idx and of others, from {(table, row, column): cell}."""
    found = {}

    def ask(asked, unit, is_time, system, cell, size=""):
        found.setdefault(asked, Question(asked, unit, is_time, {})).systems[system] = (cell, size)

    words = {"texts": "of a million paragraphs"}
    for (table, row, name), cell in cells.items():
        if table == "lookup" and name.endswith(", a second"):
            part, way = name.removesuffix(", a second").split(": ")
            ask(f"look-ups, {words.get(part, part + ' uniform')}, {'one at a time' if way == 'one' else 'many at once'}", "a second", False,
                row, cell, cells.get((table, row, f"{part}: bytes"), ""))
        elif table == "large-k":
            ask(f"look-ups, {row.replace(',', ' uniform,')}, many at once", "ns", True, name.removesuffix(", ns"), cell)
        elif table == "python-peers" and name.endswith("queries per second"):
            size = cells.get((table, row, name.replace("queries per second", "bytes per fingerprint")), "")
            ask(f"look-ups from Python, {name.split(':')[0]}", "a second", False, row, cell, size)
        elif table in ("hashes", "texts") and name == "all, s":
            what, system = row.split(": ")
            ask(f"which texts to keep, from {table}, {what}", "s", True, system, cell)
        elif table == "pairs" and name == "pairs, s" and (row.endswith("idx, from an array") or "idx" not in row):
            what, system = re.fullmatch(r"(.*k = \d+), (.*)", row).groups()
            ask(f"all near pairs, {what}", "s", True, system.replace("idx, from", "idx: from"), cell)
        elif table == "sketches" and name == "texts per second":
            ask("look-ups by resemblance", "a second", False, row.strip("`"), cell, cells.get((table, row, "bytes per text"), ""))
        elif table == "sketches" and name == "checked and added per second":
            ask("texts looked up and added", "a second", False, row.strip("`"), cell)
        elif table == "resemblance" and name == "recall" and row in ("words:1 3", "MinHash 64"):
            ask("pairs that share half of their shingles, by k = 3", "recall", False, row.replace("words:1 3", "idx `words:1`"),
                cell)
    return found.values()


def compared(cells):
    """(a sentence before, one behind, header, rows): idx beside the fastest of the others, the losses first. What is
    equal is in the latter sentence."""
    rows, equal, of_files = [], [], []
    for question in questions(cells):
        sides = {True: {}, False: {}}
        for system, (cell, size) in question.systems.items():
            sides["idx" in system][system] = parsed(cell), cell, size
        if not sides[True] or not sides[False]:
            continue

        def best(side, question=question):
            return (min if question.is_time else max)(side.items(), key=lambda item: item[1][0][0])

        (ours, (mine, my_cell, my_size)), (others, (theirs, their_cell, their_size)) = best(sides[True]), best(sides[False])
        said, ratio = verdict(mine, theirs, question.is_time)
        files = {system: found for system, found in sides[True].items() if system.startswith("idx `") and found[2]}
        if files:
            of_files.append(best(files)[1][0][0] / theirs[0])
        if said == "equal":
            equal.append(f"{question.asked} ({others})")
            continue
        shown = [f"{cell} {question.unit}" + (f", {size} bytes" if size else "")
                 for cell, size in ((their_cell, their_size), (my_cell, my_size))]
        rows.append((ratio, [question.asked, others, shown[0], f"{ours.removeprefix('idx ')}: {shown[1]}", said]))
    rows.sort(key=lambda row: row[0])
    lost = sum(ratio < 1 for ratio, _ in rows)
    sentence = (f"The table compares the fastest of the others, whatever memory it needs, with the fastest of idx. Of "
                f"{len(rows) + len(equal)} questions, idx is slower in {lost}, faster in {len(rows) - lost}, and as fast in {len(equal)}.")
    more = (f"idx is as fast if the ratio is from {EQUAL[0]} to {EQUAL[1]}, and rounds overlap or are only one. These questions are: "
            f"{'; '.join(equal) or 'none'}.")
    if of_files:
        more += (f" By its files alone, which have fewer bytes, idx has {number_text(min(of_files), 2)} to "
                 f"{number_text(max(of_files), 2)} times the rates of others in C: see the table lookup.")
    return sentence, more, ["asked", "fastest other", "it has", "idx has", "idx is as fast"], [row for _, row in rows]
