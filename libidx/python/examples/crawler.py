#!/usr/bin/env python3
"""A crawler that keeps a page only where it resembles none that was kept before, also after restarts and kills.

usage: crawler.py FOLDER <PAGES

PAGES are JSON Lines with url and text, as a crawler fetches them. FOLDER, which is made, has the index of what was kept,
pages.idx, and the pages, kept.jsonl. After a kill, give the pages that may not have been kept once more: each of them is
kept once. Needs the command idx, version 1.0, and no package.

With Scrapy, the class SeenPipeline is an item pipeline: ITEM_PIPELINES = {"crawler.SeenPipeline": 300}.

    pip install scrapy
"""
import json
import os
import pathlib
import subprocess
import sys

RESEMBLANCE = "0.8"


class Seen:
    """Which pages resemble one that was kept. What it answered is on disk."""

    def __init__(self, folder):
        index, idx = pathlib.Path(folder, "pages.idx"), os.environ.get("IDX", "idx")
        if not index.exists():
            subprocess.run([idx, "build", "--resemble", RESEMBLANCE, index], stdin=subprocess.DEVNULL, check=True)
        self.command = subprocess.Popen(
            [idx, "add", "--if-new", "--id-field", "url", "--limit", "1", index, "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def like(self, pages):
        """For each page the URL of what it resembles most, or None where it is new, and then remembered. Several
        pages at a time are faster: they share one sync to disk."""
        answers = []
        for begin in range(0, len(pages), 64):  # The answers of more might not fit in the pipe before they are read.
            piece = pages[begin : begin + 64]
            lines = [json.dumps({"url": page["url"], "text": page["text"]}) + "\n" for page in piece]
            self.command.stdin.write("".join(lines).encode())
            self.command.stdin.flush()
            answers += [self._answer() for _ in lines]
        return answers

    def _answer(self):
        """What `idx add` says of the next page."""
        line = self.command.stdout.readline()
        if not line.endswith(b"\n"):
            raise RuntimeError("idx add has ended: " + str(self.command.wait()))
        _, verdict, *near = line.decode().rstrip("\n").split("\t")
        return near[1] if verdict == "near" else None

    def is_new(self, page):
        """A page that resembles itself was remembered before a crawler was killed that had not kept it yet."""
        return self.like([page])[0] in (None, page["url"])

    def close(self):
        self.command.stdin.close()
        self.command.wait()


class SeenPipeline:
    def open_spider(self, spider):
        self.seen = Seen(os.environ.get("SEEN_FOLDER", "."))

    def process_item(self, item, spider):
        if not self.seen.is_new(item):
            from scrapy.exceptions import DropItem

            raise DropItem("it resembles a page that was kept")
        return item

    def close_spider(self, spider):
        self.seen.close()


def kept_urls(file):
    """The URLs of the pages that were kept. Cuts off a line that was not whole when its writer was killed."""
    urls, end = set(), 0
    for line in file:
        if line.endswith(b"\n"):
            urls.add(json.loads(line)["url"])
            end += len(line)
    file.truncate(end)
    file.seek(end)
    return urls


def main(folder):
    os.makedirs(folder, exist_ok=True)
    seen = Seen(folder)
    with open(pathlib.Path(folder, "kept.jsonl"), "a+b", buffering=0) as kept:
        kept.seek(0)
        urls = kept_urls(kept)
        for line in sys.stdin:
            page = json.loads(line)
            if page["url"] not in urls and seen.is_new(page):
                urls.add(page["url"])
                kept.write(json.dumps(page).encode() + b"\n")
                os.fsync(kept.fileno())
    seen.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
