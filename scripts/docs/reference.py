"""Makes the reference of the site from the `///` comments of include/latchkey."""

import pathlib
import re
import textwrap

from headers import Declaration, read
from markdown_text import link_names, prose
from topics import HIDDEN, INTERNAL, TOPICS

TYPE_KINDS = ("class", "struct", "enum")


class Reference:
    """All declarations of the shown headers, and where each is described."""

    def __init__(self, include: pathlib.Path):
        self.declarations: dict[str, list[Declaration]] = {}
        self.anchors: dict[str, str] = {}  # "Locks::connect" -> "locks.md#locks-connect"
        self.errors: list[str] = []
        for path in sorted(include.rglob("*.hpp")):
            name = path.relative_to(include).as_posix()
            self.declarations[name] = read(path.read_text())
        self.check_topics()

    def check_topics(self) -> None:
        shown = {header for topic in TOPICS for header in topic.headers}
        for header in shown - self.declarations.keys():
            self.errors.append(f"scripts/docs/topics.py: no header '{header}'")
        for header, declarations in self.declarations.items():
            internal = any(header == each or each.endswith("/") and header.startswith(each)
                           for each in INTERNAL)
            if header not in shown and not internal and any(each.doc for each in declarations):
                self.errors.append(f"include/latchkey/{header}: not in scripts/docs/topics.py; "
                                   "expected in a topic or in INTERNAL")
        for topic in TOPICS:
            for header, names in topic.headers.items():
                known = {each.name for each in self.declarations.get(header, [])}
                for name in sorted((names or set()) - known):
                    self.errors.append(f"scripts/docs/topics.py: {header} declares no '{name}'")

    def shown(self, header: str, names: set[str] | None) -> list[Declaration]:
        return [each for each in self.declarations[header]
                if (names is None or each.name in names) and "DETAIL" not in each.name]

    def pages(self) -> dict[str, str]:
        pages = [Page(self, topic) for topic in TOPICS]
        bodies = [page.body() for page in pages]  # fills `anchors`
        result = {f"{page.topic.file}.md": link_names(body, self.anchors, f"{page.topic.file}.md")
                  for page, body in zip(pages, bodies)}
        result["index.md"] = self.index(pages)
        return result

    @staticmethod
    def index(pages: list["Page"]) -> str:
        lines = ["# Reference", "",
                 "These pages are generated from the comments of the public headers. Everything "
                 "is in namespace `latchkey`, and the testing kit in `latchkey::testing`.",
                 "`#include <latchkey/latchkey.hpp>` includes all except backends, keys by hand, "
                 "adapters and the testing kit.", "", "| page | declares |", "|---|---|"]
        for page in pages:
            names = ", ".join(f"[`{name}`]({page.topic.file}.md#{anchor})"
                              for name, anchor in page.entries)
            lines.append(f"| [{page.topic.title}]({page.topic.file}.md) | {names} |")
        return "\n".join(lines) + "\n"


class Page:
    """One topic as Markdown."""

    def __init__(self, reference: Reference, topic):
        self.reference = reference
        self.topic = topic
        self.used: dict[str, int] = {}
        self.entries: list[tuple[str, str]] = []
        self.lines: list[str] = []

    def body(self) -> str:
        self.lines = [f"# {self.topic.title}", "", self.topic.intro, ""]
        for header, names in self.topic.headers.items():
            for group in groups(self.reference.shown(header, names)):
                self.top_level(header, group)
        return "\n".join(self.lines) + "\n"

    def heading(self, level: int, text: str, scope: str, name: str) -> str:
        """Adds a heading with an anchor of its own, and returns the anchor."""
        anchor = re.sub(r"[^a-z0-9]+", "-", f"{scope} {spelled(name)}".lower()).strip("-")
        count = self.used[anchor] = self.used.get(anchor, 0) + 1
        anchor += f"-{count}" if count > 1 else ""
        self.lines += [f"{'#' * level} {text} {{#{anchor}}}", ""]
        full = f"{scope.replace(' ', '::')}::{name}" if scope else name
        self.reference.anchors.setdefault(full, f"{self.topic.file}.md#{anchor}")
        return anchor

    def top_level(self, header: str, group: list[Declaration]) -> None:
        first = group[0]
        name, usage, doc = first.name, "", first.doc
        if first.kind == "macro":
            name, usage, doc = macro_parts(first)
        anchor = self.heading(2, f"`{name}`", "", name)
        if name not in [each for each, _ in self.entries]:
            self.entries.append((name, anchor))
        if usage:
            self.lines += ["```cpp", usage, "```", "", f"`{first.name}`"]
        else:
            self.code(group)
        self.lines += [f"`#include <latchkey/{header}>`", "{ .header }", ""]
        self.doc(doc)
        if first.kind in TYPE_KINDS:
            self.members(first, first.name)

    def members(self, of: Declaration, scope: str) -> None:
        members = [each for each in of.members if each.name not in HIDDEN.get(of.name, set())]
        if of.kind == "enum":
            self.table([(f"`{each.name}`", each.doc) for each in members], "value")
            return
        variables = [each for each in members if each.kind == "variable"]
        self.table([(f"`{' '.join(each.signature.split())}`", each.doc) for each in variables],
                   "member")
        for each in variables:
            self.reference.anchors.setdefault(full_name(scope, each),
                                              self.reference.anchors[scope.replace(" ", "::")])
        others = [each for each in members if each.kind != "variable" and not copies(each, of)]
        all_groups = groups(others)
        plain = [each for group in all_groups if not group[0].doc
                 and group[0].kind not in TYPE_KINDS for each in group]
        if plain:
            self.code(plain)
            for each in plain:
                self.reference.anchors.setdefault(full_name(scope, each),
                                                  self.reference.anchors[scope.replace(" ", "::")])
        before = ""
        for group in all_groups:
            if group[0] not in plain:
                self.member(group, scope, names_of(group) == before)
                before = names_of(group)

    def member(self, group: list[Declaration], scope: str, is_overload: bool) -> None:
        """An overload stands below the heading of the one before it."""
        first = group[0]
        if not is_overload:
            self.heading(3, names_of(group), scope, first.name)
        for each in group[1:]:
            self.reference.anchors.setdefault(full_name(scope, each),
                                              self.reference.anchors[full_name(scope, first)])
        self.code(group)
        if first.access == "protected":
            self.lines += ["*Protected.*", ""]
        self.doc(first.doc)
        if first.kind in TYPE_KINDS:
            self.members(first, f"{scope} {first.name}")

    def code(self, group: list[Declaration]) -> None:
        self.lines += ["```cpp"]
        for each in group:
            end = "" if each.kind == "macro" else ";"
            end += f"  // {each.note}" if each.note else ""
            text = each.signature
            if each.kind == "enum" and not any(member.doc for member in each.members):
                names = ", ".join(member.name for member in each.members)
                text = "\n".join(textwrap.wrap(f"{text} {{ {names} }}", 90,
                                               subsequent_indent="    "))
                self.lines.append(text + end)
                continue
            self.lines.append(dedent(text) + end)
        self.lines += ["```", ""]

    def table(self, rows: list[tuple[str, str]], head: str) -> None:
        if not any(doc for _, doc in rows):
            rows = [] if head == "value" else rows
        if not rows:
            return
        if not any(doc for _, doc in rows):
            self.lines += ["```cpp", *[f"{name.strip('`')};" for name, _ in rows], "```", ""]
            return
        self.lines += [f"| {head} | meaning |", "|---|---|"]
        for name, doc in rows:
            text = " ".join(prose(doc).split())
            self.lines.append(f"| {cell(name)} | {cell(text)} |")
        self.lines.append("")

    def doc(self, text: str) -> None:
        if text:
            self.lines += [prose(text), ""]


def copies(member: Declaration, of: Declaration) -> bool:
    """Whether an undocumented member copies or moves, or inherits constructors: nothing to say."""
    same = rf"(?:const )?{of.name}&&?(?: \w+)?"
    return not member.doc and bool(
        member.kind == "alias" and re.fullmatch(r"using \w+(::\w+)+", member.signature)
        or re.fullmatch(rf"(?:{of.name}|{of.name}& operator=)\({same}\)(?: noexcept)?",
                        member.signature))


def full_name(scope: str, declaration: Declaration) -> str:
    return f"{scope.replace(' ', '::')}::{declaration.name}"


def names_of(group: list[Declaration]) -> str:
    """The different names of a group, as a heading."""
    names = dict.fromkeys(
        f"`{each.name}`" if each.kind != "function" or each.name.startswith("operator")
        else f"`{each.name}()`" for each in group)
    return ", ".join(names)


def macro_parts(macro: Declaration) -> tuple[str, str, str]:
    """A macro's short name, how it is used, and what its comment says after that.

    A comment such as `LOCKED(key): see Locked.` begins with the use. A macro whose comment does not
    has no short name.
    """
    name = macro.name.removeprefix("LATCHKEY_")
    match = re.match(r"(.*?[)}])(?:: |\n\n)(.*)", macro.doc, re.S)
    if not match or f"{name}(" not in match.group(1) or macro.name in match.group(1):
        return macro.name, "", macro.doc
    rest = match.group(2)
    return name, match.group(1), rest[:1].upper() + rest[1:]


def spelled(name: str) -> str:
    """A name for an anchor: operators as words."""
    words = {"operator()": "call", "operator|": "or", "operator*": "dereference",
             "operator->": "arrow", "operator++": "increment", "operator=": "assign"}
    return words.get(name, name)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def dedent(signature: str) -> str:
    """The indentation of continued lines, relative to the first one."""
    lines = signature.split("\n")
    rest = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    least = min(rest, default=0)
    first = re.match(r"template|requires", lines[0])
    shift = 0 if first else 4
    return "\n".join([lines[0]] + [" " * shift + line[least:] for line in lines[1:]])


def groups(declarations: list[Declaration]) -> list[list[Declaration]]:
    """Declarations that one comment describes: the later ones follow without an empty line.

    Overloads of one name that a comment of their own describes stay by themselves.
    """
    result: list[list[Declaration]] = []
    for each in declarations:
        joins = (result and not each.doc and not each.blank_before
                 and each.kind not in TYPE_KINDS and each.kind != "macro"
                 and each.access == result[-1][0].access
                 and (result[-1][0].kind == each.kind or result[-1][0].kind in TYPE_KINDS))
        if joins and result[-1][0].kind in TYPE_KINDS and each.kind != "variable":
            joins = False
        if joins and each.name != result[-1][0].name and (
                each.signature.startswith("template") or each.signature.endswith("override")):
            joins = False  # a function of another kind: the comment is not about it
        if joins:
            result[-1].append(each)
        else:
            result.append([each])
    return result
