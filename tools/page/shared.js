"use strict";

// What the pages of idx serve and of --report have in common. What came from elsewhere is only ever set as text.

// Returns the element of this ID.
const at = (id) => document.getElementById(id);

// Makes an element; its children are elements or texts.
function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

// These write a number with commas, a noun in the plural, and a number with its noun.
const digits = (number) => number.toLocaleString("en");
const plural = (what) => what + (what.endsWith("ch") ? "es" : "s");
const count = (number, what) => `${digits(number)} ${number === 1 ? what : plural(what)}`;

// Writes a share rounded down, so that texts have the one that is written, or more.
function writeShare(share) {
    const parts = Math.floor(share * 10000);
    return (((parts + 1) / 10000 <= share ? parts + 1 : parts) / 10000).toFixed(4);
}

// ---- IDs and fingerprints ----

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

// Writes as numbers the characters that can't be seen, or that change the order in which others are read.
function printable(text) {
    return text.replace(HIDDEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

// Writes an ID as text. One that is not UTF-8 comes as {hex}.
const nameId = (id) => typeof id === "string" ? printable(id) : `bytes ${id.hex}`;

// Returns the numbers of the bits in which two fingerprints of so many bits differ, the most significant one first.
function differingBits(a, b, bitCount) {
    const different = BigInt(`0x${a}`) ^ BigInt(`0x${b}`);
    const bits = [];
    for (let bit = bitCount - 1; bit >= 0; bit--) if (different >> BigInt(bit) & 1n) bits.push(bit);
    return bits;
}

// Writes the numbers of bits as text.
function nameBits(bits) {
    return bits.length === 0 ? "none" : `${bits.length === 1 ? "bit" : "bits"} ${bits.join(", ")}`;
}

// ---- Tables ----

// Makes a row of a table, whose first cell names it. The roles stay where a narrow window makes blocks of the cells.
function makeRow([first, ...others], attributes = {}) {
    return make("tr", {role: "row", ...attributes}, make("th", {scope: "row", role: "rowheader"}, first),
        ...others.map((cell) => make("td", {role: "cell"}, ...[cell].flat())));
}

// Makes a table in a frame in which it can be scrolled, if it is wider than that.
function makeTable(kind, caption, names, rows) {
    const head = make("tr", {role: "row"},
        ...names.map((name) => make("th", {scope: "col", role: "columnheader"}, name)));
    return make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": caption},
        make("table", {role: "table", class: kind}, make("caption", {}, caption),
            make("thead", {role: "rowgroup"}, head), make("tbody", {role: "rowgroup"}, ...rows)));
}

// ---- Words ----

const MOST_WORDS = 50000, MOST_EDITS = 1000, AROUND = 12;

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

const foldings = new Map(); // what foldCharacter returned for each character so far

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

// Cuts a text into its first MOST_WORDS words, each with what is before it, and the rest behind the last one. `isWhole`
// says whether this is all of the text.
function cut(text, isWhole = true) {
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
    return {text, isWhole, words, rest: text.slice(end)};
}

// ---- Words that differ ----

// Marks the words that one path through both texts leaves out, by Myers' greedy algorithm ("An O(ND) Difference
// Algorithm and Its Variations", 1986). The path goes along equal words, and makes an edit where it leaves out a word
// of one of the texts. On each diagonal, where as many more words of `a` than of `b` were passed, the paths of one edit
// more continue those that went farthest with one edit less: path i of `edits` edits is on diagonal 2 i - edits. The
// path that is marked is the shortest one that passes all words; or where that takes more than MOST_EDITS edits, the
// one that passes most words with so many. Returns how many words of each text it passes.
function markPath(a, b) {
    const ends = []; // by the number of edits, the word of `a` at which each path ends; -1: there is none
    // Where path i, on diagonal d, comes to by an edit that leaves out a word of `a`, or one of `b`.
    const byA = (before, i) => i > 0 && before[i - 1] >= 0 && before[i - 1] < a.length ? before[i - 1] + 1 : -1;
    const byB = (before, i, d) => i < before.length && before[i] >= 0 && before[i] - d <= b.length ? before[i] : -1;
    let edits = -1, farthest, passed = -1;
    while (passed < a.length + b.length && edits < MOST_EDITS) {
        const before = ends[edits], now = new Int32Array(++edits + 1);
        passed = -1;
        for (let i = 0; i <= edits; i++) {
            const d = 2 * i - edits;
            let x = edits === 0 ? 0 : Math.max(byA(before, i), byB(before, i, d));
            while (x >= 0 && x < a.length && x - d < b.length && a[x].folded === b[x - d].folded) x++;
            now[i] = x;
            if (x < 0 || 2 * x - d <= passed) continue;
            passed = 2 * x - d;
            farthest = i;
        }
        ends.push(now);
    }
    const end = ends[edits][farthest];
    for (let i = farthest, left = edits; left > 0; left--) {
        const d = 2 * i - left, before = ends[left - 1], x = byB(before, i, d);
        if (x >= byA(before, i)) b[x - d - 1].differs = true;
        else a[byA(before, i--) - 1].differs = true;
    }
    return [end, end - (2 * farthest - edits)];
}

// Marks the words that differ. Of texts with more than MOST_EDITS edits, these may be more than necessary: where a path
// ends, the next one begins.
function compareWords(a, b) {
    while (a.length + b.length > 0) {
        const [x, y] = markPath(a, b);
        a = a.slice(x);
        b = b.slice(y);
    }
}

// ---- Two texts ----

// Returns a phrase that says how many words of two texts differ, once these are marked.
function describeDifferences(a, b) {
    const isWhole = (text) => text.isWhole && text.words.length < MOST_WORDS;
    const of = (text) => (isWhole(text) ? "" : "the first ") + digits(text.words.length);
    const [x, y] = [a, b].map((text) => text.words.filter((word) => word.differs).length);
    if (x + y > 0) return `${digits(x)} of ${of(a)} words and ${digits(y)} of ${of(b)} differ`;
    if (a.text === b.text) return `the texts are equal${a.isWhole && b.isWhole ? "" : " as far as they are compared"}`;
    return `the words are equal: ${of(a)} in each` +
        (isWhole(a) && isWhole(b) ? ", and the texts differ in case, signs or spaces" : "");
}

// Does what printable does, but keeps line ends and tabs.
const printableText = (text) => text.replace(HIDDEN, (one) => "\r\n\t".includes(one) ? one : printable(one));

// Writes a text into an element, with the words that differ in elements of their own, up to about `most` words. Of long
// runs of equal words, only those beside words that differ are written; of a text that has none, some more.
function writeText(element, {words, rest}, tag, most) {
    const around = words.some((word) => word.differs) ? AROUND : 10 * AROUND;
    const join = (some) => printableText(some.map((word) => word.before + word.shown).join(""));
    const addGap = (what) => element.append(make("span", {class: "gap"}, ` [… ${what} …]`));
    let from = 0;
    element.replaceChildren();
    for (let to; from < words.length && most > 0; from = to) {
        const {before, shown, differs} = words[from];
        for (to = from + 1; to < words.length && words[to].differs === differs;) to++;
        if (differs || to - from <= 3 * around) {
            to = Math.min(to, from + most);
            most -= to - from;
            const behind = join(words.slice(from + 1, to));
            element.append(printableText(before));
            element.append(differs ? make(tag, {}, printableText(shown) + behind) : printableText(shown) + behind);
        } else {
            most -= 2 * around;
            element.append(join(words.slice(from, from + around)));
            addGap(`${digits(to - from - 2 * around)} equal words`);
            element.append(join(words.slice(to - around, to)));
        }
    }
    if (from < words.length) addGap(count(words.length - from, "more word"));
    else if (words.length < MOST_WORDS) element.append(printableText(rest));
    else addGap(`only ${digits(MOST_WORDS)} words are compared`);
}

// Marks the words that differ in two texts that were cut, and makes an element with the texts side by side.
function drawTexts(heading, ids, texts, most) {
    compareWords(texts[0].words, texts[1].words);
    return make("div", {class: "two"}, ...texts.map((text, i) => {
        const element = make("p", {class: "text", dir: "auto"});
        writeText(element, text, ["del", "ins"][i], most);
        return make("div", {}, make(heading, {}, make("bdi", {}, nameId(ids[i]))), element);
    }));
}
