"""The tables of RESULTS.md: what measures each, how long that takes, and how a row is made of what was printed.

A table's commands run `rounds` times over; what is printed is kept as it is (bench/run-all), and `rows` makes the table
from it, so that a table can be written differently without being measured again. A cell is a text, or numbers of which
the median and the spread are shown.
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
    needs: tuple = ()  # "texts": the corpus; "python": the virtual environment
    page: str = ""  # the table of RESULTS.md that it is a part of, if others are, too
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
        "bytes": size}, keep=lambda record: record["mode"] != "cold")


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


LOOKUP = PINNED + "{bench}/lookup --folder {scratch} --passes 3 "
SCHEMES = f" --scheme 2:1:1 --scheme '{THREE}' --scheme '{FIVE}' --scheme auto"
EXACT = "'libidx auto' 'libidx 2:1:1' 'faiss Flat' 'faiss MultiHash 4x16' 'faiss MultiHash 2x32 flip 1'"  # in Python
RESEMBLING = "'libidx.dedup(texts, resemble=T)' 'idx dedup --resemble T' 'rensa 128, 32 bands'"
OTHERS = " 'gaoya 42 × 3' 'libidx.dedup(texts, 3)' 'datasketch 128'"  # at a million they take minutes
SKETCHES = "'idx minhash' 'idx minhash, --by-id' 'datasketch 128' 'datasketch 32 × 4' 'rensa 32 × 4' 'rensa 64 × 2'"
PEERS = " --system idx --system uncompressed --system mih"
LARGE = 70  # GB of free disk that a hundred million texts take


def dedup_of(name, texts, least, threads, memory="8G"):
    """Runs idx dedup on texts that bench/make prints."""
    run = (f"{{bench}}/make {texts} >{{scratch}}/texts.tsv && bench/within --name '{name}' none bash -c '{{idx}} dedup --drop "
           f"--resemble {least} --threads {threads} --memory {memory} --tmpdir {{scratch}} {{scratch}}/texts.tsv >/dev/null'")
    if not texts.startswith("recombined {n8}"):
        return run
    free = "$(df --output=avail -B1G {scratch} | tail -n 1)"
    return (f"if [ {free} -lt $(({LARGE} / {{scale}})) ]; then echo 'recombined-1e8 is left out: it takes {LARGE} GB of disk' >&2; exit 1; fi; "
            + run)

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
    Page("lookup", "Queries per second within 3 bits, and bytes per fingerprint",
         "One query at a time, and many at once; of uniform fingerprints, and of those of a million paragraphs (texts). "
         "*three*, *four* and *five* are schemes by masks, of so many tables; blocks have 64 bytes. FAISS is left out at "
         "1e8, where its fastest exact setting needs 18 GB. 1e8 has one round.", True),
    Page("pairs", "All near pairs of a million to a hundred million",
         "Processor seconds; brute force compares all with all by AVX-512, and the plain join is four counting sorts. At "
         "1e8 and at large k one thread was measured. Paragraphs (texts) have hundreds of times the near pairs of "
         "uniform fingerprints.", False),
    Page("texts", "Paragraphs that resemble each other",
         "Pairs whose sets of word 5-shingles have a Jaccard coefficient of the last number or more; MinHash has 128 "
         "values. Dropped are documents by who keeps the first of each pair. One core; MiB of memory.", False),
    Page("parts", "Lines that repeat within documents",
         "A million paragraphs, 100 to a document, and the documents of the corpus, whose lines are paragraphs: bytes "
         "that are dropped, and by a plain program too few or too many. One core; MiB of memory. With a resemblance of 0.8, "
         "others are dropped on purpose.", False),
    Page("sketches", "Look-ups by resemblance",
         "A hundred thousand paragraphs, each looked up in an index of all, and candidates confirmed by their sets: "
         "`idx lookup --resemble` by a file of sets, and LSH of 128 MinHash values in memory. Bytes are those of files, or "
         "of memory. One core; the time of a query has that of its sketch.", False),
    Page("recombined", "A million to a hundred million paragraphs",
         "Pieces of paragraphs, put together anew (`bench/make --help`), with a tenth of edited copies. Processor seconds of "
         "`idx dedup --resemble T`, and those elapsed, within 4 GiB, and at 1e8 within 8. The memory that rensa takes at "
         "1e7, 15 GiB beside the texts, is more than there is.", False),
    Page("python-peers", "Beside other packages", "Queries as one array, one core; a scan needs the fewest bytes.", True),
]

FEW_EDITED = "grep -P '^test|^edits.*\\t<=1\\t'"  # of what bench/quality prints


def quality_rows(runs, languages):
    return grouped(runs, lambda r: f"`{r['recipe']}` {r['language']}", {
        f"{size}: {what}, k = {k}": column(what, k=k, **{"class": words})
        for size, words in (("long", "200+"), ("short", "50-199")) for what in ("recall", "precision")
        for k in ("3", "6")}, keep=lambda r: r.get("test") == "edits" and r["language"] in languages)


TABLES = [
    Table("lookup-1e6", "How fast, how small, and beside whom?", "A million fingerprints", "", 3,
          [LOOKUP + "--count {n6} --seconds 0.3 --queries 1e6 --system scan --system faiss "
           "--faiss 4,16,0 --faiss 2,32,1" + SCHEMES + PEERS], lookup_rows, page="lookup", part="1e6"),
    Table("lookup-1e7", "How fast, how small, and beside whom?", "Ten million fingerprints", "", 7,
          [LOOKUP + "--count {n7} --seconds 0.3 --queries 1e6 --system scan "
           "--system faiss --faiss 4,16,0 --faiss 2,32,1" + SCHEMES + PEERS], lookup_rows, page="lookup", part="1e7"),
    Table("lookup-1e8", "How fast, how small, and beside whom?", "A hundred million fingerprints", "", 5,
          [LOOKUP + f"--count {{n8}} --seconds 0.4 --queries 1e6 --scheme 2:1:1 --scheme '{THREE}' --scheme '{FOUR}' "
           "--scheme auto --uncompressed 5:2 --parts 2 --parts 3 --system scan" + PEERS], lookup_rows, rounds=1,
          page="lookup", part="1e8"),
    Table("lookup-paragraphs", "How fast, how small, and beside whom?", "The fingerprints of a million paragraphs", "", 2,
          [LOOKUP + "--fingerprints {data}/paragraphs.u64 --seconds 0.3 --queries 1e6 --scheme auto "
           "--scheme 2:1:1 --parts 3 --parts 4 --uncompressed 4:1" + PEERS], lookup_rows, needs=("texts",), page="lookup",
          part="texts"),
    Table("small", "How does it grow?", "Ten thousand to a million fingerprints",
          "Time of a query, many at once: below some hundred thousand, plain tables beat blocks by far.", 0.7,
          [LOOKUP + f"--count {count} --seconds 0.1 --queries 2e5 --scheme 4:1 --scheme auto --parts 4"
           " --uncompressed 4:1" + PEERS for count in ("{n4}", "{n5}", "{n6}")],
          lambda runs: small_rows(runs), rounds=3),
    Table("large-k", "How does it grow?", "By k", "Time of a query, many at once; a peer's fastest setting of those "
          "measured at each k. Some wins are theirs.", 3,
          [LOOKUP + f"--count {count} -k {k} --seconds 0.2 --queries 1e5 --scheme auto {parts} --system idx --system mih"
           for count, ks in (("{n6}", (1, 2, 3, 4, 6, 8, 12)), ("{n7}", (3, 4, 5, 6)))
           for k in ks for parts in [" ".join(f"--parts {m}" for m in sorted({min(m, k + 1) for m in (3, 4, *([5] if k > 8 else []))}))]],
          large_k_rows, rounds=1),
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
          unpacked_rows, rounds=1, full=True, needs=("texts",)),
    Table("skew", "How does it grow?", "Fingerprints that are not spread evenly",
          "Microseconds of a query alone, of 2,000, and bytes per fingerprint: `auto` measures the data, and avoids what "
          "is slow there. `bench/skew --help` explains the data.", 0.3, [PINNED + "{bench}/skew"],
          lambda runs: grouped(runs, lambda r: r["data"], {
              f"`{scheme}`: {shown}": column(measured, scheme=scheme) for scheme in ("4:1", "auto")
              for shown, measured in (("median", "p50_us"), ("99th of 100", "p99_us"), ("slowest", "worst_us"),
                                      ("bytes", "bytes_per_fp"))}), rounds=1),
    Table("growth", "How does it grow?", "From a million to fifty million by additions",
          "Check-and-adds in batches of 1,000, compacted beside that, beside one build of as many.", 3,
          ["{bench}/growing growth {scratch} --from {n6} --to {n57} --threads 2"],
          lambda runs: every_other(grouped(runs, lambda r: f"{int(r['fingerprints']):,}", {
              "seconds": column("seconds so far"), "of a build's": column("of the build's"),
              "pending": column("pending"), "look-up, ns": column("look-up ns"),
              "of a built one's": column("of the built one's")}, keep=lambda r: "look-up ns" in r)), rounds=1),
    Table("adds", "How does it grow?", "Additions that are on disk when they are answered",
          "Check-and-adds in batches of 1,000 beside ten million fingerprints.", 1,
          ["{bench}/growing adds {scratch} --count {n7} --pending {n6}"],
          lambda runs: every_other(grouped(runs, lambda r: "pending " + next(iter(r.values())), {
              "a second": column("a second"), "a second of the processor": column("a second of the processor")},
              keep=lambda r: "a second" in r and r["a second"].isdigit()))),
    Table("pending", "How does it grow?", "Look-ups beside a million pending records",
          "Nanoseconds of the processor for a query, without and with pending records.", 1,
          ["{bench}/growing lookups {scratch} --count {n7} --pending {n6}"],
          lambda runs: grouped(runs, lambda r: f"{r['queries at a time']} at a time", {
              "without, ns": column("ns on the base"), "times": column("times")},
              keep=lambda r: "ns on the base" in r)),
    Table("disk", "From disk?", "In memory that is a quarter of the tables",
          "Ten million in `5:2`, blocks of 64 bytes, and 150 MiB for the process with its page cache; *directory* reads a "
          "block when it is needed, and the kernel reads ahead of it.", 1.5,
          ["{bench}/rows write --count {n7} | {idx} build --format u64 --id-type u64 --scheme 5:2 {scratch}/disk.idx - && " +
           PINNED + "bench/within {quarter} {bench}/rows ask {scratch}/disk.idx --disk --count {n7} --queries 200000"],
          lambda runs: grouped(runs, lambda r: f"{r['way']}, {r['at_a_time']} at a time", {
              "a second": column("queries_per_second"), "median, µs": column("p50_us"), "p99, µs": column("p99_us"),
              "pages": column("pages_per_query")}, keep=lambda r: r.get("way") in ("directory", "disk")), rounds=1),
    Table("billion", "From disk?", "A billion fingerprints",
          "With their row numbers as IDs, built in a control group of 4 GiB, looked up in memory and in one of 2 GiB; "
          "bytes per document contain those of its ID.",
          40, ["{bench}/rows write --count {n9} | bench/within --name '" + name + " {n9}' --size {scratch}/billion.idx "
           f"{{four}} {{idx}} build --format u64 --id-type u64 --memory {{three}} --scheme '{scheme}' {{scratch}}/billion.idx - && "
           + PINNED + f"{{bench}}/rows ask {{scratch}}/billion.idx --name {name} --count {{n9}} && " +
           PINNED + f"bench/within {{two}} {{bench}}/rows ask {{scratch}}/billion.idx --name {name} --disk --count {{n9}} && "
           "rm -r {scratch}/billion.idx" for name, scheme in (("2:1:1", "2:1:1"), ("four", FOUR))],
          lambda runs: billion_rows(runs), rounds=1, full=True),
    Table("paper", "From disk?", "Billions of fingerprints, half as many as the paper's 8",
          "Without IDs, built within 6 GiB from standard input, on two threads; look-ups in memory, and with a quarter of "
          "the files' size as memory. In `2:1:1` as many as leave 5 GB of the disk free meanwhile. 2,000 queries are "
          "checked to find all that they have to.", 60,
          [paper("1:1:3", "{n44}"),
           paper("2:1:1", f"($(df --output=avail -B1 {{scratch}} | tail -n 1) - {LEFT}) / {PEAK} / {{scale}}")],
          lambda runs: billion_rows(runs), rounds=1, full=True),
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
              "index, MB": named("build", "size_bytes", scale=1e-6), "copy, s": named("copy", "seconds")}), rounds=1),
    Table("merge", "Building?", "Ten indexes of a million merged", "With integer IDs, beside a build of all.", 1,
          ["{bench}/rows write --count {n7} >{scratch}/rows.u64 && "
           "for i in $(seq 10); do {idx} build --scheme 5:2 --shard $i/10 {scratch}/part$i.idx {scratch}/rows.u64 || exit; done && bench/within --name '{n7} merge' none {idx} merge "
           "--threads 2 {scratch}/merged.idx {scratch}/part*.idx && {idx} verify {scratch}/merged.idx >/dev/null && "
           "bench/within --name '{n7} build' none {idx} build --scheme 5:2 --threads 2 {scratch}/built.idx "
           "{scratch}/rows.u64 && {bench}/rows sort --count {n7}"],
          lambda runs: grouped(runs, lambda r: "`5:2`", {
              "build, processor seconds": named("build", "user_seconds", "system_seconds"),
              "merge": named("merge", "user_seconds", "system_seconds"), "ten sorts": column("sorts_cpu_seconds"),
              "merge, MiB": named("merge", "resident_bytes", scale=2**-20)})),
    Table("pairs", "All pairs?", "All near pairs of a million and ten million",
          "Processor seconds; brute force compares all with all by AVX-512, and the plain join is four counting sorts.",
          2, ["{bench}/pairs --count {n6} --schemes auto --folder {scratch}",
              "{bench}/pairs --count {n7} --schemes auto --folder {scratch}"],
          lambda runs: pair_rows(runs), rounds=1, page="pairs"),
    Table("pairs-1e8", "All pairs?", "All near pairs of a hundred million",
          "Processor seconds of one thread, the building of the index beside them.", 3,
          ["{bench}/pairs --count {n8} --rounds 1 --schemes auto --threads 1 --folder {scratch}"],
          lambda runs: pair_rows(runs), rounds=1, page="pairs"),
    Table("pairs-k", "All pairs?", "At large k", "A million fingerprints, processor seconds of one thread.", 2,
          [PINNED + f"{{bench}}/pairs --count {{n6}} -k {k} --threads 1 --rounds 1" for k in (8, 12)],
          lambda runs: pair_rows(runs), rounds=1, page="pairs"),
    Table("pairs-texts", "All pairs?", "Of a million paragraphs, at large k", "Processor seconds of one thread.", 1,
          [PINNED + f"{{bench}}/pairs --fingerprints {{data}}/paragraphs.u64 -k {k} --threads 1 --rounds 1"
           for k in (8, 12)],
          lambda runs: pair_rows(runs), rounds=1, needs=("texts",), page="pairs", part="texts"),
    Table("batch", "All pairs?", "A million queries against ten million",
          "Seconds of one thread and of two; rows without a scheme are fingerprints that stream past the queries.", 1.5,
          ["{bench}/batch --count {n7} --scheme auto --folder {scratch}"],
          lambda runs: grouped(runs, lambda r: f"`{r['scheme']}` {r['way']}" if r["scheme"] != "-" else "passing", {
              "one": column("seconds", threads="1"), "two": column("seconds", threads="2"),
              "a second, one": column("queries_per_second", threads="1")}), rounds=1),
    Table("quality", "How good are the answers?", "Recall and precision of the recipes",
          "Edited copies of the corpus's documents, at most 1 % of the words, in English, Chinese and Japanese; "
          "short ones have 50 to 199 words.", 1.5,
          ["{bench}/quality {data}/corpus words:1 'words:1;v1' chars:2 words:3 chars:5 'words:1;w=tfidf' | " + FEW_EDITED],
          lambda runs: quality_rows(runs, ("en", "zh", "ja")), rounds=1, needs=("texts",)),
    Table("quality-scripts", "How good are the answers?", "The same of other scripts, by packages that the corpus lacks",
          "Chinese, Japanese, Korean, Vietnamese and Khmer, and Chinese documents with an English one behind each.", 0.5,
          ["{bench}/quality {data}/scripts words:1 'words:1;v1' chars:2 | " + FEW_EDITED],
          lambda runs: quality_rows(runs, ("zh", "ja", "ko", "vi", "km", "mixed")), rounds=1, needs=("texts",)),
    Table("resemblance", "How good are the answers?", "Pairs of documents as they are, beside MinHash",
          "At a resemblance of 0.5 or more: SimHash within k bits, and 128 MinHash values of which k agree.", 0.5,
          ["{bench}/quality {data}/corpus words:1 MinHash | grep -P '^test|^pairs\\t[^\\t]*\\tall\\t0.5'"],
          lambda runs: grouped(runs, lambda r: f"{r['recipe']} {r['k']}", {
              "recall": column("recall"), "precision": column("precision")},
              keep=lambda r: r.get("test") == "pairs" and r["k"] in
              (("64", "80") if r["recipe"] == "MinHash" else ("3", "6", "10"))), rounds=1, needs=("texts",)),
    *(Table(f"texts-{size}-{least}", "How good are the answers?",
            f"{'A hundred thousand' if size == '1e5' else 'A million'} paragraphs, resemblance {least}",
            "Pairs of word 5-shingles with that Jaccard coefficient or more; MinHash has 128 values. Dropped: by who "
            "keeps the first of each pair. One core; MiB of memory.", minutes,
            [PINNED + f"env IDX={{idx}} {{python}} bench/python_peers.py texts {{data}}/paragraphs.tsv {count} {least} "
             f"{RESEMBLING}{others}"], lambda runs: text_rows(runs), rounds=rounds, needs=("texts", "python"),
            page="texts", part=f"{size}, {least}")
      for size, count, least, minutes, rounds, others in (
          ("1e5", "{n5}", 0.8, 1, 1, OTHERS), ("1e5", "{n5}", 0.5, 1, 1, OTHERS),
          ("1e6", "{n6}", 0.8, 4, 3, ""), ("1e6", "{n6}", 0.5, 2, 1, ""))),
    *(Table(f"parts-{name}", "How good are the answers?", title, "Lines that repeat. One core; MiB of memory.", minutes,
            [PINNED + f"env IDX={{idx}} {{python}} bench/python_peers.py parts {{data}}/{place} {count}"],
            lambda runs: part_rows(runs), rounds=1, needs=("texts", "python"), page="parts", part=name)
      for name, title, place, count, minutes in (
          ("1e6", "A million paragraphs", "paragraphs.tsv", "{n6}", 2),
          ("corpus", "The documents of the corpus", "corpus", "{n5}", 2))),
    *(Table(f"sketches-{least}", "How good are the answers?", f"A hundred thousand paragraphs, resemblance {least}",
            "Each paragraph is looked up in an index of all, and candidates are confirmed; one core.", 2,
            [PINNED + f"env IDX={{idx}} {{python}} bench/python_peers.py resembling {{data}}/paragraphs.tsv {{n5}} {least} "
             + SKETCHES], lambda runs: grouped(runs, lambda r: f"`{r['system']}`", {name: column(name) for name in (
                 "seconds to build", "texts per second", "bytes per text", "recall", "wrong")}), rounds=1,
            needs=("texts", "python"), page="sketches", part=str(least))
      for least in (0.8, 0.5)),
    *(Table(f"recombined-{size}", "How good are the answers?", f"{words} recombined paragraphs",
            "Processor seconds of `idx dedup`, on one thread and on two, or on two alone, and MiB of memory.", minutes,
            [dedup_of(f"{least}, {threads}", f"recombined {count} {{data}}/paragraphs.tsv", least, threads, memory)
             for least in leasts for threads in counts], lambda runs, counts=counts: dedup_rows(runs, counts), rounds=1, full=full,
            needs=("texts",), page="recombined", part=size)
      for size, words, count, leasts, counts, memory, minutes, full in (
          ("1e6", "A million", "{n6}", (0.8, 0.5), (1, 2), "4G", 1, False),
          ("1e7", "Ten million", "{n7}", (0.8, 0.5), (1, 2), "4G", 10, False),
          ("1e8", "A hundred million", "{n8}", (0.8,), (2,), "8G", 30, True))),
    Table("exact", "How good are the answers?", "All pairs of paragraphs, beside a plain program",
          "Pairs that resemble each other by so much or more; processor seconds of a plain program, which counts the shingles "
          "that each two texts share, and of `idx_sets_visit_pairs`. A pair that only one of them finds ends this.", 1,
          [f"{{bench}}/resembling {{data}}/paragraphs.tsv {count} 0.8 0.5" for count in ("{n5}", "{n6}")],
          lambda runs: grouped(runs, lambda r: f"{int(r['texts']):,}, {r['resemblance']}", {
              "pairs": column("pairs"), "plain, s": column("plain_cpu_seconds"), "idx, s": column("cpu_seconds")}),
          rounds=1, needs=("texts",)),
    Table("hard", "How good are the answers?", "Texts that share frequent shingles",
          "Processor seconds of `idx dedup` on one thread, and MiB of memory; `bench/make --help` says what the texts are. "
          "What two texts share decides whether prefixes do, so that the times are no function of T.", 12,
          [dedup_of(f"{kind} {count}, {least}, 1", f"{kind} {count}", least, 1)
           for kind, count in (("licences", "{n6}"), ("forms", "{n5}"), ("templates", "{n6}"), ("equal", "{n6}"),
                               ("words", "{n6}"), ("long", "20")) for least in (0.8, 0.7, 0.5)],
          lambda runs: dedup_rows(runs, (1,)), rounds=1),
    Table("fingerprint", "How good are the answers?", "Fingerprinting English texts",
          "Seconds for 140 MB, from one TSV file.", 0.3,
          [f"echo threads$'\\t'seconds; TIMEFORMAT={threads}$'\\t'%R; time {{idx}} fingerprint --threads {threads} "
           "--format tsv {data}/english.tsv >{data}/part" for threads in (1, 2)],
          lambda runs: grouped(runs, lambda r: f"threads: {r['threads']}", {"seconds": column("seconds")}),
          needs=("texts",)),
    Table("plan", "How good are the answers?", "What `idx plan --measure` predicts",
          "Predicted and measured nanoseconds of a query, mapped, many at once.", 1.5,
          [PINNED + "{bench}/plan --measure --count {n7} -k 3 -k 6 --seconds 0.2 --folder {scratch}"],
          lambda runs: grouped(runs, lambda r: f"{int(r['n']):.0e}, k = {r['k']}, `{r['scheme']}`".replace("e+0", "e"), {
              "measured": column("measured_ns"), "predicted": column("predicted_ns")},
              keep=lambda r: r["residence"] == "mapped" and r["mode"] == "many"), rounds=1),
    Table("python-peers", "From Python?", "Beside other packages",
          "A million fingerprints, queries as one array, one core; a scan needs the fewest bytes.", 1,
          [PINNED + "env OMP_NUM_THREADS=1 {python} bench/python_peers.py fingerprints {n6} " + EXACT],
          lambda runs: peer_rows(runs), rounds=1, needs=("python",), page="python-peers", part="1e6"),
    Table("python-hnsw", "From Python?", "Beside graphs", "A million fingerprints; HNSW misses some, and takes minutes "
          "to build.", 12,
          [PINNED + "env OMP_NUM_THREADS=1 {python} bench/python_peers.py fingerprints {n6} 'faiss HNSW' 'usearch HNSW'"],
          lambda runs: peer_rows(runs), rounds=1, full=True, needs=("python",), page="python-peers", part="1e6"),
    Table("python-peers-1e7", "From Python?", "Beside other packages, ten million",
          "The same of ten million.", 9,
          [PINNED + "env OMP_NUM_THREADS=1 {python} bench/python_peers.py fingerprints {n7} " + EXACT],
          lambda runs: peer_rows(runs), needs=("python",), page="python-peers", part="1e7"),
    Table("python", "From Python?", "Beside C", "The same call in both, in turns.", 1,
          ["taskset -c 0,1 {python} bench/python.py build-release"],
          lambda runs: (["call", "Python", "C", "Python / C"],
                        [[r["call"], r["Python"], r["C"], r["Python / C"]] for r in records(runs)]),
          rounds=1, needs=("python",)),
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
          rounds=1, needs=("texts", "python")),
    Table("serve", "As a service?", "Beside an empty reply",
          "Microseconds of processor time for a request of a service with one thread, and p99 of all time in ms.", 2,
          ["{bench}/rows write --count {n7} >{data}/uniform.u64 && "
           "python3 bench/serve build-release {data}/uniform.u64 --rounds 3 --seconds 2"],
          lambda runs: (["request", "empty, µs", "idx serve, µs", "p99 empty, ms", "p99 idx serve, ms"], [
              [m[1], m[2], m[4], m[3], m[5]] for text in runs for m in re.finditer(
                  r"^(GET, .*?): empty ([\d.]+) us, p99 ([\d.]+) ms; idx serve ([\d.]+) us, p99 ([\d.]+) ms", text, re.M)] + [
              ["POST of 1,000 fingerprints, beside idx_lookup_many", m[1], m[2], "", ""] for text in runs
              for m in re.finditer(r"^POST .*?many (\d+) ns a fingerprint; idx serve (\d+) ns", text, re.M)]),
          rounds=1),
]


def small_rows(runs):
    sizes = sorted({int(record["n"]) for record in records(runs)})
    return grouped(runs, system_label, {f"{size:,}, ns": column("ns_per_query", n=str(size), mode="staged")
                                        for size in sizes})


def every_other(table):
    header, rows = table
    return header, rows[1::2]


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


def text_rows(runs):
    return grouped(runs, lambda r: f"`{r['system']}`", {
        "seconds": column("seconds"), "MiB": column("MiB"), **{name: column(name) for name in (
            "recall", "precision", "resolved", "dropped", "dropped rightly")}})


def part_rows(runs):
    return grouped(runs, lambda r: f"`{r['system']}`", {name: column(name) for name in (
        "seconds", "MiB", "lines dropped", "bytes dropped", "bytes missed", "bytes of others")})


def dedup_rows(runs, threads=(1, 2)):
    ends = {f"{count} thread{'s' if count > 1 else ''}": f", {count}" for count in threads}
    return grouped(runs, lambda r: r["name"].rsplit(", ", 1)[0], {
        **{f"seconds, {words}": named(end, "user_seconds", "system_seconds") for words, end in ends.items()},
        **{f"elapsed, {words}": named(end, "seconds") for words, end in ends.items()},
        "MiB": named(f", {threads[0]}", "resident_bytes", scale=2**-20)})


def peer_rows(runs):
    return grouped(runs, lambda r: r["system"], {name: column(name) for name in (
        "queries per second", "bytes per fingerprint", "seconds to build", "recall")})


# ---- Comparisons: tables made of the cells of others ----


@dataclasses.dataclass
class Comparison:
    name: str
    title: str
    make: object  # from the numbers in RESULTS.md, {(table, row, column): Figures}, to (sentence, header, rows)


def asked_queries(cells):
    """{what is asked: {system: queries per second, by round}} of all tables of look-ups, whose systems are named alike."""
    rates, sources = {}, {}
    for (table, row, name), figures in cells.items():
        numbers = figures.numbers
        if table == "lookup" and name.endswith(", a second"):
            part, way = name.removesuffix(", a second").split(": ")
            asked = f"{part}, k = 3, {'one at a time' if way == 'one' else 'many at once'}"
            system, rate = row, numbers
        elif table == "small":
            count = int(name.removesuffix(", ns").replace(",", ""))
            asked, system = f"{count:.0e}, k = 3, many at once".replace("e+0", "e"), row
            rate = [1e9 / number for number in numbers]
        elif table == "large-k":
            asked, system, rate = f"{row}, many at once", name.removesuffix(", ns"), [1e9 / number for number in numbers]
        else:
            continue
        if sources.setdefault(asked, table) == table:  # the first table that asks it: others had other turns
            rates.setdefault(asked, {})[system] = rate
    return rates


def fastest_of_each(cells):
    rows, lost, lost_before = [], [], 0
    for asked, rates in asked_queries(cells).items():
        kinds = {"peer": {}, "blocks": {}, "unpacked": {}}
        for system, rate in rates.items():
            kind = "peer" if not system.startswith("idx") else "unpacked" if system == "idx unpacked" else "blocks"
            kinds[kind][system] = rate
        if not kinds["peer"] or not kinds["blocks"]:
            continue
        peer, blocks, unpacked = (max(kind, key=lambda name, kind=kind: statistics.median(kind[name]), default=None)
                                  for kind in kinds.values())
        most = rates[peer]
        # Each round had all of them in turns, so that its own ratio says more than that of two medians.
        ratios = [Figures([a / b for a, b in zip(rates[name], most)], 2) if name else "" for name in (blocks, unpacked)]
        lost_before += ratios[0].median() < 1
        if max(ratio.median() for ratio in ratios if ratio) < 1:
            lost.append(f"{asked} ({peer})")
        rows.append([asked, peer, *(Figures(rates[name]) if name else "" for name in (peer, blocks, unpacked)), *ratios])
    sentence = ("Queries per second of the fastest peer, whatever bytes it needs, beside idx, and their ratios, round by "
                "round. In blocks alone, which is all that idx had before its tables could be unpacked in memory, it is "
                f"slower in {lost_before} of these "
                f"{len(rows)} rows, now in {len(lost)}" + (f": {'; '.join(lost)}." if lost else "."))
    return sentence, ["asked", "fastest peer", "a second", "idx in blocks", "idx unpacked", "blocks / peer",
                      "unpacked / peer"], rows


def best_of_texts(cells):
    systems, rows = {}, []
    for table, row, _ in cells:
        if table == "texts":
            what, system = row.split(": ", 1)
            systems.setdefault(what, {})[system.strip("`")] = row
    for what, found in systems.items():
        peers = [system for system, row in found.items() if "idx" not in system and ("texts", row, "resolved") in cells]
        if not peers:
            continue

        def get(system, name, found=found):
            return cells.get(("texts", found.get(system), name), "")

        best = max(peers, key=lambda system: (get(system, "resolved").median(), -get(system, "seconds").median()))
        shown = best, "libidx.dedup(texts, 3)", "idx dedup --resemble T"
        rows.append([what, best, *(get(system, name) for name in ("resolved", "dropped rightly", "seconds")
                                   for system in shown)])
    return ("The MinHash that resolves most pairs; fingerprints alone (k = 3), which lose to it, and were what idx had "
            "before `--resemble`; and that, which reads the texts."), ["texts, resemblance", "MinHash", *(
                f"{name}: {who}" for name in ("resolved", "dropped rightly", "seconds")
                for who in ("MinHash", "k = 3", "`--resemble`"))], rows


COMPARISONS = [
    Comparison("fastest", "The fastest of each, and what unpacked tables changed", fastest_of_each),
    Comparison("resembling", "MinHash, and what `--resemble` changed", best_of_texts),
]
