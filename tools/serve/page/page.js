"use strict";

// What came from elsewhere is only ever set as text.
const at = (id) => document.getElementById(id);

let info = {bits: 64, k: 16}; // what /info says, once it has answered
let byResemblance = false; // whether texts are looked up by resemblance, in an index of texts
let showsTexts = false; // whether the service shows the texts of documents
let questions = 0; // how many were asked, also by comparisons, so that a late answer to an older one is left alone
let reference = null; // what documents are compared with: {name, text} or {name, id}

// Makes an element; its children are elements or texts.
function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

// ---- IDs ----

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

// Writes as numbers the characters that can't be seen, or that change the order in which others are read.
function printable(text) {
    return text.replace(HIDDEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

// Bytes that are not UTF-8 come in hex.
const nameOf = (id) => typeof id === "string" ? printable(id) : `bytes ${id.hex}`;
const encode = (id) => typeof id === "string" ? encodeURIComponent(id) : id.hex.replace(/../g, "%$&");

// ---- Asking ----

// Returns the JSON that a path answers. An error of the service is thrown with its status; other errors have none.
async function ask(path, options) {
    const response = await fetch(path, options);
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error ?? response.statusText), {status: response.status});
    return answer;
}

const parameters = () => new URLSearchParams({k: at("distance").value, limit: at("limit").value});

async function lookUp(fingerprint) {
    // Browsers take ".." at the end of a path for the path above it.
    if (!/^(0x)?[0-9a-f]+$/i.test(fingerprint))
        throw Object.assign(new Error("A fingerprint has hex digits alone, perhaps behind 0x."), {status: 400});
    const answer = await ask(`/lookup/${encodeURIComponent(fingerprint)}?${parameters()}`);
    return {answers: [answer], reference: null};
}

async function lookUpId(id) {
    const answer = await ask(`/documents?id=${encodeURIComponent(id)}&${parameters()}`);
    return {answers: answer.answers, reference: {name: id, id}};
}

async function lookUpText(text) {
    const headers = {"Content-Type": "text/plain; charset=utf-8"};
    const by = byResemblance ? new URLSearchParams({resemble: at("resemblance").value, limit: at("limit").value})
        : parameters();
    const answer = await ask(`/text?${by}`, {method: "POST", headers, body: text});
    return {...answer, reference: {name: "Your text", text}};
}

// IDs that are longer, as they are encoded, may not fit into an address.
const MOST_ID = 4000;

// Looks a query up as a fingerprint if it looks like one; else as an ID; and as a text if no document has this ID. Says
// with the answer, or its error, what the query was taken as.
async function recognise(query) {
    const digits = Math.ceil(info.bits / 4);
    if (new RegExp(`^(0x)?[0-9a-f]{${digits}}$`, "i").test(query))
        return {...await lookUp(query), taken: "Taken as a fingerprint"};
    let taken = "Taken as a text";
    if (!query.includes("\n") && encodeURIComponent(query).length <= MOST_ID) {
        if (!info.by_id) {
            taken += ", because this index was built without --by-id and can’t find documents by ID";
        } else {
            try {
                return {...await lookUpId(query), taken: "Taken as the ID of a document"};
            } catch (error) {
                if (error.status !== 404 && error.status !== 400) throw error;
            }
            taken = "No document has this ID, so taken as a text";
        }
    }
    try {
        return {...await lookUpText(query), taken};
    } catch (error) {
        if (error.status !== undefined) error.message = `${taken}: ${error.message}`;
        throw error;
    }
}

// ---- Matches ----

// Returns the numbers of the bits in which two fingerprints differ, the most significant one first.
function differingBits(a, b) {
    const different = BigInt(`0x${a}`) ^ BigInt(`0x${b}`);
    const bits = [];
    for (let bit = info.bits - 1; bit >= 0; bit--) if (different >> BigInt(bit) & 1n) bits.push(bit);
    return bits;
}

function nameBits(bits) {
    return bits.length === 0 ? "none" : `${bits.length === 1 ? "bit" : "bits"} ${bits.join(", ")}`;
}

// Draws all bits as cells, the most significant one first, and marks the given ones.
function drawBits(bits) {
    const cells = make("span", {class: "strip", "aria-hidden": "true"});
    for (let bit = info.bits - 1; bit >= 0; bit--) {
        if (cells.lastChild === null || bit % 8 === 7) cells.append(make("span", {}));
        cells.lastChild.append(make("i", bits.includes(bit) ? {class: "on"} : {}));
    }
    return cells;
}

// Makes the item of a document, with a button if its text can be compared with the reference.
function listDocument(id) {
    const item = make("li", {}, make("bdi", {}, nameOf(id)));
    if (!showsTexts || reference === null || reference.id === id) return item;
    const button = make("button", {type: "button", "aria-label": `Compare with ${nameOf(id)}`}, "Compare");
    button.addEventListener("click", () => compare(id));
    item.append(button);
    return item;
}

function matchRow(query, match) {
    const bits = differingBits(query, match.fingerprint);
    const documents = make("ul", {}, ...(match.documents ?? []).map(listDocument));
    if (match.more) documents.append(make("li", {class: "soft"}, "and more"));
    // The roles stay where a narrow window makes blocks of the cells.
    return make("tr", {role: "row"}, make("th", {scope: "row", role: "rowheader"}, String(match.distance)),
        make("td", {role: "cell"}, make("code", {}, match.fingerprint)),
        make("td", {role: "cell"}, nameBits(bits), drawBits(bits)),
        make("td", {role: "cell"}, documents));
}

function makeTable(attributes, caption, names, rows) {
    const head = make("tr", {role: "row"},
        ...names.map((name) => make("th", {scope: "col", role: "columnheader"}, name)));
    return make("table", {role: "table", ...attributes}, make("caption", {}, caption),
        make("thead", {role: "rowgroup"}, head), make("tbody", {role: "rowgroup"}, ...rows));
}

function matchTable(answer) {
    const rows = answer.matches.map((match) => matchRow(answer.query, match));
    const caption = answer.count > rows.length ? `The nearest ${rows.length} of ${answer.count}` : "The nearest first";
    return makeTable({}, caption, ["Distance", "Fingerprint", "Bits that differ", "Documents"], rows);
}

function resemblanceRow(found) {
    return make("tr", {role: "row"},
        make("th", {scope: "row", role: "rowheader"}, found.resemblance.toFixed(4)),
        make("td", {role: "cell"}, make("ul", {}, listDocument(found.document))));
}

// Shows the documents that resemble a text, which is the reference from then on.
function showResembling(found) {
    reference = found.reference;
    const count = found.resembling.length;
    const table = makeTable({class: "resembling"}, "The greatest resemblance first", ["Resemblance", "Document"],
        found.resembling.map(resemblanceRow));
    at("answers").replaceChildren(make("h2", {}, "What resembles your text"),
        count > 0 ? make("div", {class: "wide"}, table) : make("p", {}, "No document resembles it that much."));
    const matches = count === 0 ? "No documents." : count === 1 ? "1 document." : `${count} documents.`;
    say(`${found.taken === undefined ? "" : `${found.taken}. `}${matches}`);
}

// Shows what was found. Documents are then compared with the text or the document that was asked for, or else with the
// nearest one.
function show(found, distance) {
    if (found.resembling !== undefined) {
        showResembling(found);
        return;
    }
    const none = `No fingerprint is within distance ${distance}.`;
    const nearest = found.answers[0]?.matches[0]?.documents?.[0];
    reference = found.reference ?? (nearest === undefined ? null : {name: nameOf(nearest), id: nearest});
    at("answers").replaceChildren(...found.answers.flatMap((answer) => [
        make("h2", {}, "Near to ", make("code", {}, answer.query)),
        ...(answer.count > 0 ? [make("div", {class: "wide"}, matchTable(answer))] : [make("p", {}, none)]),
    ]));
    const count = found.answers.reduce((sum, answer) => sum + answer.count, 0);
    const matches = count === 0 ? "No matches." : count === 1 ? "1 match." : `${count.toLocaleString("en")} matches.`;
    say(found.taken === undefined ? matches : `${found.taken}. ${matches}`);
}

function say(text, isError = false) {
    at("message").textContent = text;
    at("message").className = isError ? "error" : "";
}

// Looks up what the form asks for. An answer that comes after the next question is not shown.
async function submit() {
    const question = ++questions;
    const kind = new FormData(at("ask")).get("kind");
    const look = {any: recognise, text: lookUpText, fingerprint: lookUp, id: lookUpId}[kind];
    const distance = at("distance").value;
    const query = kind === "text" ? at("query").value : at("query").value.trim();
    at("comparison").hidden = true;
    at("answers").replaceChildren();
    say("Looking…");
    try {
        const found = await look(query);
        if (question === questions) show(found, distance);
    } catch (error) {
        if (question !== questions) return;
        say(error.status === undefined ? `The service does not answer: ${error.message}` : error.message, true);
    }
}

// ---- Words ----

const MOST_WORDS = 20000, MOST_EDITS = 1000, AROUND = 12;

// Folds a character by NFKC case folding. Upper case in between folds what has no lower case of its own; a dotless i
// stays.
function foldCharacter(c) {
    const lower = (some) => some === "\u0131" ? some : some.toLowerCase().toUpperCase().toLowerCase();
    let folded = c, before;
    do {
        before = folded;
        folded = [...before.normalize("NFD")].map(lower).join("").normalize("NFKC").replace(/\p{DI}/gu, "");
    } while (folded !== before);
    return folded;
}

const foldings = new Map();

// Letters of Malayalam without a vowel, and the letters and virama that they are one with.
const CHILLUS = {"\u0d54": "\u0d2e", "\u0d55": "\u0d2f", "\u0d56": "\u0d34", "\u0d7a": "\u0d23", "\u0d7b": "\u0d28",
    "\u0d7c": "\u0d30", "\u0d7d": "\u0d32", "\u0d7e": "\u0d33", "\u0d7f": "\u0d15"};

// Folds a text as the words by which texts are compared are folded (idx-recipes(7)).
function fold(text) {
    const look = (c) => {
        if (!foldings.has(c)) foldings.set(c, foldCharacter(c));
        return foldings.get(c);
    };
    const unified = text.replace(/[\u0d54-\u0d7f]/g, (c) => c in CHILLUS ? `${CHILLUS[c]}\u0d4d` : c)
        .replace(/[\u0640\ufcf2-\ufcf4\ufe71-\ufe7f]/g, (c) => look(c).replace(/^\u0640/, ""));
    return unified.normalize("NFD").replace(/[^\0-@[-`{-\x7f]/gu, look).normalize("NFC");
}

// Letters that are words by themselves.
const SINGLE = "(?=[\\p{L}\\p{M}])[\\p{Ideographic}\\u3040-\\u30ff\\uff66-\\uff9f" +
    "\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]";

// Cuts a text into its first MOST_WORDS words, each with what is before it, and the rest behind the last one.
function cut(text) {
    const words = [];
    const word = /[\p{L}\p{N}\p{M}\p{DI}]+/gu;
    const single = new RegExp(SINGLE, "gu");
    let end = 0;
    const add = (from, to) => {
        if (from === to || words.length === MOST_WORDS) return;
        const shown = text.slice(from, to), folded = fold(shown);
        if (folded === "") return;
        words.push({before: text.slice(end, from), shown, folded, differs: false});
        end = to;
    };
    for (const {0: run, index} of text.matchAll(word)) {
        let from = index;
        for (const one of run.matchAll(single)) {
            add(from, index + one.index);
            from = index + one.index + one[0].length;
            add(index + one.index, from);
        }
        add(from, index + run.length);
        if (words.length === MOST_WORDS) break;
    }
    return {text, words, rest: text.slice(end)};
}

const WIDTH = 5, MOST_COMPARED = 200000;

// Returns the runs of five words of a text, or the one of a shorter text; null if it is too long to compare here.
function shingle(text) {
    const words = fold(text).match(new RegExp(`${SINGLE}|(?:(?!${SINGLE})[\\p{L}\\p{Nd}\\p{M}])+`, "gu")) ?? [];
    if (words.length > MOST_COMPARED) return null;
    const shingles = new Set(words.length > 0 ? [words.slice(0, WIDTH).join(" ")] : []);
    for (let i = 1; i + WIDTH <= words.length; i++) shingles.add(words.slice(i, i + WIDTH).join(" "));
    return shingles;
}

// Returns the share of runs of five words that two texts have in common, among all that either has, or null.
function resemble(a, b) {
    const [one, other] = [shingle(a), shingle(b)];
    if (one === null || other === null) return null;
    let shared = 0;
    for (const some of one) if (other.has(some)) shared++;
    const all = one.size + other.size - shared;
    return all === 0 ? 1 : shared / all;
}

// Finds the paths of Myers' algorithm through two texts. Returns for each number of edits, up to the least that is
// enough, how many words of `a` the paths with one edit less pass, by how many more these are than the words of `b`;
// null if there are too many edits.
function findPaths(a, b) {
    const paths = [], ends = new Map([[1, 0]]);
    for (let edits = 0; edits <= MOST_EDITS; edits++) {
        paths.push(new Map(ends));
        for (let d = -edits; d <= edits; d += 2) {
            const down = d === -edits || (d !== edits && ends.get(d - 1) < ends.get(d + 1));
            let x = down ? ends.get(d + 1) : ends.get(d - 1) + 1;
            while (x < a.length && x - d < b.length && a[x].folded === b[x - d].folded) x++;
            ends.set(d, x);
            if (x >= a.length && x - d >= b.length) return paths;
        }
    }
    return null;
}

// Goes back along the shortest path, and marks the word that each edit leaves out; if there are too many edits, all
// words. Returns whether there were few enough.
function markEdits(a, b) {
    const paths = findPaths(a, b);
    let x = a.length, y = b.length;
    if (paths === null) for (const word of [...a, ...b]) word.differs = true;
    for (let edits = (paths?.length ?? 0) - 1; edits > 0; edits--) {
        const ends = paths[edits], d = x - y;
        const down = d === -edits || (d !== edits && ends.get(d - 1) < ends.get(d + 1));
        x = ends.get(down ? d + 1 : d - 1);
        y = x - (down ? d + 1 : d - 1);
        (down ? b[y] : a[x]).differs = true;
    }
    return paths !== null;
}

// Marks the words that differ, but for those that begin and end both texts. Returns what markEdits does.
function compareWords(a, b) {
    let begin = 0, end = 0;
    const most = Math.min(a.length, b.length);
    while (begin < most && a[begin].folded === b[begin].folded) begin++;
    while (end < most - begin && a.at(-1 - end).folded === b.at(-1 - end).folded) end++;
    return markEdits(a.slice(begin, a.length - end), b.slice(begin, b.length - end));
}

// ---- Two texts ----

// Writes a text into an element, with the words that differ in elements of their own. Of long runs of equal words, only
// those beside words that differ are written.
function writeText(element, text, tag) {
    const {words, rest} = text;
    element.replaceChildren();
    for (let from = 0, to; from < words.length; from = to) {
        const {differs} = words[from];
        for (to = from + 1; to < words.length && words[to].differs === differs;) to++;
        const join = (some) => printableText(some.map((word) => word.before + word.shown).join(""));
        if (differs) {
            element.append(printableText(words[from].before));
            const run = join(words.slice(from, to)).slice(printableText(words[from].before).length);
            element.append(make(tag, {}, run));
        } else if (to - from <= 3 * AROUND) {
            element.append(join(words.slice(from, to)));
        } else {
            element.append(join(words.slice(from, from + AROUND)));
            element.append(make("span", {class: "gap"}, ` [… ${to - from - 2 * AROUND} equal words …]`));
            element.append(join(words.slice(to - AROUND, to)));
        }
    }
    if (words.length < MOST_WORDS) element.append(printableText(rest));
    else element.append(make("span", {class: "gap"}, ` [… only ${MOST_WORDS} words are compared …]`));
}

// Does what printable does, but keeps line ends and tabs.
const printableText = (text) => text.replace(HIDDEN, (one) => "\n\t".includes(one) ? one : printable(one));

// Returns the text of a reference or of a document, which the service reads.
async function readText(source) {
    if (source.text !== undefined) return source.text;
    const response = await fetch(`/document?id=${encode(source.id)}`);
    if (!response.ok) throw new Error(`${nameOf(source.id)}: ${(await response.json()).error}`);
    return response.text();
}

// Writes a resemblance rounded down, so that texts have the one that is written, or more.
function describeResemblance(resemblance) {
    const parts = Math.floor(resemblance * 10000);
    const written = ((parts + 1) / 10000 <= resemblance ? parts + 1 : parts) / 10000;
    return ` Resemblance ${written.toFixed(4)}: the share of runs of five words that both have.`;
}

// Says how many words differ, as markEdits found it, and how much two texts resemble each other.
function verdict(a, b, isExact) {
    const resemblance = resemble(a.text, b.text);
    const end = resemblance === null ? "" : describeResemblance(resemblance);
    if (!isExact) return `More than ${MOST_EDITS} words differ, too many to tell which.${end}`;
    if (a.text === b.text) return `The texts are equal.${end}`;
    const [x, y] = [a, b].map((text) => text.words.filter((word) => word.differs).length);
    const count = ({words}) => words.length === MOST_WORDS ? `the first ${MOST_WORDS}` : words.length;
    if (x + y > 0) return `${x} of ${count(a)} words and ${y} of ${count(b)} differ.${end}`;
    if (a.words.length === MOST_WORDS) return `The first ${MOST_WORDS} words are equal.${end}`;
    return `The words are equal: ${a.words.length} in each, and the texts differ in case, signs or spaces.${end}`;
}

// Shows the reference and a document side by side.
async function compare(id) {
    const question = ++questions;
    if (at("message").className === "error") say("");
    try {
        const texts = (await Promise.all([reference, {id}].map(readText))).map(cut);
        if (question !== questions) return;
        const isExact = compareWords(texts[0].words, texts[1].words);
        at("first-name").replaceChildren(make("bdi", {}, printable(reference.name)));
        at("second-name").replaceChildren(make("bdi", {}, nameOf(id)));
        writeText(at("first-text"), texts[0], "del");
        writeText(at("second-text"), texts[1], "ins");
        at("verdict").textContent = verdict(...texts, isExact);
        at("comparison").hidden = false;
        at("compared").focus();
        at("comparison").scrollIntoView();
    } catch (error) {
        if (question === questions) say(error.message, true);
    }
}

// ---- The page ----

// Fills the form by what the service says of itself.
async function begin() {
    at("ask").addEventListener("submit", (event) => {
        event.preventDefault();
        submit();
    });
    at("query").addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("ask").requestSubmit();
    });
    try {
        const [known, health] = await Promise.all([ask("/info"), ask("/healthz")]);
        info = known;
        showsTexts = health.documents === true;
        byResemblance = info.resemblance > 0;
        if (byResemblance) at("resemblance").value = info.resemblance;
        const what = info.id_type === "none" ? "fingerprints" : "documents";
        at("about").textContent = byResemblance
            ? `An index of texts, for a resemblance of ${info.resemblance} and more.`
            : `An index of ${info.live.toLocaleString("en")} ${what}; fingerprints of ${info.bits} bits, distances up ` +
                `to ${health.max_k}.`;
        at("resembles").hidden = !byResemblance;
        at("distance").max = health.max_k;
        at("distance").value = info.k;
    } catch (error) {
        say(`The service does not answer: ${error.message}`, true);
    }
}

begin();
