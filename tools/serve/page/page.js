"use strict";

const message = document.getElementById("message");
const matches = document.getElementById("matches");

function show(answer) {
    message.textContent = answer.error ?? `${answer.count} found`;
    matches.replaceChildren(...(answer.matches ?? []).map((match) => {
        const item = document.createElement("li");
        const documents = (match.documents ?? []).map((id) => typeof id === "string" ? id : `bytes ${id.hex}`);
        item.textContent = `${match.fingerprint}, distance ${match.distance}: ${documents.join(", ")}`;
        return item;
    }));
}

document.getElementById("lookup").addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = document.getElementById("query").value.trim();
    try {
        const response = await fetch(`/lookup/${encodeURIComponent(query)}`);
        show(await response.json());
    } catch (error) {
        show({error: `The service does not answer: ${error.message}`});
    }
});
