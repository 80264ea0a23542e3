"""Reads the public declarations of latchkey's headers and their `///` comments.

The headers are formatted by clang-format and follow the house rules, so a scanner of tokens and
scopes is enough: it needs no compiler. `read(text)` returns the declarations in their order.
"""

import re
from dataclasses import dataclass, field

from scanner import Scanner, is_access, without_attributes, without_template

TYPES = re.compile(
    r"^(?:template\s*<.*?>\s*)?(?:requires\s*\(.*?\)\s*)?"
    r"(?P<kind>class|struct|enum class|enum|union)\s+"
    r"(?:\[\[.*?\]\]\s*)*(?P<name>[A-Za-z_]\w*)?", re.S)


@dataclass
class Declaration:
    """A type, function, variable, alias, enumerator or macro."""

    kind: str  # class, struct, enum, function, variable, alias, enumerator, macro
    name: str
    signature: str
    doc: str = ""
    access: str = "public"
    line: int = 0
    blank_before: bool = True  # an empty line or a comment separates it from the one before
    members: list["Declaration"] = field(default_factory=list)
    note: str = ""  # the `///<` comment of a function: belongs to its signature


def clean(signature: str) -> str:
    """A declaration as the reference shows it: without attributes, body and initializer list."""
    text = without_attributes(signature)
    text = re.sub(r"\bLATCHKEY_DETAIL_\w+\s*", "", text)
    constructor = re.search(r"\)\s*(?:noexcept\s*)?(:)[^:]", text)
    if constructor:
        text = text[:constructor.start(1)]
    return re.sub(r"[ \t]+\n", "\n", text).strip()


def name_of(declaration: str) -> str:
    """The name that a function, variable or alias declares."""
    head = without_attributes(without_template(declaration))
    if match := re.match(r"using\s+([\w:]+)\s*;?(?:=|$)?", head):
        return match.group(1).split("::")[-1]
    head = re.sub(r"\bnoexcept\(.*?\)", "", head)
    if match := re.search(r"\b(operator\s*(?:\(\)|[^\s\w(]+|\w+))\s*\(", head):
        return match.group(1).replace(" ", "")
    head = re.split(r"\s*[={]", strip_angles(head))[0]
    if match := re.search(r"(~?\w+)\s*\(", head):
        return match.group(1)
    names = re.findall(r"\w+", re.sub(r"\[.*?\]", "", head))
    return names[-1] if names else ""


def strip_angles(text: str) -> str:
    while (shorter := re.sub(r"<[^<>()]*>", "", text)) != text:
        text = shorter
    return text


def is_function(declaration: str) -> bool:
    head = without_attributes(without_template(declaration))
    return bool(re.search(r"\boperator\b", head)) or "(" in re.split(r"[={]", strip_angles(head))[0]


class Reader:
    """Turns the statements of one header into declarations."""

    def __init__(self, text: str):
        self.scanner = Scanner(text)
        self.found: list[Declaration] = []

    def read(self) -> list[Declaration]:
        self.scope(self.found, "public", hidden=False)
        return self.found

    def scope(self, into: list[Declaration], access: str, hidden: bool, enum: bool = False) -> None:
        scanner = self.scanner
        while True:
            scanner.skip_blanks()
            if scanner.at >= len(scanner.text):
                return
            if scanner.text[scanner.at] == "}":
                scanner.at += 1
                return
            if scanner.text.startswith("///<", scanner.at):
                self.trailing(into)
            elif scanner.text[scanner.at] == "#":
                self.macro(into, hidden)
            elif enum:
                self.enumerator(into)
            else:
                access = self.declaration(into, access, hidden)

    def take_doc(self) -> tuple[str, bool]:
        doc, blank = "\n".join(self.scanner.doc), self.scanner.blank
        self.scanner.doc, self.scanner.blank = [], False
        return doc, blank

    def trailing(self, into: list[Declaration]) -> None:
        """`///< text` describes the declaration before it; `//` lines below may continue it."""
        text = self.scanner.rest_of_line()[4:].strip()
        if into and into[-1].kind == "function":
            into[-1].note = text
        elif into:
            into[-1].doc = text

    def macro(self, into: list[Declaration], hidden: bool) -> None:
        line = self.scanner.line()
        text = self.scanner.directive()
        doc, _ = self.take_doc()
        match = re.match(r"#define\s+(\w+)(\([^)]*\))?", text)
        if match and doc and not hidden:
            parameters = (match.group(2) or "").replace("LATCHKEY_key", "key")
            into.append(Declaration("macro", match.group(1), match.group(1) + parameters, doc,
                                    line=line))

    def enumerator(self, into: list[Declaration]) -> None:
        scanner = self.scanner
        doc, blank = self.take_doc()
        match = re.compile(r"(\w+)(\s*=\s*[^,}/]+)?\s*,?").match(scanner.text, scanner.at)
        if not match:
            raise ValueError(f"line {scanner.line()}: not an enumerator")
        line = scanner.line()
        scanner.at = match.end()
        into.append(Declaration("enumerator", match.group(1), match.group(0).rstrip(", "), doc,
                                line=line, blank_before=blank))

    def declaration(self, into: list[Declaration], access: str, hidden: bool) -> str:
        scanner = self.scanner
        line = scanner.line()
        text, end = scanner.statement()
        scanner.at += 1
        if end == ":" and is_access(text):
            self.take_doc()
            scanner.blank = True
            return text
        doc, blank = self.take_doc()
        if end == "{" and (match := re.match(r"(?:inline\s+)?namespace\b\s*(.*)", text)):
            inner = hidden or bool(re.search(r"\b(detail|contract)\b", match.group(1)))
            self.scope(into, "public", inner or not match.group(1))
            return access
        head = without_attributes(without_template(text))
        kind = TYPES.match(head)
        if end == "{" and kind:
            self.type(into, text, kind, (doc, blank, access, line), hidden)
            return access
        if end == "{":
            scanner.at -= 1
            scanner.balanced()
        if not hidden and self.is_shown(text, head, doc):
            into.append(Declaration(kind_of(text), name_of(text), clean(text), doc, access, line,
                                    blank))
        return access

    @staticmethod
    def is_shown(text: str, head: str, doc: str) -> bool:
        if not text or head.startswith(("static_assert", "friend class", "extern template")):
            return False
        if re.match(r"(class|struct|enum)\b[^({=]*$", head):  # a forward declaration
            return False
        if re.match(r"template\s+(class|struct)\b|template\s*<>", text):
            return False
        special = "= delete" in text or "= default" in text or re.match(r"(virtual )?~", head)
        if (special or head.startswith("friend ")) and not doc:
            return False
        return not re.match(r"LATCHKEY_|INSTANTIATE_|MOCK_METHOD", head) or bool(doc)

    def type(self, into: list[Declaration], text: str, kind: re.Match, about: tuple,
             hidden: bool) -> None:
        doc, blank, access, line = about
        name = kind.group("name") or ""
        word = kind.group("kind").split()[0]
        inner: list[Declaration] = []
        first = "private" if word == "class" else "public"
        self.scope(inner, first, hidden, enum=word == "enum")
        scanner = self.scanner
        scanner.at = scanner.text.index(";", scanner.at) + 1
        if hidden or name in ("", "detail") or re.search(rf"\b{name}\s*<", clean(text)):
            return
        members = [each for each in inner if each.access != "private"]
        into.append(Declaration(word, name, clean(text), doc, access, line, blank, members))


def kind_of(text: str) -> str:
    head = without_attributes(without_template(text))
    if head.startswith("using "):
        return "alias"
    if re.match(r"concept\b", head):
        return "concept"
    return "function" if is_function(text) else "variable"


def read(text: str) -> list[Declaration]:
    """The public declarations of a header, outside of `detail` namespaces."""
    return Reader(text).read()
