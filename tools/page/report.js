// The page of --report; shared.js comes before it. It draws what the command found, which is in the page as JSON.

const data = JSON.parse(at("data").textContent);
const {options, levels} = data;
const byDistance = options.k !== undefined;
const fates = Object.fromEntries(data.fates.map((one) => [one.fate, one]));
const MOST_SHOWN = 1000; // words of a text that are shown

// The place of the level that was asked for. A threshold of 0 is that of --contained without --resemble.
const asked = levels.findIndex(({distance, threshold}) => byDistance ? distance === options.k
    : threshold === (options.resemble ?? 0));

// ---- Words and numbers ----

// Makes a paragraph of a text in which `code` and [links](#place) are marked so.
function prose(text) {
    return make("p", {}, ...text.split(/(`[^`]*`|\[[^\]]*\]\([^)]*\))/).map((part) => {
        const [, code, words, href] = part.match(/^`(.*)`$|^\[(.*)\]\((.*)\)$/) ?? [];
        return code !== undefined ? make("code", {}, code) : href !== undefined ? make("a", {href}, words) : part;
    }));
}

// These write a number that may be an estimate, one that may be null, and a part of all in percent.
const about = (number, isEstimate) => (isEstimate ? "≈ " : "") + digits(number);
const known = (number) => number === null ? "–" : digits(number);
const percent = (part, all) => `${(all === 0 ? 0 : 100 * part / all).toFixed(1)} %`;
// Writes a range of numbers, or one number if both ends are equal.
const range = (from, to, between = "–") => from === to ? String(from) : `${from}${between}${to}`;
// Names a document by its ID, or if the index has none, by its fingerprint.
const nameOne = (one) => one.id === null ? make("code", {}, one.fingerprint) : make("bdi", {}, nameId(one.id));

// Names a level: a distance, or a range of resemblance.
function nameLevel(i, between) {
    if (byDistance) return String(levels[i].distance);
    const from = levels[i].threshold;
    return from === 0 ? "contained" : range(from, levels[i - 1]?.threshold || from, between);
}

// Makes a table of bars, as long as the logarithms of their numbers: [name, number, whether it is an estimate].
function chart(title, names, bars) {
    const most = Math.max(1, ...bars.map(([, number]) => number));
    return makeTable("chart", `${title} (logarithmic bars)`, names, bars.map(([name, number, isEstimate]) => {
        const bar = make("i", isEstimate ? {class: "about"} : {});
        bar.style.width = `calc(${Math.log1p(number) / Math.log1p(most)} * (100% - 6rem))`;
        return makeRow([name, [bar, about(number, isEstimate)]]);
    }));
}

// Puts two lists of elements side by side.
const beside = (left, right) => make("div", {class: "beside"}, make("div", {}, ...left), make("div", {}, ...right));

// ---- Summary ----

const FATES = {all: "All", kept: "Kept", few: "Kept without being compared", dropped: "Dropped",
    known: "Dropped as near to --against"};
const OPTIONS = {k: "Distance in bits (-k)", bits: "Bits of fingerprints", recipe: "Recipe",
    method: "Clusters (--method)", resemble: "Resemblance (--resemble)", contained: "In another text (--contained)",
    shingle: "Shingles (--shingle)",
    ignore_common: "Those of more documents don’t count (--ignore-common)",
    representative: "What is kept (--representative)", against: "Compared first with (--against)"};

// Like the functions below whose names begin with draw, returns the elements of one section.
function drawSummary() {
    const what = data.has_ids ? "document" : "fingerprint", hasBytes = fates.all.bytes !== null;
    const given = ["resemble", "contained"].filter((name) => options[name]).map((name) => `--${name} ${options[name]}`);
    const how = byDistance ? `a distance of ${count(options.k, "bit")}` : `\`${given.join(" ")}\``;
    const names = ["", plural(what), "bytes"].slice(0, hasBytes ? 3 : 2);
    const numbers = data.fates.map((one) => makeRow([FATES[one.fate], digits(one.documents),
        ...(hasBytes ? [digits(one.bytes)] : [])]));
    const facts = Object.entries(OPTIONS).filter(([name]) => (options[name] ?? null) !== null)
        .map(([name, label]) => [label, options[name]])
        .map(([label, value]) => makeRow([label, typeof value === "number" ? value : nameId(value)]));
    const caption = plural(what) + (hasBytes ? ", and their bytes in the inputs, decompressed" : "");
    return [
        prose(`Of ${count(fates.all.documents, what)}, ${how} keeps ${digits(fates.kept.documents)} and drops ` +
            `${digits(fates.dropped.documents)} (${percent(fates.dropped.documents, fates.all.documents)}). ` +
            `Near-duplicates form ${count(data.clusters, "cluster")}; one document of each cluster is kept.`),
        beside([makeTable("numbers", caption, names, numbers)],
            [makeTable("", "How they were compared", ["Option", "Value"], facts)]),
    ];
}

// ---- Levels ----

// Whether it is known, and not only estimated, which documents are dropped at a level.
const isDecided = (level) => level.clusters !== null;

// Returns paragraphs that say what the numbers count, and which of them are estimates.
function explainDistances() {
    const sample = levels.at(-1).estimated ? "estimated by comparing a sample of" : "found by comparing all";
    const beyond = ` Beyond the distance that was asked for, pairs are ${sample} ` +
        `${count(data.sampled, "fingerprint")} with all.`;
    return [prose("The larger the distance, the fewer pairs are real near-duplicates, and the more are near each " +
        "other by chance: many times more with each bit. Choose a `-k` below the distance at which the numbers begin " +
        "to grow fast, and look at the [pairs](#pairs) on both sides of it."),
    prose("At distance 0, pairs are documents whose fingerprint an earlier one has; at others, pairs of " +
        "fingerprints. Documents are far from the kept one where chains lead to them." +
        (asked < levels.length - 1 ? beyond : ""))];
}

// Does the same for texts that are compared by resemblance.
function explainThresholds() {
    const {contained} = options, first = levels.find((level) => level.estimated);
    const said = ["`--resemble T` drops a document that resembles a kept one by T or more. The lower T is, the more " +
        "documents are dropped that share no more than a licence, a menu or a form. Look at the [pairs](#pairs): " +
        "choose the lowest T above which they are near-duplicates to you.",
    "Pairs are those of documents whose texts differ in some run of words, and of each further copy with the first."];
    if (contained !== null)
        said.push(`Each row is of \`--resemble T\` together with \`--contained ${contained}\`, the first one of ` +
            `\`--contained\` alone. So pairs are also those where both have ${contained} or more of the shingles ` +
            `of the text that has fewer, if it has ${digits(options.min_shingles)} or more (\`--min-words\`). Look at ` +
            "[those pairs](#level-0), too: what only one of two texts has is lost if the other is kept.");
    if (first !== undefined)
        said.push(`≈ marks estimates from a sample: ${count(data.sampled, "document")}, compared with each other. ` +
            `${first.threshold > 0 ? `From T = ${first.threshold} down` : "Even without T"}, there are more pairs of ` +
            "all documents than `--memory` allows, or finding them would take long." + (levels.every(isDecided) ? ""
            : " So would finding what is dropped: documents have fewer near-duplicates in a sample than among all, " +
                "so that these estimates are low."));
    return said.map(prose);
}

// Makes the table of all levels. By resemblance, a row has the pairs of all levels up to its own.
function makeLevelTable() {
    let pairs = 0;
    const rows = levels.map((level, i) => {
        pairs = level.pairs + (byDistance ? 0 : pairs);
        const cells = [byDistance ? level.distance : level.threshold || "none", about(pairs, level.estimated),
            byDistance ? known(level.dropped) : about(level.dropped, !isDecided(level)), known(level.clusters),
            known(level.largest)];
        if (byDistance) cells.push(known(level.far), percent(level.within, data.sampled));
        return makeRow(cells, i === asked ? {class: "chosen"} : {});
    });
    const names = byDistance ? ["Distance", "Pairs", "Dropped with this -k", "Clusters", "Largest",
        "Far from the kept one", "Fingerprints with another one within"]
        : ["T", `Pairs of T or more${options.contained === null ? "" : ", or contained"}`, "Dropped with this T",
            "Clusters", "Largest"];
    return makeTable("numbers", `What each ${names[0].replace("D", "d")} finds`, names, rows);
}

function drawLevels() {
    const by = byDistance ? ["distance", "Pairs at each distance"] : ["resemblance", "Pairs by resemblance"];
    const bars = levels.map((level, i) => [(byDistance && i === asked ? "-k " : "") + nameLevel(i), level.pairs,
        level.estimated]);
    return [beside(byDistance ? explainDistances() : explainThresholds(), [chart(by[1], [by[0], "pairs"], bars)]),
        makeLevelTable()];
}

// ---- Clusters ----

function drawClusters() {
    const draw = (title, names, rows) => rows.length === 0 ? []
        : [chart(title, names, rows.map(({from, to, number}) => [range(from, to), number]))];
    const [by, title] = byDistance ? ["distance", "Dropped documents by their distance from the one that is kept"]
        : ["resemblance", "Dropped documents by their resemblance to the one that is kept"];
    return [...(data.clusters > 0 ? [] : [prose("There are none of two or more documents.")]),
        beside(draw("Clusters of each size", ["documents", "clusters"], data.sizes),
            draw(title, [by, "documents"], data.joined))];
}

// ---- Pairs ----

// Decodes a text. One that is not UTF-8 comes as {hex}, and its bad bytes become U+FFFD.
const decode = (text) => typeof text === "string" ? text
    : new TextDecoder().decode(Uint8Array.from(text.hex.match(/../g), (two) => parseInt(two, 16)));

// Draws the two texts of a pair side by side, in an element that readers open and close; the first pair is open.
function drawPair({documents: two, resemblance, contained}, i) {
    const texts = two.map(({text, bytes, compared}) => cut(decode(text), compared === bytes));
    const drawn = drawTexts("h4", two.map(({id}) => id), texts, MOST_SHOWN);
    two.forEach(({bytes, compared}, which) => compared < bytes && drawn.children[which].append(make("p", {class: "gap"},
        `[the text has ${digits(bytes)} bytes, and the first ${digits(compared)} are compared]`)));
    const measures = `; resemblance ${writeShare(resemblance)}` +
        (contained === null ? "" : `, contained ${writeShare(contained)}`);
    return make("details", {class: "pair", ...(i === 0 ? {open: ""} : {})}, make("summary", {}, nameOne(two[0]),
        " and ", nameOne(two[1]), `: ${describeDifferences(...texts)}${measures}`), drawn);
}

// Makes the table of a level's pairs, where their texts are not shown.
function makePairTable(caption, pairs) {
    const names = byDistance ? ["Fingerprint", "Fingerprint", "Bits that differ"]
        : ["Resemblance", ...(options.contained === null ? [] : ["Contained"])];
    const cells = ({documents: [{fingerprint: a}, {fingerprint: b}], resemblance, contained}) => byDistance
        ? [make("code", {}, a), make("code", {}, b), nameBits(differingBits(a, b, options.bits))]
        : [resemblance, contained].filter((share) => share !== null).map(writeShare);
    return makeTable("pairs", caption, ["Document", "Near-duplicate", ...names],
        pairs.map((pair) => makeRow([...pair.documents.map(nameOne), ...cells(pair)])));
}

// Draws the heading of level i and its pairs.
function drawLevelPairs(level, i) {
    const {contained} = options, pairs = data.pairs.filter((pair) => pair.level === i);
    const beyond = i <= asked ? "" : byDistance ? ", beyond -k" : options.resemble === null ? ", only with --resemble"
        : ", below --resemble";
    const heading = level.threshold === 0 ? `Contained ${contained} or more`
        : (byDistance ? "Distance " : "Resemblance ") + nameLevel(i, " to ") + beyond;
    const said = level.threshold !== 0 ? [] : [prose(`All pairs, whatever their resemblance, where both have ` +
        `${contained} or more of the shingles of the text that has fewer. The sections below have only the others. ` +
        `Pairs whose resemblance is below ${contained} come first here.`)];
    return [make("h3", {id: `level-${i}`}, heading), ...said, ...(pairs.length === 0 ? [prose("None were found.")]
        : data.has_texts ? pairs.map(drawPair) : [makePairTable(heading, pairs)])];
}

function drawPairs() {
    const each = byDistance ? "distance" : options.contained === null ? "tenth" : "section";
    const said = [prose(`Up to ${data.most_pairs} pairs are shown of each ${each}, chosen at random, but the same in ` +
        `every run.${byDistance ? " Of documents that share a fingerprint, the first is shown." : ""}`)];
    if (data.has_texts)
        said.push(make("p", {}, "Words that only the first text has are marked ", make("del", {}, "like this"),
            ", and those that only the second has ", make("ins", {}, "like this"),
            ". Upper and lower case count as equal."));
    if (!byDistance)
        said.push(prose("Resemblance is the share of shingles, such as runs of five words, that both texts have, of " +
            "all that either has, as `--resemble` counts it." + (options.contained === null ? ""
            : " Contained is their share of the shingles of the text that has fewer.")));
    return [...said, ...levels.flatMap(drawLevelPairs)];
}

// ---- Chains ----

// Draws chain i: the near-duplicates that lead from a representative to the farthest document of its cluster.
function drawChain({documents, far, distance, steps}, i) {
    const rows = steps.flatMap((one, at) => {
        const left = at === 0 ? 0 : one.step - steps[at - 1].step - 1;
        return [...(left > 0 ? [makeRow(["…", count(left, "more document"), "", ""])] : []),
            makeRow([one.step, nameOne(one), make("code", {}, one.fingerprint), one.distance])];
    });
    return [make("h3", {}, `Chain ${i + 1}: ${count(documents, "document")}`),
        prose(`${digits(far)} of them differ from the representative in more than ${count(options.k, "bit")}, the ` +
            `farthest in ${distance}.`),
        steps.length === 0 ? prose("The cluster is so large that the way to the farthest was not followed.")
            : makeTable("", "The shortest way from the representative to the farthest document, each step a " +
                "near-duplicate", ["Step", "Document", "Fingerprint", "Bits from the representative"], rows)];
}

function drawChains() {
    return [prose(data.chains.length === 0
        ? "There are none: every document in a cluster is within the distance of the one that is kept."
        : "Near-duplicates of near-duplicates are in one cluster, whose ends may have little in common. A smaller " +
            "`-k` chains less; `--method star` doesn’t, nor does `idx dedup`, which compares texts."),
    ...data.chains.flatMap(drawChain)];
}

// ---- Bits ----

function drawBits() {
    const {fingerprints, ones} = data;
    const isDead = (number) => number === 0 || number === fingerprints;
    const dead = ones.flatMap((number, bit) => isDead(number) ? [bit] : []).reverse();
    const bars = ones.map((number) => {
        const bar = make("i", isDead(number) ? {class: "dead"} : {});
        bar.style.height = isDead(number) ? "100%" : `${100 * number / fingerprints}%`;
        return bar;
    }).reverse();
    const title = "How often each bit is 1, the most significant one first. The line is one half; dead bits are " +
        "dashed.";
    const said = [prose(`${count(fingerprints, "distinct fingerprint")}. Dead, which is the same in all of them: ` +
        `${nameBits(dead)}.`)];
    if (dead.length > 0 && fingerprints > 1)
        said.push(prose("They say nothing, so that distances are those of fewer bits: with many dead bits, unrelated " +
            "documents are near each other by chance."));
    return [beside(said, fingerprints === 0 ? []
        : [prose(title), make("div", {class: "bits", role: "img", "aria-label": title}, ...bars)])];
}

// ---- The page ----

const sections = [["summary", "Summary", drawSummary],
    ["levels", byDistance ? "Which distance?" : "Which T?", drawLevels],
    ["clusters", "Clusters", drawClusters], ["pairs", "Pairs", drawPairs],
    ...(byDistance ? [["chains", "Chains", drawChains], ["bits", "Bits", drawBits]] : [])];

document.body.append(
    make("nav", {"aria-label": "Sections"}, make("ul", {}, ...sections.map(([id, name]) => make("li", {},
        make("a", {href: `#${id}`}, name))))),
    make("main", {}, ...sections.map(([id, name, draw]) => make("section", {"aria-labelledby": id},
        make("h2", {id}, name), ...draw()))));
