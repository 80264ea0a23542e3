// Snippets of pages: those that a source contains are accepted, all others are found.
#include "snippets.hpp"

#include <gtest/gtest.h>

namespace latchkey::tidy {
namespace {

const std::string page_text =
    "# Page\n"
    "\n"
    "```cpp\n"
    "auto lock = locks.lock(\"a\");\n"
    "\n"
    "lock.lock();\n"
    "```\n"
    "<!-- consumer: main.cpp -->\n"
    "```cpp\n"
    "int main() {}\n"
    "```\n"
    "```sh\n"
    "make\n"
    "```\n";

SourceFile page(const std::string& text) { return {"docs/page.md", text}; }
std::vector<SourceFile> source(const std::string& text) { return {{"tests/a.cpp", text}}; }

TEST(Snippets, AreTheCppBlocksThatNoScriptCompiles) {
  const std::vector<Snippet> all = snippets_of(page(page_text));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().line, 4U);
  EXPECT_EQ(all.front().lines,
            (std::vector<std::string>{"auto lock = locks.lock(\"a\");", "lock.lock();"}));
}

TEST(Snippets, AreExamplesInTheCommentsOfAHeader) {
  const SourceFile header{"include/latchkey/a.hpp",
                          "/// Use it:\n"
                          "///\n"
                          "///     auto lock = a();\n"
                          "///\n"
                          "///       lock.lock();\n"
                          "/// And more:\n"
                          "///     not an example\n"
                          "/// \\code\n"
                          "/// b();\n"
                          "/// \\endcode\n"
                          "void c();\n"};
  const std::vector<Snippet> all = examples_of(header);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].line, 3U);
  EXPECT_EQ(all[0].lines, (std::vector<std::string>{"auto lock = a();", "lock.lock();"}));
  EXPECT_EQ(all[1].lines, std::vector<std::string>{"b();"});
}

TEST(Snippets, MayHaveAnotherIndentationInASource) {
  const std::string text = "void f() {\n    auto lock = locks.lock(\"a\");\n    lock.lock();\n}\n";
  EXPECT_TRUE(snippets_are_compiled(snippets_of(page(page_text)), source(text)).empty());
}

TEST(Snippets, AreFoundIfALineDiffersIsMissingOrStandsElsewhere) {
  for (const char* text : {"auto lock = locks.lock(\"b\");\nlock.lock();\n", "lock.lock();\n",
                           "auto lock = locks.lock(\"a\");\nint x;\nlock.lock();\n", ""}) {
    EXPECT_EQ(snippets_are_compiled(snippets_of(page(page_text)), source(text)),
              Findings{"docs/page.md:4: no source contains this snippet; expected its lines in a "
                       "test, such as tests/unit/docs"})
        << text;
  }
}

TEST(Snippets, AnEllipsisStandsForAnyText) {
  const SourceFile shown = page("```cpp\nreturn f() { … };  // all\n```\n");
  EXPECT_TRUE(
      snippets_are_compiled(snippets_of(shown), source("return f() { g(); };  // all\n")).empty());
  EXPECT_FALSE(
      snippets_are_compiled(snippets_of(shown), source("return f() { g(); };  // none\n")).empty());
  EXPECT_FALSE(
      snippets_are_compiled(snippets_of(shown), source("return h() { g(); };  // all\n")).empty());
}

}  // namespace
}  // namespace latchkey::tidy
