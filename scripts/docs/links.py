#!/usr/bin/env python3
"""Checks the links of a built site: pages, anchors, images, scripts and styles must exist in it.

    scripts/docs/links.py <folder of the site>

A link to another host is allowed in the text of a page if it uses https. Nothing is loaded from
another host, so that the site works without a network.
"""

import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# `rel` of <link> elements that load nothing.
NOT_LOADED = {"canonical", "next", "prev", "alternate", "sitemap"}


class Page(HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[int, str, bool]] = []  # line, target, whether it is loaded
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for name in ("id", "name"):
            if values.get(name):
                self.anchors.add(values[name])
        attribute = LOADED.get(tag, "href" if tag == "a" else None)
        target = values.get(attribute) if attribute else None
        if target:
            loads = tag != "a" and values.get("rel") not in NOT_LOADED
            self.links.append((self.getpos()[0], target, loads))


def check(site: pathlib.Path) -> list[str]:
    """One line for each dead link, and for each file that is loaded from another host."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    errors = []
    for path, page in pages.items():
        for line, target, loads in page.links:
            if error := fault(site, pages, path, target, loads):
                errors.append(f"{path.relative_to(site)}:{line}: {error}")
    for path in sorted(site.rglob("*.css")):
        for target in re.findall(r"url\(['\"]?(https?:[^)'\"]+)", path.read_text()):
            errors.append(f"{path.relative_to(site)}: loads '{target}' from another host")
    if not pages:
        errors.append(f"{site}: no pages")
    return errors


def fault(site: pathlib.Path, pages: dict, path: pathlib.Path, target: str, loads: bool) -> str:
    parts = urlsplit(target)
    if parts.scheme == "data" or parts.scheme == "mailto":
        return ""
    if parts.scheme or parts.netloc:
        if loads:
            return f"loads '{target}' from another host"
        return "" if parts.scheme == "https" and parts.netloc else f"'{target}' is not https"
    to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if to.is_dir():
        to = to / "index.html"
    if not to.is_relative_to(site.resolve()) or not to.exists():
        return f"dead link to '{target}'"
    anchor = unquote(parts.fragment)
    if anchor and to in pages and anchor not in pages[to].anchors:
        return f"dead link to '{target}': the page has no '{anchor}'"
    return ""


def main() -> int:
    errors = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(errors), file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
