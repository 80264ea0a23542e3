#!/usr/bin/env python3
"""Builds the documentation site below build/docs.

    scripts/docs/build.py <root of the repository> <build folder> <zensical program>

It copies README.md, the pages of docs/ and what they link to into <build folder>/pages, writes the
reference there, runs Zensical, and checks the links of the result.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import links
from reference import Reference

SITE = "docs/site"
# Pages outside of docs/, and their names on the site.
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md",
              "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".lua": "lua", ".sh": "sh", ".yaml": "yaml",
             ".txt": "cmake", ".json": "json", ".py": "python"}
# A cell of more characters takes more than two lines at 1440 pixels, by the columns of its table.
LONGEST_CELL, LONGEST_ROW = 160, 400
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")


class Stage:
    """Copies pages to where Zensical reads them, and points their links there."""

    def __init__(self, root: pathlib.Path, pages: pathlib.Path):
        self.root = root
        self.pages = pages
        self.errors: list[str] = []
        self.staged: set[str] = set()

    def run(self) -> None:
        for path in sorted((self.root / "docs").rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if path.is_dir() or name == f"{SITE}/zensical.toml":
                continue
            if path.suffix == ".md":
                self.page(name, name.removeprefix("docs/"))
            else:
                self.copy(path, name.removeprefix("docs/"))
        for name, place in ROOT_PAGES.items():
            if (self.root / name).exists():
                self.page(name, place)

    def copy(self, path: pathlib.Path, place: str) -> None:
        target = self.pages / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)

    def write(self, place: str, text: str) -> None:
        target = self.pages / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def page(self, name: str, place: str) -> None:
        """Copies a page, with its links to other files of the repository pointed to the site."""
        if place in self.staged:
            return
        self.staged.add(place)
        if name.startswith("docs/") and not re.search(r"\bAfter this page you can\b", " ".join(
                (self.root / name).read_text().split("\n")[:12])):
            self.errors.append(f"{name}: expected 'After this page you can …' in its first paragraphs")
        out = []
        fenced = generated = in_table = blank = False
        for number, line in enumerate((self.root / name).read_text().split("\n"), 1):
            fenced ^= line.lstrip().startswith("```")
            if re.match(r"<!-- (generated:|\w+: begin|end|\w+: end)", line):
                generated = "end" not in line
            if not fenced and re.match(r" {2,3}[*-] ", line):
                self.errors.append(f"{name}:{number}: a nested list needs four spaces before its mark")
            if not fenced and blank and re.match(r" {1,3}(?![ *\-]|\d+\.)", line):
                self.errors.append(f"{name}:{number}: a list ends before this line: a further paragraph of "
                                   "its item needs four spaces")
            blank = not line.strip()
            if in_table and not re.match(r"\s*(\||<!--|$)", line):
                self.errors.append(f"{name}:{number}: this line would be a row of the table above: "
                                   "an empty line ends a table")
            in_table = not fenced and line.lstrip().startswith("|")
            if not fenced and line.startswith("|"):
                if not generated:
                    self.check_cells(line, f"{name}:{number}")
                # Repository hosts want `|` escaped in code of tables, Python-Markdown does not.
                line = re.sub(r"`[^`]*`", lambda match: match.group().replace("\\|", "|"), line)
            if not fenced:
                line = LINK.sub(lambda match: self.link(match, name, place, number), line)
            out.append(line)
        self.write(place, "\n".join(out))

    def check_cells(self, row: str, where: str) -> None:
        """Reports cells that a reader finds hard to read; tables of measurements are not checked."""
        cells = [re.sub(r"!?\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", cell).strip()
                 for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
        most = min(LONGEST_CELL, LONGEST_ROW // len(cells))
        self.errors += [f"{where}: a table cell of {len(cell)} characters; expected at most {most}: "
                        "shorten it or write a list" for cell in cells if len(cell) > most]

    def link(self, match: re.Match, name: str, place: str, number: int) -> str:
        target, _, anchor = match["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group()
        path = (self.root / name).parent / target
        if not path.exists():
            self.errors.append(f"{name}:{number}: dead link to '{target}'")
            return match.group()
        to = self.place_of(path.resolve().relative_to(self.root).as_posix())
        up = "../" * place.count("/")
        text = match["text"]
        if path.suffix == ".md" and text in (target, path.name):
            text = self.title(path)  # the site shows no file names
        return f"{match['image']}[{text}]({up}{to}{'#' + anchor if anchor else ''})"

    @staticmethod
    def title(page: pathlib.Path) -> str:
        """The first heading of a page."""
        return re.search(r"^# (.*)$", page.read_text(), re.M).group(1)

    def place_of(self, name: str) -> str:
        """Where a file of the repository is on the site; source files become pages."""
        if name in ROOT_PAGES:
            return ROOT_PAGES[name]
        if name.startswith("docs/"):
            return name.removeprefix("docs/")
        path = self.root / name
        place = f"source/{name}" + ("" if path.suffix == ".md" else ".md")
        if path.suffix == ".md":
            self.page(name, place)
        elif place not in self.staged:
            self.staged.add(place)
            self.write(place, self.folder(name) if path.is_dir() else self.source(name))
        return place

    def source(self, name: str) -> str:
        path = self.root / name
        fence = f"```{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text().rstrip()}\n```\n"
        return f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n{fence}"

    def folder(self, name: str) -> str:
        tracked = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard",
                                  name], capture_output=True, text=True, check=True).stdout
        lines = [f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n"]
        up = "../" * f"source/{name}".count("/")
        for file in sorted(tracked.split()):
            lines.append(f"* [{file.removeprefix(name + '/')}]({up}{self.place_of(file)})")
        return "\n".join(lines) + "\n"


def unlisted_pages(pages: pathlib.Path, config: str) -> list[str]:
    """Pages of docs/ that the navigation does not name: readers would never find them."""
    return [f"docs/{path.relative_to(pages)}: not in the nav of {SITE}/zensical.toml"
            for path in sorted(pages.rglob("*.md"))
            if path.relative_to(pages).parts[0] not in ("source", "site")
            and f'"{path.relative_to(pages)}"' not in config]


def listed_pages(root: pathlib.Path, config: str) -> str:
    """The configuration with the pages of ROOT_PAGES that exist but are not listed added."""
    more = [f'    {{ "{place.removesuffix(".md").capitalize()}" = "{place}" }},\n'
            for name, place in ROOT_PAGES.items()
            if (root / name).exists() and f'"{place}"' not in config]
    entry = '    { "Contributing" = "contributing.md" },\n'
    return config.replace(entry, "".join(more) + entry)


def own_worker(html: pathlib.Path) -> None:
    """Replaces the script that Zensical's offline mode would load from another host."""
    for path in html.rglob("*.html"):
        up = "../" * (len(path.relative_to(html).parts) - 1)
        text = path.read_text()
        path.write_text(re.sub(r'src="https://unpkg\.com/iframe-worker/shim[^"]*"',
                               f'src="{up}site/file_worker.js"', text))


def run_zensical(zensical: str, folder: pathlib.Path) -> list[str]:
    """Builds the site; what Zensical reports, in one line for each finding."""
    result = subprocess.run([zensical, "build", "--clean", "--strict"], cwd=folder,
                            env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                            check=False)
    if result.returncode == 0:
        return []
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout + result.stderr)
    findings = re.findall(r"Warning: (.*)\n.*\[ (\S+) \]\n.*\n\s*\d+ \S (.*)", text)
    return [f"{place}: {what}: {line}" for what, place, line in findings] or [text]


def build_site(root: pathlib.Path, out: pathlib.Path, zensical: str,
               reference: dict[str, str]) -> list[str]:
    """Builds <out>/html; returns one line for each error. `reference` are the generated pages."""
    pages, html = out / "pages", out / "html"
    for folder in (pages, html):
        shutil.rmtree(folder, ignore_errors=True)
    stage = Stage(root, pages)
    stage.run()
    for name, text in reference.items():
        named = re.sub(r"\[(\w+\.md)\]\(\.\./\1\)", lambda match:
                       f"[{stage.title(root / 'docs' / match[1])}](../{match[1]})", text)
        stage.write(f"reference/{name}", named)
    config = listed_pages(root, (root / SITE / "zensical.toml").read_text())
    if errors := stage.errors + unlisted_pages(pages, config):
        return errors
    (out / "zensical.toml").write_text(config)
    if errors := run_zensical(zensical, out):
        return errors
    own_worker(html)
    (html / "404.html").unlink()  # its links work only at the root of a server
    return links.check(html)


def main() -> int:
    root, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    zensical = str(pathlib.Path(sys.argv[3]).absolute())
    reference = Reference(root / "include/latchkey", out / "doxygen")
    errors = reference.errors or build_site(root, out, zensical, reference.pages())
    if errors:
        print("\n".join(errors), f"docs: {len(errors)} errors", sep="\n", file=sys.stderr)
        return 1
    print(f"{out / 'html/index.html'}: {len(list(out.rglob('html/**/*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
