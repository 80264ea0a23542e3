"""Turns `///` comments into Markdown, and names in it into links."""

import re


def prose(doc: str) -> str:
    """A comment as Markdown: indented examples become code blocks, table rows are joined."""
    out: list[str] = []
    example: list[str] = []
    for line in example_indented(doc).split("\n") + [""]:
        if line.startswith("    ") and (example or not out or not out[-1].strip()):
            example.append(line[4:])
            continue
        if example and not line.strip():
            example.append("")
            continue
        if example:
            out += ["```cpp", *"\n".join(example).rstrip().split("\n"), "```", ""]
            example = []
        if line.startswith("|") and out and is_continued_row(line, out[-1]):
            out[-1] = join_rows(out[-1], line)
        else:
            out.append(line)
    if example:
        out += ["```cpp", *"\n".join(example).rstrip().split("\n"), "```"]
    text = escape("\n".join(out).strip("\n"))
    return re.sub(r"\bdocs/(\w+)\.md\b", r"[\1.md](../\1.md)", text)


def example_indented(doc: str) -> str:
    """The comment with what stands between \\code and \\endcode as an indented example."""
    def indent(match: re.Match) -> str:
        return "\n" + "".join(f"    {line}\n" for line in match.group(1).strip("\n").split("\n"))

    return re.sub(r"^\\code\n(.*?)^\\endcode$", indent, doc, flags=re.S | re.M)


def is_continued_row(line: str, before: str) -> bool:
    """Whether a row continues the one before: its first cell is empty, or that one's is open."""
    if not before.startswith("|") or set(line) - set("|-: ") == set():
        return False
    return line.split("|")[1].strip() == "" or before.split("|")[1].strip().endswith(",")


def join_rows(row: str, more: str) -> str:
    first, second = row.strip("|").split("|"), more.strip("|").split("|")
    if len(first) != len(second):
        raise ValueError(f"a table row has other columns than the row before: {more}")
    cells = (f"{a.strip()} {b.strip()}".strip() for a, b in zip(first, second))
    return "| " + " | ".join(cells) + " |"


def escape(text: str) -> str:
    """Escapes what Markdown would read as markup, except in code blocks and in `code`."""
    parts = re.split(r"(^```cpp\n.*?^```$|`[^`]*`)", text, flags=re.S | re.M)
    for at in range(0, len(parts), 2):
        parts[at] = parts[at].replace("<", "&lt;").replace("__", "\\_\\_")
        parts[at] = re.sub(r"(?<!\*)((?<=\S)\*|\*(?=\S))(?!\*)", r"\\*", parts[at])
    return "".join(parts)


NAME = r"(?:\w+::)+\w+(?:\(\))?"


def link_names(text: str, anchors: dict[str, str], page: str) -> str:
    """Qualified names such as Locks::connect become links, except in code blocks and headings."""
    def link(match: re.Match) -> str:
        name = match.group().strip("`")
        plain = name.removesuffix("()")
        target = anchors.get(plain) or anchors.get(plain.removeprefix("latchkey::"))
        if not target:
            return match.group()
        file, anchor = target.split("#")
        return f"[`{name}`]({'' if file == page else file}#{anchor})"

    parts = re.split(r"(^```cpp\n.*?^```$|^#[^\n]*$|^`#include[^\n]*$)", text, flags=re.S | re.M)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(rf"`{NAME}`|`[^`]*`|(?<![\w:/]){NAME}(?![\w:(])", lambda match:
                           link(match) if re.fullmatch(rf"`?{NAME}`?", match.group())
                           else match.group(), parts[at])
    return "".join(parts)
