"""build.py and links.py: each kind of dead link fails the build of a small site."""

import os
import pathlib
import shutil
import tempfile
import unittest

import links
from build import build_site

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = '''[project]
site_name = "x"
docs_dir = "pages"
site_dir = "html"
use_directory_urls = false
nav = ["index.md", "keys.md"]
[project.theme]
font = false
[project.plugins.offline]
[project.plugins.search]
[project.markdown_extensions]
toc.permalink = true
'''


class SmallSite(unittest.TestCase):
    """A repository with two pages, built as the real one is."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "repository"
        (self.root / "docs/site").mkdir(parents=True)
        (self.root / "src").mkdir()
        (self.root / "src/lock.cpp").write_text("int main() {}\n")
        shutil.copy(ROOT / "docs/site/file_worker.js", self.root / "docs/site")
        (self.root / "docs/site/zensical.toml").write_text(CONFIG)
        (self.root / "README.md").write_text("# x\n\n[keys](docs/keys.md#two)\n")
        self.page = self.root / "docs/keys.md"
        self.page.write_text("# Keys\n\nAfter this page you can test.\n\n## Two\n\n"
            "[home](../README.md), [lock](../src/lock.cpp)\n\n"
            "[README.md](../README.md)\n\n| a |\n|---|\n| `b \\| c` |\n")

    def build(self) -> str:
        return "\n".join(build_site(self.root, self.root / "out", os.environ["ZENSICAL"], {}))

    def append(self, text: str) -> str:
        """The errors if the page ends with `text`."""
        self.page.write_text(self.page.read_text() + "\n" + text + "\n")
        return self.build()

    def test_a_line_below_a_table_is_no_row(self):
        self.assertIn("keys.md:18: this line would be a row of the table above: an empty line ends a table",
                      self.append("| a |\n|---|\n| b |\n* c"))

    def test_a_further_paragraph_of_an_item_needs_four_spaces(self):
        self.assertIn("keys.md:17: a list ends before this line", self.append("1. a\n\n   b\n2. c"))

    def test_is_built(self):
        self.assertEqual(self.build(), "")
        html = self.root / "out/html"
        self.assertIn('href="keys.html#two"', (html / "index.html").read_text())
        self.assertTrue((html / "source/src/lock.cpp.html").exists())
        self.assertIn('<a href="index.html">x</a>', (html / "keys.html").read_text())
        self.assertIn("<code>b | c</code>", (html / "keys.html").read_text())
        self.assertNotIn("unpkg", (html / "index.html").read_text())

    def test_a_link_to_no_page_fails(self):
        self.assertIn("docs/keys.md:15: dead link to 'nowhere.md'",
                      self.append("[gone](nowhere.md)"))

    def test_a_link_to_no_source_file_fails(self):
        self.assertIn("dead link to '../src/nowhere.cpp'", self.append("[x](../src/nowhere.cpp)"))

    def test_a_link_to_no_heading_fails(self):
        self.assertIn("keys.md:15:16: anchor does not exist: [gone](keys.md#three)",
                      self.append("[gone](keys.md#three)"))

    def test_a_link_in_html_fails(self):
        self.assertIn("dead link to 'nowhere.html'", self.append('<a href="nowhere.html">x</a>'))

    def test_a_missing_image_fails(self):
        self.assertIn("nowhere.png", self.append('<img src="nowhere.png">'))

    def test_a_script_of_another_host_fails(self):
        self.assertIn("loads 'https://example.com/x.js' from another host",
                      self.append('<script src="https://example.com/x.js"></script>'))

    def test_a_long_cell_fails(self):
        self.assertIn("docs/keys.md:15: a table cell of 161 characters; expected at most 160: shorten it",
                      self.append("| a | " + 161 * "x" + " |"))
        self.assertIn("expected at most 133", self.append("| a | b | " + 134 * "x" + " |"))

    def test_a_nested_list_that_would_not_nest_fails(self):
        self.assertIn("docs/keys.md:16: a nested list needs four spaces", self.append("* a\n  * b"))

    def test_a_page_that_does_not_say_what_it_is_for_fails(self):
        self.page.write_text(self.page.read_text().replace("After this page", "Here"))
        self.assertIn("docs/keys.md: expected 'After this page you can …' in its first paragraphs", self.build())

    def test_a_page_without_an_entry_in_the_navigation_fails(self):
        (self.root / "docs/lost.md").write_text("# Lost\n")
        self.assertIn("docs/lost.md: not in the nav", self.append(""))


class Links(unittest.TestCase):
    def check(self, body: str, style: str = "") -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "a.html").write_text(f'<p id="here">{body}</p>')
            (site / "a.css").write_text(style)
            return links.check(site)

    def test_good_links_are_good(self):
        good = '<a href="#here"></a><a href="a.html#here"></a><a href="https://example.com"></a>'
        self.assertEqual(self.check(good), [])

    def test_bad_links_are_found(self):
        for bad in ('<a href="#there"></a>', '<a href="b.html"></a>', '<a href="../a.html"></a>',
                    '<a href="http://example.com"></a>', '<link href="https://example.com/a.css">'):
            self.assertEqual(len(self.check(bad)), 1, bad)

    def test_a_font_of_another_host_is_found(self):
        style = "@font-face { src: url(https://example.com/a.woff2) }"
        self.assertEqual(len(self.check("", style)), 1)


if __name__ == "__main__":
    unittest.main()
