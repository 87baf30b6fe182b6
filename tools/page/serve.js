// The page of idx serve; shared.js comes before it.

let info = {bits: 64, k: 16}; // what /info says, once it has answered
let byResemblance = false; // whether texts are looked up by resemblance, in an index of texts
let showsTexts = false; // whether the service shows the texts of documents
let questionCount = 0; // how many were asked, also by comparisons, so that a late answer to an older one is left alone
let reference = null; // what documents are compared with: {name, text} or {name, id}

// Encodes an ID for an address. One that is not UTF-8 is {hex}, and each of its bytes becomes %XX.
const encodeId = (id) => typeof id === "string" ? encodeURIComponent(id) : id.hex.replace(/../g, "%$&");

// ---- Asking ----

// Returns the JSON that a path answers. An error of the service is thrown with its status; other errors have none.
async function requestJson(path, options) {
    const response = await fetch(path, options);
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error ?? response.statusText), {status: response.status});
    return answer;
}

// Returns the parameters of look-ups by fingerprints, as the form has them.
const makeParameters = () => new URLSearchParams({k: at("distance").value, limit: at("limit").value});

// Looks a fingerprint up, in hex digits. Like the functions below, returns {answers, reference}, in which `reference`
// is what documents are then compared with, and throws what requestJson throws.
async function lookUpFingerprint(fingerprint) {
    // Browsers take ".." at the end of a path for the path above it.
    if (!/^(0x)?[0-9a-f]+$/i.test(fingerprint))
        throw Object.assign(new Error("A fingerprint has hex digits alone, perhaps behind 0x."), {status: 400});
    const answer = await requestJson(`/lookup/${encodeURIComponent(fingerprint)}?${makeParameters()}`);
    return {answers: [answer], reference: null};
}

// Looks up what is near to the documents with this ID.
async function lookUpId(id) {
    const answer = await requestJson(`/documents?id=${encodeURIComponent(id)}&${makeParameters()}`);
    return {answers: answer.answers, reference: {name: id, id}};
}

// Looks a text up by its fingerprints, or in an index of texts by resemblance, which returns {resembling, reference}.
async function lookUpText(text) {
    const headers = {"Content-Type": "text/plain; charset=utf-8"};
    const by = byResemblance ? new URLSearchParams({resemble: at("resemblance").value, limit: at("limit").value})
        : makeParameters();
    const answer = await requestJson(`/text?${by}`, {method: "POST", headers, body: text});
    return {...answer, reference: {name: "Your text", text}};
}

// IDs that are longer, as they are encoded, may not fit into an address.
const MOST_ID_LENGTH = 4000;

// Looks a query up as a fingerprint if it looks like one; else as an ID; and as a text if no document has this ID. Says
// with the answer, or its error, what the query was taken as.
async function recognise(query) {
    if (new RegExp(`^(0x)?[0-9a-f]{${Math.ceil(info.bits / 4)}}$`, "i").test(query))
        return {...await lookUpFingerprint(query), taken: "Taken as a fingerprint"};
    let taken = "Taken as a text";
    if (!query.includes("\n") && encodeURIComponent(query).length <= MOST_ID_LENGTH) {
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
function makeDocumentItem(id) {
    const item = make("li", {}, make("bdi", {}, nameId(id)));
    if (!showsTexts || reference === null || reference.id === id) return item;
    const button = make("button", {type: "button", "aria-label": `Compare with ${nameId(id)}`}, "Compare");
    button.addEventListener("click", () => showComparison(id));
    item.append(button);
    return item;
}

// Makes the row of a match of the fingerprint `query`.
function makeMatchRow(query, match) {
    const bits = differingBits(query, match.fingerprint, info.bits);
    const documents = make("ul", {}, ...(match.documents ?? []).map(makeDocumentItem));
    if (match.more) documents.append(make("li", {class: "soft"}, "and more"));
    return makeRow([match.distance, make("code", {}, match.fingerprint), [nameBits(bits), drawBits(bits)], documents]);
}

// Makes the table of the matches of one fingerprint.
function makeMatchTable(answer) {
    const rows = answer.matches.map((match) => makeMatchRow(answer.query, match));
    const caption = answer.count > rows.length ? `The nearest ${rows.length} of ${answer.count}` : "The nearest first";
    return makeTable("matches", caption, ["Distance", "Fingerprint", "Bits that differ", "Documents"], rows);
}

// Shows the documents that resemble a text, which is the reference from then on.
function showResembling(found) {
    reference = found.reference;
    const rows = found.resembling.map(({resemblance, document}) => makeRow([writeShare(resemblance),
        make("ul", {}, makeDocumentItem(document))]));
    at("answers").replaceChildren(make("h2", {}, "What resembles your text"), rows.length > 0
        ? makeTable("matches resembling", "The greatest resemblance first", ["Resemblance", "Document"], rows)
        : make("p", {}, "No document resembles it that much."));
    showFoundCount(found, rows.length, "document");
}

// Shows what was found. Documents are then compared with the text or the document that was asked for, or else with the
// nearest one.
function showFound(found, distance) {
    if (found.resembling !== undefined) {
        showResembling(found);
        return;
    }
    const none = `No fingerprint is within distance ${distance}.`;
    const nearest = found.answers[0]?.matches[0]?.documents?.[0];
    reference = found.reference ?? (nearest === undefined ? null : {name: nameId(nearest), id: nearest});
    at("answers").replaceChildren(...found.answers.flatMap((answer) => [
        make("h2", {}, "Near to ", make("code", {}, answer.query)),
        answer.count > 0 ? makeMatchTable(answer) : make("p", {}, none),
    ]));
    showFoundCount(found, found.answers.reduce((sum, answer) => sum + answer.count, 0), "match");
}

// Shows a message that says how many were found, each of which is a `what`, and what the query was taken as.
function showFoundCount(found, number, what) {
    const matches = number === 0 ? `No ${plural(what)}.` : `${count(number, what)}.`;
    showMessage(found.taken === undefined ? matches : `${found.taken}. ${matches}`);
}

// Shows a message in place of the one before; one about an error stands out.
function showMessage(text, isError = false) {
    at("message").textContent = text;
    at("message").className = isError ? "error" : "";
}

// Looks up what the form asks for. An answer that comes after the next question is not shown.
async function submitQuery() {
    const question = ++questionCount;
    const kind = new FormData(at("ask")).get("kind");
    const look = {any: recognise, text: lookUpText, fingerprint: lookUpFingerprint, id: lookUpId}[kind];
    const distance = at("distance").value;
    const query = kind === "text" ? at("query").value : at("query").value.trim();
    at("comparison").hidden = true;
    at("answers").replaceChildren();
    showMessage("Looking…");
    try {
        const found = await look(query);
        if (question === questionCount) showFound(found, distance);
    } catch (error) {
        if (question !== questionCount) return;
        showMessage(error.status === undefined ? `The service does not answer: ${error.message}` : error.message, true);
    }
}

// ---- Two texts ----

const SHINGLE_WORDS = 5, MOST_COMPARED_WORDS = 200000;

// Returns the runs of five words of a text, or the one of a shorter text; null if it is too long to compare here.
function makeShingles(text) {
    const words = fold(text).match(new RegExp(`${SINGLE}|(?:(?!${SINGLE})[\\p{L}\\p{Nd}\\p{M}])+`, "gu")) ?? [];
    if (words.length > MOST_COMPARED_WORDS) return null;
    const shingles = new Set(words.length > 0 ? [words.slice(0, SHINGLE_WORDS).join(" ")] : []);
    for (let i = 1; i + SHINGLE_WORDS <= words.length; i++) shingles.add(words.slice(i, i + SHINGLE_WORDS).join(" "));
    return shingles;
}

// Returns the share of runs of five words that two texts have in common, among all that either has, or null.
function computeResemblance(a, b) {
    const [ofA, ofB] = [makeShingles(a), makeShingles(b)];
    if (ofA === null || ofB === null) return null;
    let shared = 0;
    for (const shingle of ofA) if (ofB.has(shingle)) shared++;
    const total = ofA.size + ofB.size - shared;
    return total === 0 ? 1 : shared / total;
}

// Returns the text of a reference or of a document, which the service reads.
async function readText(source) {
    if (source.text !== undefined) return source.text;
    const response = await fetch(`/document?id=${encodeId(source.id)}`);
    if (!response.ok) throw new Error(`${nameId(source.id)}: ${(await response.json()).error}`);
    return response.text();
}

// Returns a sentence on two texts that were cut: how many words differ, once they are marked, and their resemblance.
function describeComparison(a, b) {
    const resemblance = computeResemblance(a.text, b.text), differences = describeDifferences(a, b);
    return `${differences[0].toUpperCase()}${differences.slice(1)}.` + (resemblance === null ? ""
        : ` Resemblance ${writeShare(resemblance)}: the share of runs of five words that both have.`);
}

// Shows the reference and a document side by side.
async function showComparison(id) {
    const question = ++questionCount;
    if (at("message").className === "error") showMessage("");
    try {
        const texts = (await Promise.all([reference, {id}].map(readText))).map((text) => cut(text));
        if (question !== questionCount) return;
        at("texts").replaceChildren(drawTexts("h3", [reference.name, id], texts, Infinity));
        at("verdict").textContent = describeComparison(...texts);
        at("comparison").hidden = false;
        at("compared").focus();
        at("comparison").scrollIntoView();
    } catch (error) {
        if (question === questionCount) showMessage(error.message, true);
    }
}

// ---- The page ----

// Has the form answer to keys and buttons, and fills it by what the service says of itself.
async function startPage() {
    at("ask").addEventListener("submit", (event) => {
        event.preventDefault();
        submitQuery();
    });
    at("query").addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("ask").requestSubmit();
    });
    try {
        const [known, health] = await Promise.all([requestJson("/info"), requestJson("/healthz")]);
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
        showMessage(`The service does not answer: ${error.message}`, true);
    }
}

startPage();
