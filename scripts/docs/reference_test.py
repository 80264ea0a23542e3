"""reference.py: what it shows of a header, and what it makes of a comment."""

import pathlib
import tempfile
import unittest

import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = '''#pragma once
namespace latchkey::inline v1 {
namespace detail {
/// Not for users.
struct Hidden {};
}  // namespace detail

/// A lock with `code`, vector<int> and [*]. See Lock::lock.
///
/// | a | b     |
/// |---|-------|
/// | x | one   |
/// |   | two   |
///
///     lock.lock();
class [[nodiscard("write { and } and ;")]] Lock {
 public:
  explicit Lock(int a = 3) : a_{a} {}

  /// Waits.
  void lock();
  bool try_lock();

  /// For ever.
  template <class Rep>
  bool try_lock_for(const Rep& wait) {
    return wait > 0;
  }
  void* touch(detail::Hidden);

 private:
  int a_;
};

/// LOCKED(key): see Lock.
#define LATCHKEY_LOCKED(LATCHKEY_key) something(LATCHKEY_key)
}  // namespace latchkey::inline v1
'''


class SmallReference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "include").mkdir()
        self.write("lock.hpp", HEADER)

    def write(self, name: str, text: str) -> None:
        (self.root / "include" / name).write_text(text)

    def read(self) -> reference.Reference:
        return reference.Reference(self.root / "include", self.root / "out")

    def page(self) -> str:
        return self.read().pages()["locks.md"]

    def test_a_declaration_is_shown_without_attributes_body_and_initializer_list(self):
        page = self.page()
        for shown in ("class Lock;", "explicit Lock(int a = 3);", "LOCKED(key)", "## `LOCKED` {#locked}",
                      "template <class Rep>\nbool try_lock_for(const Rep& wait);"):
            self.assertIn(shown, page)

    def test_what_no_user_calls_is_hidden(self):
        for hidden in ("Hidden", "a_", "touch", "nodiscard"):
            self.assertNotIn(hidden, self.page())

    def test_a_comment_describes_the_declarations_below_it_without_an_empty_line(self):
        self.assertIn("### `lock()`, `try_lock()` {#lock-lock}\n\n```cpp\nvoid lock();\nbool try_lock();\n```"
                      "\n\nWaits.", self.page())

    def test_a_comment_is_markdown_with_links(self):
        page = self.page()
        self.assertIn("`code`, vector&lt;int> and [\\*]. See [`Lock::lock`](#lock-lock).", page)
        self.assertIn("| x | one two |", page)
        self.assertIn("```cpp\nlock.lock();\n```", page)

    def test_a_documented_header_on_no_page_is_an_error(self):
        self.write("gadget.hpp", "namespace latchkey {\n/// New.\nint gadget();\n}\n")
        self.assertIn("include/latchkey/gadget.hpp: on no page of the reference; name it in "
                      "scripts/docs/topics.toml or move it to include/latchkey/detail", self.read().errors)

    def test_a_comment_that_would_lose_words_is_an_error(self):
        self.write("lock.hpp", "/// Needs <chrono>.\nint lock();\n")
        self.assertIn("Unsupported xml/html tag <chrono> found", "\n".join(self.read().errors))


class WholeReference(unittest.TestCase):
    def test_every_public_name_of_this_repository_is_shown(self):
        with tempfile.TemporaryDirectory() as out:
            whole = reference.Reference(ROOT / "include/latchkey", pathlib.Path(out) / "xml")
        self.assertEqual(whole.errors, [])
        pages = whole.pages()
        for name in ("Locks::connect", "Hold::fencing_token", "LockOptions::on_timeout", "Event::Kind",
                     "Locks::read_write", "testing::ManualClock::advance"):
            self.assertIn(f"latchkey::{name}", whole.anchors)
        self.assertIn("std::string_view uri, Options options = {}", pages["locks.md"])
        self.assertIn("[`Lock::acquire`](#lock-acquire)", pages["locks.md"])


if __name__ == "__main__":
    unittest.main()
