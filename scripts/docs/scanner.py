"""Splits a C++ header into statements, with the `///` comments before them."""

import re

LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'')


class Scanner:
    """Splits one header into statements. A statement ends at `;`, or at the `{` of a body."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.doc: list[str] = []
        self.blank = True

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def skip_blanks(self) -> None:
        """Passes white space and comments; collects the `///` lines before a declaration."""
        while self.at < len(self.text):
            if self.text.startswith("///<", self.at):
                return
            if self.text.startswith("///", self.at):
                self.doc.append(self.rest_of_line()[3:].removeprefix(" "))
                self.blank = True
            elif self.text.startswith("//", self.at):
                self.rest_of_line()
                self.doc = []
                self.blank = True
            elif self.text.startswith("/*", self.at):
                self.at = self.text.index("*/", self.at) + 2
            elif self.text.startswith("\n\n", self.at):
                self.doc = []
                self.blank = True
                self.at += 2
            elif self.text[self.at].isspace():
                self.at += 1
            else:
                return

    def rest_of_line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line = self.text[self.at:end]
        self.at = end
        return line

    def directive(self) -> str:
        """A preprocessor directive with its continued lines."""
        line = self.rest_of_line()
        while line.endswith("\\"):
            self.at += 1
            line += "\n" + self.rest_of_line()
        return line

    def balanced(self) -> str:
        """The bracketed text that begins here, with its brackets."""
        start = self.at
        depth = 0
        while self.at < len(self.text):
            length = self.token()
            word = self.text[self.at] if length == 1 else ""
            self.at += length
            depth += (word in tuple("([{")) - (word in tuple(")]}"))
            if depth == 0:
                return self.text[start:self.at]
        raise ValueError(f"line {self.line()}: a bracket is never closed")

    def token(self) -> int:
        """The length of the comment, literal or character that begins here."""
        rest = self.text[self.at:self.at + 2]
        if rest == "//":
            end = self.text.find("\n", self.at)
            return end - self.at
        if rest[0] in "\"'":
            literal = LITERAL.match(self.text, self.at)
            return len(literal.group()) if literal else 1
        return 1

    def statement(self) -> tuple[str, str]:
        """The text up to `;`, `{` of a scope or body, or `,` and `}` of an enumerator.

        Returns it with the character that ended it. Comments inside are left out.
        """
        parts: list[str] = []
        angle = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if self.text.startswith("//", self.at):
                self.rest_of_line()
            elif char in "([":
                parts.append(self.balanced())
            elif char == "{":
                if not braces_initialize("".join(parts)):
                    return "".join(parts).strip(), char
                parts.append(self.balanced())
            elif char in ";}":
                return "".join(parts).strip(), char
            elif char == ":" and is_access("".join(parts).strip()):
                return "".join(parts).strip(), char
            else:
                length = self.token()
                angle += (char == "<") - (char == ">")
                parts.append(self.text[self.at:self.at + length])
                self.at += length
        return "".join(parts).strip(), ""


def is_access(text: str) -> bool:
    return text in ("public", "protected", "private")


def without_template(text: str) -> str:
    """The declaration without `template <...>` and `requires (...)` before it."""
    text = text.strip()
    while text.startswith("template"):
        depth = 0
        for at in range(text.index("<"), len(text)):
            depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] != "-")
            if depth == 0:
                text = text[at + 1:].strip()
                break
    requires = re.match(r"requires\s*\(", text)
    if requires:
        text = text[matching(text, requires.end() - 1) + 1:].strip()
    return text


def matching(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text) - 1


def without_attributes(text: str) -> str:
    return re.sub(r"\[\[(?:[^\]\"]|\"(?:\\.|[^\"])*\"|\](?!\]))*\]\]\s*", "", text).strip()


def braces_initialize(before: str) -> bool:
    """Whether the `{` after this text begins a value rather than a body or a scope."""
    head = without_attributes(without_template(before))
    if re.match(r"(namespace|class|struct|enum|union|extern)\b", head) or not head:
        return False
    if head.endswith("=") or head.endswith("return"):
        return True
    if re.search(r"\boperator\b", head) or "(" in head:
        # `Foo(int a) : a_{a} {}`: a member's name before the brace, after a colon.
        colon = re.search(r"\)\s*(noexcept\s*)?:[^:]", head)
        return bool(colon) and bool(re.search(r"[\w>]$", head)) and not head.endswith(")")
    return True
