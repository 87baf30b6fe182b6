"""Reads a page of HTML strictly: what a test needs of it, and what is wrong with it."""
import html.parser

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(html.parser.HTMLParser):
    """Elements as a tree of [tag, attributes, children]; children are such lists and texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = ["", {}, []]
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, f"not closed: {self.open[-1][0]}"

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), []]
        assert len(attributes) == len(element[1]), f"an attribute twice: {attributes}"
        self.open[-1][2].append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.open[-1][2].append(data)


def find(element, tag=None, **attributes):
    """All elements below one with this tag and these attributes, in order."""
    for child in element[2]:
        if isinstance(child, str):
            continue
        if tag in (None, child[0]) and all(child[1].get(key.strip("_")) == value for key, value in attributes.items()):
            yield child
        yield from find(child, tag, **attributes)


def text(element):
    return element if isinstance(element, str) else "".join(map(text, element[2]))


def table(element):
    """The rows of a table as lists of texts."""
    return [[text(cell).strip() for cell in row[2] if not isinstance(cell, str)] for row in find(element, "tr")]


def number(cell):
    return int(cell.replace(",", "").replace("≈", "").strip())


def check(root, tags):
    """What holds for every page of ours: these elements alone, no handlers, names that are there, and what readers of a
    screen need."""
    seen = list(find(root))
    unknown = {element[0] for element in seen} - tags
    assert not unknown, f"elements that should not be there: {unknown}"
    names = [element[1]["id"] for element in seen if "id" in element[1]]
    assert len(names) == len(set(names)), "an id twice"
    for tag, attributes, _ in seen:
        for key, value in attributes.items():
            assert not key.startswith("on") and (key != "style" or tag == "i"), f"{key} in <{tag}>"
            if key == "href" and value.startswith("#"):
                assert value[1:] in names, f"{value} leads nowhere"
            if key in ("aria-labelledby", "aria-describedby", "for"):
                assert all(name in names for name in value.split()), f"{key}={value}"
    levels = [int(element[0][1]) for element in seen if element[0] in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1, "one h1, and first"
    assert all(b <= a + 1 or (a, b) == (2, 4) for a, b in zip(levels, levels[1:])), "headings skip a level"
