// The page of idx serve; shared.js comes before it.

let info = {bits: 64, k: 16}; // what /info says, once it has answered
let byResemblance = false; // whether texts are looked up by resemblance, in an index of texts
let showsTexts = false; // whether the service shows the texts of documents
let questions = 0; // how many were asked, also by comparisons, so that a late answer to an older one is left alone
let reference = null; // what documents are compared with: {name, text} or {name, id}

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
    if (new RegExp(`^(0x)?[0-9a-f]{${Math.ceil(info.bits / 4)}}$`, "i").test(query))
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
    const bits = differingBits(query, match.fingerprint, info.bits);
    const documents = make("ul", {}, ...(match.documents ?? []).map(listDocument));
    if (match.more) documents.append(make("li", {class: "soft"}, "and more"));
    return makeRow([match.distance, make("code", {}, match.fingerprint), [nameBits(bits), drawBits(bits)], documents]);
}

function matchTable(answer) {
    const rows = answer.matches.map((match) => matchRow(answer.query, match));
    const caption = answer.count > rows.length ? `The nearest ${rows.length} of ${answer.count}` : "The nearest first";
    return makeTable("matches", caption, ["Distance", "Fingerprint", "Bits that differ", "Documents"], rows);
}

// Shows the documents that resemble a text, which is the reference from then on.
function showResembling(found) {
    reference = found.reference;
    const rows = found.resembling.map(({resemblance, document}) => makeRow([writeShare(resemblance),
        make("ul", {}, listDocument(document))]));
    at("answers").replaceChildren(make("h2", {}, "What resembles your text"), rows.length > 0
        ? makeTable("matches resembling", "The greatest resemblance first", ["Resemblance", "Document"], rows)
        : make("p", {}, "No document resembles it that much."));
    sayFound(found, rows.length, "document");
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
        answer.count > 0 ? matchTable(answer) : make("p", {}, none),
    ]));
    sayFound(found, found.answers.reduce((sum, answer) => sum + answer.count, 0), "match");
}

// Says how many were found, and what the query was taken as.
function sayFound(found, number, what) {
    const matches = number === 0 ? `No ${plural(what)}.` : `${count(number, what)}.`;
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

// ---- Two texts ----

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

// Returns the text of a reference or of a document, which the service reads.
async function readText(source) {
    if (source.text !== undefined) return source.text;
    const response = await fetch(`/document?id=${encode(source.id)}`);
    if (!response.ok) throw new Error(`${nameOf(source.id)}: ${(await response.json()).error}`);
    return response.text();
}

// Says how many words differ, once they are marked, and how much two texts resemble each other.
function verdict(a, b) {
    const resemblance = resemble(a.text, b.text), differences = describeDifferences(a, b);
    return `${differences[0].toUpperCase()}${differences.slice(1)}.` + (resemblance === null ? ""
        : ` Resemblance ${writeShare(resemblance)}: the share of runs of five words that both have.`);
}

// Shows the reference and a document side by side.
async function compare(id) {
    const question = ++questions;
    if (at("message").className === "error") say("");
    try {
        const texts = (await Promise.all([reference, {id}].map(readText))).map((text) => cut(text));
        if (question !== questions) return;
        at("texts").replaceChildren(drawTexts("h3", [reference.name, id], texts, Infinity));
        at("verdict").textContent = verdict(...texts);
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
            : `An index of ${digits(info.live)} ${what}; fingerprints of ${info.bits} bits, distances up ` +
                `to ${health.max_k}.`;
        at("resembles").hidden = !byResemblance;
        at("distance").max = health.max_k;
        at("distance").value = info.k;
    } catch (error) {
        say(`The service does not answer: ${error.message}`, true);
    }
}

begin();
