"""Makes the reference of the site from the XML that Doxygen writes about include/latchkey."""

import pathlib
import re
import shutil
import subprocess
import textwrap
import tomllib
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).parent
# A comment with one of these warnings would lose words on its page.
LOST = re.compile(r"Unsupported xml/html tag|end of comment block|explicit link|found </")
TYPES = ("class", "struct", "enum", "concept")
BLOCKS = ("para", "programlisting", "preformatted", "verbatim", "itemizedlist", "orderedlist",
          "table", "simplesect")
WORDS = {"()": "call", "|": "or", "*": "dereference", "->": "arrow", "++": "increment",
         "=": "assign"}


@dataclass
class Entry:
    """A type, function, variable, alias, concept or macro."""

    kind: str
    name: str
    full_name: str
    header: str
    begin: int  # its lines in the header
    end: int
    is_protected: bool
    doc: str
    signature: str
    values: list[list[str]]  # of an enumeration: name and meaning
    members: list["Entry"] = field(default_factory=list)


def escape(text: str | None) -> str:
    text = (text or "").replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_")
    return re.sub(r"\bdocs/([\w-]+)\.md\b", r"[\1.md](../\1.md)", text)


def inline(node: xml.Element) -> str:
    """The text of an element as Markdown; a name that a page may describe becomes <<id|name>>."""
    text, ref = "".join(node.itertext()), node if node.tag == "ref" else node.find("ref")
    if node.tag == "ref" and not re.search(r"::|\(\)", text):
        return escape(text)
    if node.tag in ("computeroutput", "ref"):
        linked = ref is not None and "".join(ref.itertext()) == text
        return f"<<{ref.get('refid')}|`{text}`>>" if linked else f"`{text}`"
    mark = {"bold": "**", "emphasis": "*"}.get(node.tag, "")
    text = escape(node.text) + "".join(inline(each) + escape(each.tail) for each in node)
    return f"[{text}]({node.get('url')})" if node.tag == "ulink" else f"{mark}{text}{mark}"


def markdown(node: xml.Element | None) -> str:
    """The paragraphs, examples, lists and tables of a description as Markdown."""
    if node is None:
        return ""
    if node.tag in ("programlisting", "preformatted", "verbatim"):
        for space in node.iter("sp"):
            space.text = " "
        lines = ["".join(line.itertext()) for line in node.iter("codeline")] or [node.text or ""]
        return f"```cpp\n{textwrap.dedent(chr(10).join(lines)).rstrip()}\n```"
    if node.tag in ("itemizedlist", "orderedlist"):
        return "\n".join("* " + markdown(item).replace("\n", "\n    ") for item in node)
    if node.tag == "table":
        return table([[" ".join(markdown(cell).split()) for cell in row] for row in node])
    is_text = node.tag == "para"
    out, text = [], escape(node.text) if is_text else ""
    for each in node:
        if each.tag in BLOCKS:
            out += [text.strip(), markdown(each)]
            text = ""
        elif is_text:
            text += inline(each)
        text += escape(each.tail) if is_text else ""
    return "\n\n".join(filter(None, [*out, text.strip()]))


def table(rows: list[list[str]]) -> str:
    """A table; a row whose first cell is empty continues the row before it."""
    joined: list[list[str]] = []
    for row in rows:
        if joined and (not row[0] or joined[-1][0].endswith(",")):
            row = [f"{a} {b}".strip() for a, b in zip(joined.pop(), row)]
        joined.append(row)
    joined.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
                     for row in joined)


def doc_of(node: xml.Element) -> str:
    return "\n\n".join(filter(None, (markdown(node.find(part)) for part in
                                     ("briefdescription", "detaileddescription"))))


def spelled(node: xml.Element, part: str) -> str:
    """A part of a declaration in one line, without attributes, as clang-format would write it."""
    found = node.find(part)
    text = " ".join("".join(found.itertext()).split()) if found is not None else ""
    text = re.sub(r"\[\[.*?\]\]\s*|(?<=<) | (?=>)|(?<=\d) (?=')", "", text)
    text = re.sub(r" (&&?|\*+)(?=[,>]|$)", r"\1", text.replace("&&...", "&&... "))
    return re.sub(r" (&&?|\*+) ?(?=[\w.])", r"\1 ", text)


def template_of(node: xml.Element) -> str:
    params = [f"{spelled(each, 'type')} {spelled(each, 'declname')}".strip() +
              (f" = {spelled(each, 'defval')}" if each.find("defval") is not None else "")
              for each in node.findall("templateparamlist/param")]
    requires = spelled(node, "requiresclause")
    return (f"template <{', '.join(params)}>\n" if params else "") + \
        (f"  requires {requires}\n" if requires else "")


def signature(node: xml.Element, kind: str, name: str) -> str:
    if kind in ("class", "struct"):
        bases = [f"{each.get('prot')} {each.text.removeprefix('latchkey::')}"
                 for each in node.findall("basecompoundref") if "detail::" not in each.text]
        return template_of(node) + f"{kind} {name}" + (f" : {', '.join(bases)}" if bases else "")
    if kind == "define":
        names = [spelled(each, "defname") for each in node.findall("param")]
        return f"{name}({', '.join(names)})" if names else name
    if kind == "typedef":
        return f"{template_of(node)}using {name} = {spelled(node, 'type')}"
    if kind == "concept":
        return spelled(node, "initializer").replace(node.findtext("compoundname"), name)
    if kind == "enum":
        values = ", ".join(each.findtext("name") for each in node.iter("enumvalue"))
        return f"enum class {name}" + ("" if doc_of(node.find("enumvalue")) else f" {{ {values} }}")
    words = [word for word in ("static", "explicit") if node.get(word) == "yes"]
    words += ["virtual"] if node.get("virt", "non-virtual") != "non-virtual" else []
    rest = re.sub(r"(?<=[\w\])>])=(?=[\w{:\[\"-])", " = ", spelled(node, "argsstring"))
    value = spelled(node, "initializer") if kind == "variable" else ""
    if value and len(value) < 90:
        rest += value if value.startswith("{") else f" {value}"
    return template_of(node) + " ".join(filter(None, [*words, spelled(node, "type"), name + rest]))


def is_hidden(node: xml.Element, kind: str, name: str, is_documented: bool) -> bool:
    """What no user calls: private, made by the compiler, or about types of namespace `detail`."""
    if node.get("prot") == "private" or kind == "friend" or "<" in name or "DETAIL" in name:
        return True
    rest = spelled(node, "argsstring")
    types = rest if kind == "function" else spelled(node, "type") + spelled(node, "initializer")
    if not is_documented and node.get("prot") == "protected":
        return True
    return not is_documented and kind not in TYPES and (
        name.startswith("~") or kind in ("define", "typedef")
        or "detail::" in types or bool(re.search(r"= ?(delete|default)$", rest)))


class Headers:
    """The declarations of each header, from the XML of Doxygen."""

    def __init__(self, include: pathlib.Path, out: pathlib.Path):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        paths = f"INPUT={include}\nSTRIP_FROM_PATH={include}\nOUTPUT_DIRECTORY={out}\n"
        run = subprocess.run(["doxygen", "-"], input=(HERE / "Doxyfile").read_text() + paths,
                             capture_output=True, text=True, check=True)
        self.errors = [line for line in run.stderr.splitlines() if LOST.search(line)]
        self.entries: dict[str, list[Entry]] = {}
        self.full_names: dict[str, str] = {}  # of the ids of Doxygen
        self.compounds = {each.get("id"): each for path in sorted(out.glob("xml/*.xml"))
                          for each in xml.fromstring(path.read_text().replace("&amp;zwj;", "")).iter("compounddef")}
        inner = {each.get("refid") for of in self.compounds.values() if of.get("kind") in TYPES
                 for each in of.findall("innerclass")}
        for key, compound in self.compounds.items():
            kind = compound.get("kind")
            nodes = [compound] if kind in TYPES and key not in inner else [
                node for node in compound.iter("memberdef") if kind == "namespace"
                or kind == "file" and node.get("kind") == "define"]
            for entry in filter(None, map(self.entry, nodes)):
                self.entries.setdefault(entry.header, []).append(entry)
        for entries in self.entries.values():
            entries.sort(key=lambda each: each.begin)

    def entry(self, node: xml.Element) -> Entry | None:
        kind, where = node.get("kind"), node.find("location")
        full = node.findtext("qualifiedname") or node.findtext("compoundname") or node.findtext("name")
        name, doc = full.split("::")[-1], doc_of(node)
        if is_hidden(node, kind, name, bool(doc)):
            return None
        for each in [node, *node.findall("enumvalue")]:
            self.full_names[each.get("id")] = full
        begin = int(where.get("declline") or where.get("line"))
        end = begin if where.get("declline") else max(begin, int(where.get("bodyend") or 0))
        values = [[f"`{each.findtext('name')}`", doc_of(each)] for each in node.findall("enumvalue")]
        nodes = node.findall("sectiondef/memberdef") + [
            self.compounds[each.get("refid")] for each in node.findall("innerclass")]
        members = sorted(filter(None, map(self.entry, nodes)), key=lambda each: each.begin)
        return Entry(kind, name, full, where.get("file"), begin, end, node.get("prot") == "protected",
                     doc, signature(node, kind, name), values, members)


class Reference:
    """The pages of the reference, as Markdown."""

    def __init__(self, include: pathlib.Path, out: pathlib.Path):
        self.include = include
        self.headers = Headers(include, out)
        self.topics = tomllib.loads((HERE / "topics.toml").read_text())["topic"]
        self.anchors: dict[str, str] = {}  # "latchkey::Locks::connect" -> "locks.md#locks-connect"
        self.errors = self.headers.errors
        named = {f"{header}.hpp" for topic in self.topics for header in topic["headers"]}
        self.errors += [f"include/latchkey/{header}: on no page of the reference; name it in "
                        "scripts/docs/topics.toml or move it to include/latchkey/detail"
                        for header, entries in self.headers.entries.items()
                        if header not in named and any(each.doc for each in entries)]

    def pages(self) -> dict[str, str]:
        pages = [Page(self, topic) for topic in self.topics]
        index = ["# Reference", "", "After this page you can find each public name. The pages are made "
                 "from the comments of the public headers; everything is in namespace `latchkey`, "
                 "the strategies in `latchkey::strategy`, the testing kit in `latchkey::testing`. `#include <latchkey/latchkey.hpp>` includes "
                 "all except backends, keys by hand, adapters and the testing kit.", ""]
        for page in pages:
            names = (f"[`{name}`]({page.file}#{anchor})" for name, anchor in page.names.items())
            index += [f"## [{page.title}]({page.file})", "", ", ".join(names), ""]
        return {"index.md": "\n".join(index)} | {page.file: self.linked(page) for page in pages}

    def linked(self, page: "Page") -> str:
        def link(match: re.Match) -> str:
            name = self.headers.full_names.get(match[1], "")
            is_other = match[2].endswith("()`") and not match[2].endswith(name.split("::")[-1] + "()`")
            target = self.anchors.get(name) if not is_other else None
            return f"[{match[2]}]({target.removeprefix(page.file)})" if target else match[2]

        return re.sub(r"<<(\w+)\|(.*?)>>", link, "\n".join(page.lines))

    def groups(self, entries: list[Entry], is_top: bool) -> list[list[Entry]]:
        """Declarations that one comment describes: the later ones follow without an empty line."""
        result: list[list[Entry]] = []
        for each in entries:
            last = result[-1][-1] if result else None
            joins = last and not each.doc and each.is_protected == last.is_protected and (
                each.kind == last.kind or each.kind == "variable" and last.kind in TYPES)
            if joins and last.end < each.begin - 1:
                between = (self.include / each.header).read_text().split("\n")[last.end:each.begin - 1]
                joins = not any(re.match(r"\s*(//|$)", line) for line in between)
            if joins:
                result[-1].append(each)
            elif each.doc or not is_top or each.kind in TYPES or last and each.name == last.name:
                result.append([each])
        return result


class Page:
    """One topic as Markdown."""

    def __init__(self, reference: Reference, topic: dict):
        self.reference = reference
        self.title = topic["title"]
        self.file = f"{topic['file']}.md"
        self.used: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.lines = [f"# {topic['title']}", "", f"After this page you can use these names. {topic['intro']}",
                      ""]
        for header in topic["headers"]:
            for group in reference.groups(reference.headers.entries.get(f"{header}.hpp", []), True):
                self.group(group, "", "")

    def heading(self, group: list[Entry], scope: str) -> str:
        names = dict.fromkeys(f"`{each.name}()`" if scope and each.kind == "function" and
                              not each.name.startswith("operator") else f"`{each.name}`"
                              for each in group)
        name = group[0].name.removeprefix("operator")
        anchor = re.sub(r"\W+|_", "-", f"{scope} {WORDS.get(name, group[0].name)}".lower()).strip("-")
        count = self.used[anchor] = self.used.get(anchor, 0) + 1
        anchor += f"-{count}" if count > 1 else ""
        self.lines += [f"{'###' if scope else '##'} {', '.join(names)} {{#{anchor}}}", ""]
        return anchor

    def group(self, group: list[Entry], scope: str, anchor: str) -> str:
        """Adds declarations that one comment describes; those with an anchor stand below it."""
        first, usage = group[0], ""
        short = first.name.removeprefix("LATCHKEY_")
        match = re.match(r"(.*?[)}])(?:: |\n\n)(.*)", first.doc, re.S)
        if first.kind == "define" and match and short in match[1].split("LATCHKEY_")[0]:
            usage, first.doc = re.sub(r"[`\\]", "", match[1]), match[2][:1].upper() + match[2][1:]
            first.name = short
        anchor = anchor or self.heading(group, scope)
        for each in group:
            self.reference.anchors.setdefault(each.full_name, f"{self.file}#{anchor}")
        self.code([usage] if usage else map(wrapped, group))
        if not scope:
            for each in group:
                if each.kind in TYPES or each is first:
                    self.names.setdefault(each.name, anchor)
            self.lines += [f"`LATCHKEY_{short}`"] if usage else []
            self.lines += [f"`#include <latchkey/{first.header}>`", "{ .header }", ""]
        self.lines += ["*Protected.*\n"] if first.is_protected else []
        self.lines += [first.doc, ""]
        if any(doc for _, doc in first.values):
            self.list(first.values)
        self.members(first.members, f"{scope} {first.name}".strip(), anchor)
        return anchor

    def members(self, members: list[Entry], scope: str, anchor: str) -> None:
        variables = [each for each in members if each.kind == "variable"]
        if any(each.doc for each in variables):
            self.list([[f"`{each.signature}`", each.doc] for each in variables])
        elif variables:
            self.code(map(wrapped, variables))
        groups = self.reference.groups([each for each in members if each not in variables], False)
        plain = [each for group in groups if not group[0].doc and group[0].kind not in TYPES
                 for each in group]
        if plain:
            self.code(map(wrapped, plain))
        for each in [*variables, *plain]:
            self.reference.anchors.setdefault(each.full_name, f"{self.file}#{anchor}")
        before, below = "", ""
        for group in groups:
            if group[0] not in plain:
                below = self.group(group, scope, below if group[0].name == before else "")
                before = group[0].name

    def list(self, rows: list[list[str]]) -> None:
        self.lines += [f"* {name}" + (": " + doc.replace("\n", "\n    ") if doc else "")
                       for name, doc in rows] + [""]

    def code(self, lines) -> None:
        self.lines += ["```cpp", *lines, "```", ""]


def wrapped(entry: Entry) -> str:
    """A declaration in lines of at most 90 columns, which end after a comma if one can."""
    lines = []
    for line in (entry.signature + ("" if entry.kind == "define" else ";")).split("\n"):
        glued = re.sub(r"(?<!,) ", "\0", line)
        parts = textwrap.wrap(glued, 90, subsequent_indent="    ", break_long_words=False,
                              break_on_hyphens=False)
        lines += [part.replace("\0", " ") for part in parts or [""]]
    return "\n".join(lines)
