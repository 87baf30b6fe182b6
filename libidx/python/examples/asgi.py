"""An ASGI application that answers from an index, also while that is replaced or added to.

    pip install uvicorn
    INDEX=crawl.idx uvicorn asgi:application

GET /lookup/5225228b2be28bc8?k=2 returns {"matches": [{"fingerprint", "distance", "documents"}, …]}, nearest first. The
environment variable INDEX is the path of the index, whose IDs are text.
"""

import asyncio
import json
import os
from urllib.parse import parse_qs

import libidx

if "INDEX" not in os.environ:
    raise SystemExit("usage: INDEX=PATH uvicorn asgi:application")
PATH, LIMIT, SECONDS = os.environ["INDEX"], 100, 0.5
probe = libidx.open(PATH, residence="none")  # says whether there is something new
current = libidx.open(PATH)  # each request answers from the view that it finds here; the last one closes it


async def keep_current():
    """Opens the index anew where there is something new. Where that fails, it is tried again."""
    global current
    news = False
    while True:
        await asyncio.sleep(SECONDS)
        try:
            news = await asyncio.to_thread(probe.refresh) or news
            if news:
                current, news = await asyncio.to_thread(libidx.open, PATH), False
        except libidx.Error as error:  # the index is gone, say: the older view serves on
            print(error)


def look_up(index, path, query):
    """The status and the object of an answer, all from one view of the index."""
    if not path.startswith("/lookup/"):
        return 404, {"error": "there is /lookup/HEX?k=N"}
    try:
        k = int(parse_qs(query)[b"k"][0]) if b"k=" in query else None
        matches = index.lookup(int(path.removeprefix("/lookup/"), 16), k, limit=LIMIT)
    except ValueError as error:  # InvalidArgumentError and BadDistanceError among them
        return 400, {"error": str(error)}
    documents = index.documents([match.fingerprint for match in matches], limit=LIMIT).tolist(errors="replace")
    rows = [(f"{match.fingerprint:016x}", match.distance, ids) for match, ids in zip(matches, documents)]
    return 200, {"matches": [dict(zip(("fingerprint", "distance", "documents"), row)) for row in rows]}


async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        task = asyncio.create_task(keep_current())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        task.cancel()
        return await send({"type": "lifespan.shutdown.complete"})
    status, answer = await asyncio.to_thread(look_up, current, scope["path"], scope["query_string"])
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})
