"""Makes the manual pages of section 3 from a public header: one for each group of calls, which begins with a line
`/* ---- Group ---- */`, with a link for each further call of it; and one for the comment at the top of the header.

usage: manual.py HEADER LIBRARY VERSION DATE FOLDER

What a page says of a call, a struct or a constant is the comment before it, and of a member the one before or behind
it. A call without a comment is an error, so that no page is half empty."""
import pathlib, re, sys, textwrap

COMMENT = r"/\*.*?\*/"
WIDTH = 78


# ---- Texts ----

def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text[:1] in (".", "\\") else text


def word(text):
    """A line of text: what is between backquotes in italics, and names that begin with idx_ in bold."""
    parts = escape(text).split("`")
    parts[::2] = [re.sub(r"\b(idx_[a-z0-9_]+)\b", r"\\fB\1\\fR", part) for part in parts[::2]]
    parts[1::2] = [f"\\fI{part}\\fR" for part in parts[1::2]]
    return "".join(parts)


def lines_of(comment):
    """The lines of a comment without its marks; of a line, what is behind one space."""
    inner = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    return [re.sub(r"^\s*\* ?", "", line).rstrip() if i else line for i, line in enumerate(inner.split("\n"))]


def running(comment):
    """A comment that is one paragraph, as its text."""
    return " ".join(re.sub(r"^\s*\*?\s*", "", line) for line in lines_of(comment)).strip()


def paragraphs(lines):
    """Groff's lines for text: paragraphs, lists (`- `), and indented lists of a term, two spaces and what it is."""
    out, text, macro = [], [], ".PP"

    def end():
        nonlocal text, macro
        if text:
            out.extend([*macro.split("\n"), word(" ".join(text))])
        text, macro = [], ".PP"

    for line in lines:
        item = re.match(r"- (.*)", line)
        term = re.match(r" {2}(\S.*?)(?: {2,}(\S.*))?$", line)
        if not line.strip():
            end()
        elif item:
            end()
            macro, text = ".IP \\(bu 2", [item[1]]
        elif term and not macro.startswith(".IP"):
            end()
            macro, text = f".TP\n\\fB{escape(term[1])}\\fR", [term[2] or ""]
        else:
            if re.match(r"\S", line) and macro != ".PP":
                end()
            text.append(line.strip())
    end()
    return out


# ---- Declarations ----

def wrap(prototype):
    """A prototype in lines of WIDTH columns, broken between its parameters."""
    head, parameters = re.match(r"(.*?[\w)]\()(.*)", " ".join(prototype.split())).groups()
    if head.endswith("(*"):
        head, parameters = re.match(r"(.*?\)\()(.*)", " ".join(prototype.split())).groups()
    text = head.replace(" ", "\0") + ", ".join(part.replace(" ", "\0") for part in parameters.split(", "))
    lines = textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def split_list(text):
    """The parts of a list in braces, at its outermost commas."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [" ".join(part.split()) for part in parts]


def defaults_of(struct, header):
    """The macro that initialises a struct, if there is one, and the values that it gives to the members."""
    for macro, text in re.findall(r"#define (\w+_INIT)\b((?:.*\\\n)*.*)", header):
        if f"sizeof(struct {struct})" in text:
            return macro, split_list(re.sub(r"^[\s{]*|\s*\}\s*$", "", text.replace("\\\n", " ")))
    return None, []


def members(body, separator, defaults):
    """Groff's lines for the members of a struct or an enumeration."""
    out, before = [], ""
    pattern = rf"\s*(?:({COMMENT})|([^{separator}/]+){separator}?[ \t]*({COMMENT})?)"
    position, taken = 0, 0
    while body[position:].strip():
        found = re.compile(pattern, re.S).match(body, position)
        position = found.end()
        if found[1]:
            if before:
                out.extend([".PP", word(before)])
            before = running(found[1])
            continue
        name = " ".join(found[2].split())
        about = running(found[3]) if found[3] else ""
        if about and before:
            out.extend([".PP", word(before)])
        about, before = about or before, ""
        default = defaults[taken] if taken < len(defaults) else ""
        taken += 1
        if name == "size_t size" and defaults:
            continue
        if "reserved[" in name:
            continue
        if default:
            about += "default" if about == "" else " Default" if about.endswith(".") else "; default"
            about += f": {default}"
        out.append(f".TP\n\\fB{escape(name)}\\fR")
        out.append(word(about) if about else "\\&")
    if defaults and len(defaults) != taken:
        sys.exit(f"{taken} members have {len(defaults)} defaults: {body}")
    return out


# ---- Pages ----

def finish(lines):
    """The text of a page. A paragraph begins by itself after a heading."""
    return re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", "\n".join(lines) + "\n", flags=re.M)


def link_with(name):
    """Which library a program links with for the calls of a header: that of this name, or idx."""
    return f"Link with \\-l{name[3:] if name.startswith('lib') else 'idx'}."


class Page:
    def __init__(self, group):
        self.about = re.sub(r" \(.*", "", group).lower()
        self.calls, self.prototypes, self.body = [], [], []

    def add(self, comment, declaration, header):
        call = re.match(r"IDX_API (.*?(\w+)\(.*\));", declaration, re.S)
        kind = re.match(r"(struct|enum) (\w+) \{(.*)\}", declaration, re.S)
        callback = re.match(r"typedef (.*\(\*(\w+)\).*);", declaration, re.S)
        constant = re.match(r"#define (\w+) (.+)", declaration)
        if call:
            if not comment:
                sys.exit(f"{call[2]} has no comment, so its manual page would be empty")
            self.calls.append(call[2])
            self.prototypes.append(call[1] + ";")
            self.body += [f".SS {call[2]}", *paragraphs(lines_of(comment))]
        elif kind:
            self.body += [f".SS {kind[1]} {kind[2]}", *(paragraphs(lines_of(comment)) if comment else [])]
            macro, defaults = defaults_of(kind[2], header)
            if macro:
                self.body += [".PP", f"Initialise it with {macro}."]
            self.body += members(kind[3], ";" if kind[1] == "struct" else ",", defaults)
        elif callback:
            self.prototypes.append("typedef " + callback[1] + ";")
            self.body += [f".SS {callback[2]}", *(paragraphs(lines_of(comment)) if comment else [])]
        elif constant and not constant[1].endswith("_INIT"):
            value = re.sub(r"\s*/\*.*", "", constant[2])
            about = running(re.search(COMMENT, constant[2])[0]) if "/*" in constant[2] else ""
            self.body += paragraphs(lines_of(comment)) if comment else []
            self.body += [f".TP\n\\fB{constant[1]}\\fR", word(f"{value}{': ' + about if about else ''}")]
        elif comment and declaration.startswith("struct"):
            name = re.match(r"struct (\w+);", declaration)[1]
            self.body += [f".SS struct {name}", *paragraphs(lines_of(comment))]

    def write(self, folder, header, library, version, date):
        if not self.calls:
            return
        first = self.calls[0]
        out = [f".TH {first.upper()} 3 \"{date}\" \"idx {version}\" \"{library}\"", ".SH NAME"]
        out += [", ".join(self.calls) + f" \\- {self.about}", ".SH SYNOPSIS", ".nf", f"#include <{header}>"]
        for prototype in self.prototypes:
            out += ["", *(escape(line) for line in wrap(prototype))]
        out += [".fi", ".PP", link_with(library), ".SH DESCRIPTION", *(line for line in self.body if line)]
        if any(prototype.startswith("enum idx_status idx_") for prototype in self.prototypes):
            out += [".SH RETURN VALUE", "A call that returns an enum idx_status returns IDX_OK, or why it failed; see"]
            out += [f"\\fB{library}\\fR(3)."]
        out += [".SH SEE ALSO", f"\\fB{library}\\fR(3), which lists all calls"]
        (folder / f"{first}.3").write_text(finish(out))
        for call in self.calls[1:]:
            (folder / f"{call}.3").write_text(f".so man3/{first}.3\n")


def items(section):
    """The declarations of a section, each with the comment before it, or None."""
    pattern = rf"({COMMENT})|(#define .*?[^\\]$)|((?:IDX_API |struct |enum |typedef ).*?;)(?=\s)"
    position, comment, end_of_comment = 0, None, 0
    expression = re.compile(pattern, re.S | re.M)
    while found := expression.search(section, position):
        position = found.end()
        if found[1]:
            comment, end_of_comment = found[1], found.end()
            continue
        declaration = found[0]
        if re.match(r"(struct|enum) \w+ \{", declaration):
            position = section.index("\n};", found.start()) + 3
            declaration = section[found.start():position]
        adjacent = comment if section[end_of_comment:found.start()] == "\n" else None
        yield adjacent, re.sub(r"\n\};$", "\n}", declaration)


def write_overview(folder, name, header, version, date, comment):
    out, body = [], []
    lines = lines_of(comment)
    about = re.match(r"\w+\.h: the public header of \w+, (?:which )?([^.]*)", lines[0])[1]
    for line in lines[1:]:
        if re.match(r"[A-Z][a-z]+(, version 1)?$", line):
            out += paragraphs(body) + [f".SH {line.upper()}"]
            body = []
        else:
            body.append(line)
    out += paragraphs(body)
    head = [f".TH {name.upper()} 3 \"{date}\" \"idx {version}\" \"{name}\"", ".SH NAME", f"{name} \\- {escape(about)}"]
    head += [".SH SYNOPSIS", ".nf", f"#include <{header}>", ".fi", ".PP", link_with(name)]
    head.append(".SH DESCRIPTION\nThis page lists all calls, and says what they have in common.")
    links = ".SH SEE ALSO\n\\fBidx\\fR(1),\n\\fBidx\\-recipes\\fR(7)"
    (folder / f"{name}.3").write_text(finish([*head, *out, links]))


def check_list(header, comment, calls):
    """The comment at the top lists all calls, in the order in which they are declared."""
    listed = re.findall(r"^ \*   (idx_\w+) ", comment, re.M)
    if listed != calls:
        sys.exit(f"{header}: the list of calls at its top is {listed}, and those that it declares are {calls}")


def main(header, library, version, date, folder):
    header, folder = pathlib.Path(header), pathlib.Path(folder)
    text = header.read_text()
    top, *rest = re.split(r"^/\* ---- (.*?) -+ \*/\n", text, flags=re.M)
    pages = []
    for group, section in zip(rest[::2], rest[1::2]):
        page = Page(group)
        for comment, declaration in items(section.split("#ifdef __cplusplus")[0]):
            page.add(comment, declaration, text)
        pages.append(page)
    comment = re.match(COMMENT, top, re.S)[0]
    if not pages[-1].calls:  # definitions, which the page of the header ends with
        comment = comment.removesuffix(" */") + " *\n" + re.search(COMMENT, rest[-1], re.S)[0].removeprefix("/*\n")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    for page in pages:
        page.write(folder, header.name, library, version, date)
    check_list(header, comment, [call for page in pages for call in page.calls])
    write_overview(folder, library, header.name, version, date, comment)


main(*sys.argv[1:])
