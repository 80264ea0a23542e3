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
        if line.startswith("|") and out and is_continued_row(line):
            out[-1] = join_rows(out[-1], line)
        else:
            out.append(line if line.startswith("|") else escape(line))
    if example:
        out += ["```cpp", *"\n".join(example).rstrip().split("\n"), "```"]
    text = "\n".join(out).strip("\n")
    return re.sub(r"\bdocs/(\w+)\.md\b", r"[\1.md](../\1.md)", text)


def example_indented(doc: str) -> str:
    """The comment with what stands between \\code and \\endcode as an indented example."""
    def indent(match: re.Match) -> str:
        return "\n" + "".join(f"    {line}\n" for line in match.group(1).strip("\n").split("\n"))

    return re.sub(r"^\\code\n(.*?)^\\endcode$", indent, doc, flags=re.S | re.M)


def is_continued_row(line: str) -> bool:
    return line.split("|")[1].strip() == "" and set(line) - set("|-: ") != set()


def join_rows(row: str, more: str) -> str:
    first, second = row.strip("|").split("|"), more.strip("|").split("|")
    if len(first) != len(second):
        raise ValueError(f"a table row has other columns than the row before: {more}")
    cells = (f"{a.strip()} {b.strip()}".strip() for a, b in zip(first, second))
    return "| " + " | ".join(cells) + " |"


def escape(line: str) -> str:
    """Outside of `code`: characters that Markdown would read as markup."""
    parts = re.split(r"(`[^`]*`)", line)
    for at in range(0, len(parts), 2):
        parts[at] = parts[at].replace("<", "&lt;")
        parts[at] = re.sub(r"(?<=\S)\*|\*(?=\S)", r"\\*", parts[at])
    return "".join(parts)


def link_names(text: str, anchors: dict[str, str], page: str) -> str:
    """Qualified names such as Locks::connect become links, except in code blocks and headings."""
    def link(match: re.Match) -> str:
        name = match.group("name")
        target = anchors.get(name) or anchors.get(name.removeprefix("latchkey::"))
        if not target:
            return match.group()
        file, anchor = target.split("#")
        return f"[`{match.group('text')}`]({'' if file == page else file}#{anchor})"

    name = r"(?P<name>(?:\w+::)+\w+)"
    bare = name.replace("?P<name>", "?P<bare>")
    pattern = re.compile(rf"(?P<tick>`)(?P<text>{name}(?:\(\))?)`"
                         rf"|(?<![\w:`\[/<]){bare}(?![\w:`])")

    def replace(match: re.Match) -> str:
        if match.group("tick"):
            return link(match)
        target = anchors.get(match.group("bare"))
        if not target:
            return match.group()
        file, anchor = target.split("#")
        return f"[`{match.group('bare')}`]({'' if file == page else file}#{anchor})"

    fenced = False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith(("```", "#", "`#include")):
            parts = re.split(r"(`[^`]*`)", line)
            lines[at] = "".join(pattern.sub(replace, part) for part in parts)
    return "\n".join(lines)
