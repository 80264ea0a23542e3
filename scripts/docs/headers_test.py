"""headers.py and reference.py: what they read from a header, and what they make of it."""

import pathlib
import tempfile
import unittest

from headers import read
from markdown_text import link_names, prose
from reference import Reference, groups

HEADER = '''// A lock.
#pragma once
#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {
/// Not for users.
struct Hidden {};
}  // namespace detail

/// A lock with \\`code\\` and 1'000 keys.
class [[nodiscard("write { and } and ;")]] Lock {
 public:
  explicit Lock(int a) : a_{a}, b_{0} {}

  /// Waits.
  void lock();
  bool try_lock();

  /// For ever.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return wait.count() > 0 && "}" != nullptr;  // NOLINT(a comment that ends with a parenthesis)
  }
  int limit = f(1'000);  ///< how many
  int left();  ///< limit - taken

 private:
  int a_;
};

/// How.
enum class Kind : int {
  one,  ///< the first
  two = 2,
};

/// LOCKED(key): see Lock.
#define LATCHKEY_LOCKED(LATCHKEY_key, ...) \\
  something(LATCHKEY_key)
}  // namespace latchkey::inline v1

namespace latchkey::inline v1::detail {
/// Not for users either.
struct AlsoHidden {};
}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
'''


class Headers(unittest.TestCase):
    def setUp(self):
        self.lock, self.kind, self.macro = read(HEADER)

    def test_hidden_and_private_declarations_are_left_out(self):
        self.assertEqual([self.lock.name, self.kind.name, self.macro.name],
                         ["Lock", "Kind", "LATCHKEY_LOCKED"])
        self.assertEqual([each.name for each in self.lock.members],
                         ["Lock", "lock", "try_lock", "try_lock_for", "limit", "left"])

    def test_signatures_have_no_body_attribute_or_initializer_list(self):
        self.assertEqual(self.lock.signature, "class Lock")
        self.assertEqual(self.lock.members[0].signature, "explicit Lock(int a)")
        self.assertTrue(self.lock.members[3].signature.endswith("wait)"))
        self.assertEqual(self.lock.members[4].signature, "int limit = f(1'000)")
        self.assertEqual(self.macro.signature, "LATCHKEY_LOCKED(key, ...)")

    def test_comments_belong_to_their_declarations(self):
        self.assertEqual(self.lock.members[1].doc, "Waits.")
        self.assertEqual(self.lock.members[2].doc, "")
        self.assertEqual(self.lock.members[4].doc, "how many")
        self.assertEqual((self.lock.members[5].doc, self.lock.members[5].note),
                         ("", "limit - taken"))
        self.assertEqual([(each.name, each.doc) for each in self.kind.members],
                         [("one", "the first"), ("two", "")])

    def test_a_comment_describes_the_declarations_below_it_without_an_empty_line(self):
        names = [[each.name for each in group] for group in groups(self.lock.members[:4])]
        self.assertEqual(names, [["Lock"], ["lock", "try_lock"], ["try_lock_for"]])


class Prose(unittest.TestCase):
    def test_indented_lines_are_examples(self):
        self.assertEqual(prose("Use it:\n\n    lock(a<b>);\n\nThat is all."),
                         "Use it:\n\n```cpp\nlock(a<b>);\n```\n\nThat is all.")

    def test_rows_without_a_first_cell_continue_the_row_before(self):
        self.assertEqual(prose("| a | b |\n|---|---|\n| x | one  |\n|   | two |"),
                         "| a | b |\n|---|---|\n| x | one two |")

    def test_characters_of_markup_are_text(self):
        self.assertEqual(prose("a **vector<int>** for [*], `x<y\n>z`, __FILE__"),
                         "a **vector&lt;int>** for [\\*], `x<y\n>z`, \\_\\_FILE\\_\\_")

    def test_qualified_names_are_links(self):
        anchors = {"Lock::lock": "locks.md#lock", "Lock": "locks.md#Lock"}
        text = "Lock::lock(), `Lock::lock` and latchkey::Lock, not `Lock::lock x`\n\n## Lock::lock"
        self.assertEqual(link_names(text, anchors, "locks.md"),
                         "[`Lock::lock()`](#lock), [`Lock::lock`](#lock) and "
                         "[`latchkey::Lock`](#Lock), not `Lock::lock x`\n\n## Lock::lock")


class WholeReference(unittest.TestCase):
    def test_a_header_in_no_topic_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "gadget.hpp").write_text("/// New.\nint gadget();\n")
            errors = Reference(pathlib.Path(folder)).errors
        self.assertIn("include/latchkey/gadget.hpp: not in scripts/docs/topics.py; expected in a "
                      "topic or in INTERNAL", errors)

    def test_every_documented_declaration_of_this_repository_is_shown(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        reference = Reference(root / "include/latchkey")
        self.assertEqual(reference.errors, [])
        pages = reference.pages()
        for name in ("Locks::connect", "Hold::fencing_token", "LockOptions::on_timeout",
                     "Event::Kind", "LOCKED", "ManualClock::advance", "Locks::read_write"):
            self.assertIn(name, reference.anchors)
        self.assertIn("std::string_view uri, Options options = {}", pages["locks.md"])
        self.assertIn("[`Lock::acquire`](#lock-acquire)", pages["locks.md"])


if __name__ == "__main__":
    unittest.main()
