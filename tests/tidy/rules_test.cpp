// Every rule is seen to fail where it is broken, and to be silent where it is kept.
#include "rules.hpp"

#include <gtest/gtest.h>

#include <string>

#include "layers.hpp"
#include "plain_code.hpp"

namespace latchkey::tidy {
namespace {

SourceFile file(std::string path, std::string text) { return {std::move(path), std::move(text)}; }

std::string lines(std::size_t count, const std::string& line = "int x;") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line + "\n";
  return text;
}

TEST(TidyRules, AFileOfTheLibraryBelongsToALayer) {
  EXPECT_EQ(belongs_to_a_layer(file("src/attic/a.cpp", "")).size(), 1U);
  EXPECT_EQ(belongs_to_a_layer(file("include/latchkey/gadget.hpp", "")).size(), 1U);
  EXPECT_TRUE(belongs_to_a_layer(file("src/locks/a.cpp", "")).empty());
  EXPECT_TRUE(belongs_to_a_layer(file("tests/unit/a.cpp", "")).empty());
}

TEST(TidyRules, IncludesGoDownwards) {
  const std::string up = "#include <latchkey/locks.hpp>\n";
  const auto found = includes_go_downwards(file("src/core/a.cpp", up));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(),
            "src/core/a.cpp:1: layer core (level 0) includes latchkey/locks.hpp of layer locks "
            "(level 4)");
  EXPECT_TRUE(includes_go_downwards(file("src/locked/a.cpp", up)).empty());
  EXPECT_TRUE(includes_go_downwards(file("src/locks/a.cpp", up)).empty());
}

TEST(TidyRules, LayersOfOneLevelDoNotIncludeEachOther) {
  EXPECT_EQ(
      includes_go_downwards(file("src/memory/a.cpp", "#include \"locks/event_context.hpp\"\n"))
          .size(),
      1U);
  EXPECT_EQ(
      includes_go_downwards(file("include/latchkey/key.hpp", "#include <latchkey/aspect.hpp>\n"))
          .size(),
      1U);
}

TEST(TidyRules, APublicHeaderIncludesNoPrivateOne) {
  EXPECT_EQ(includes_go_downwards(
                file("include/latchkey/locks.hpp", "#include \"core/small_mutex.hpp\"\n"))
                .size(),
            1U);
}

TEST(TidyRules, AnIncludedFileBelongsToALayer) {
  EXPECT_EQ(
      includes_go_downwards(file("src/core/a.cpp", "#include <latchkey/gadget.hpp>\n")).size(), 1U);
}

TEST(TidyRules, ThirdPartiesStayInTheirLayers) {
  const auto findings = [](const char* path, const char* header) {
    return third_parties_stay_in_their_layers(
               file(path, std::string{"#include <"} + header + ">\n"))
        .size();
  };
  EXPECT_EQ(findings("src/locks/a.cpp", "latchkey_hiredis/hiredis.h"), 1U);
  EXPECT_EQ(findings("src/redis/a.cpp", "latchkey_hiredis/hiredis.h"), 0U);
  EXPECT_EQ(findings("src/redis/a.cpp", "hiredis/hiredis.h"), 1U);
  EXPECT_EQ(findings("include/latchkey/key.hpp", "latchkey/third_party/pfr.hpp"), 1U);
  EXPECT_EQ(findings("include/latchkey/detail/reflect/a.hpp", "latchkey/third_party/pfr.hpp"), 0U);
  EXPECT_EQ(findings("src/locks/a.hpp", "range/v3/view/zip.hpp"), 1U);
  EXPECT_EQ(findings("src/locks/a.cpp", "range/v3/view/zip.hpp"), 0U);
  EXPECT_EQ(findings("src/locks/a.cpp", "gmock/gmock.h"), 1U);
  EXPECT_EQ(findings("include/latchkey/testing/mock_backend.hpp", "gmock/gmock.h"), 0U);
  EXPECT_EQ(findings("src/locks/a.cpp", "yaml-cpp/yaml.h"), 1U);
  EXPECT_EQ(findings("src/policy/reader.cpp", "yaml-cpp/yaml.h"), 0U);
  EXPECT_EQ(findings("src/locks/a.cpp", "nobody/knows.hpp"), 1U);
  EXPECT_EQ(findings("src/locks/a.cpp", "sys/socket.h"), 0U);
}

TEST(TidyRules, ALongFileSaysWhy) {
  EXPECT_TRUE(file_is_short(file("a.cpp", lines(most_lines))).empty());
  EXPECT_EQ(file_is_short(file("a.cpp", lines(most_lines + 1))).size(), 1U);
  const std::string reason = "// tidy: long-file because it is one table\n";
  EXPECT_TRUE(file_is_short(file("a.cpp", reason + lines(most_lines))).empty());
  EXPECT_EQ(
      file_is_short(file("a.cpp", "// tidy: long-file because \n" + lines(most_lines))).size(), 1U);
  EXPECT_EQ(file_is_short(file("a.cpp", reason + lines(most_lines_with_a_reason))).size(), 1U);
}

TEST(TidyRules, LinesAreNarrow) {
  EXPECT_EQ(lines_are_narrow(file("a.cpp", lines(1, std::string(101, 'x')))).size(), 1U);
  EXPECT_TRUE(lines_are_narrow(file("a.cpp", lines(1, std::string(100, 'x')))).empty());
  EXPECT_TRUE(
      lines_are_narrow(file("a.cpp", "// expect: " + lines(1, std::string(101, 'x')))).empty());
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xC3\xBC";
  EXPECT_TRUE(lines_are_narrow(file("a.cpp", umlauts)).empty());
}

TEST(TidyRules, AHeaderIsIncludedOnce) {
  EXPECT_EQ(header_is_included_once(file("a.hpp", "// A header.\n")).size(), 1U);
  EXPECT_TRUE(header_is_included_once(file("a.hpp", "// A header.\n#pragma once\n")).empty());
  EXPECT_TRUE(header_is_included_once(file("a.cpp", "// A source.\n")).empty());
}

TEST(TidyRules, NothingIsLeftToDo) {
  EXPECT_EQ(nothing_is_left_to_do(file("a.cpp", std::string{"// TO"} + "DO: more\n")).size(), 1U);
  EXPECT_TRUE(nothing_is_left_to_do(file("a.cpp", "// what is to do is done\n")).empty());
}

TEST(TidyRules, AFailedForkIsNoticed) {
  const std::string call = std::string{"id = ::fo"} + "rk();\n";
  EXPECT_EQ(failed_forks_are_noticed(file("a.cpp", call + "if (id == 0) work();\n")).size(), 1U);
  EXPECT_TRUE(failed_forks_are_noticed(file("a.cpp", call + "if (id == -1) throw 1;\n")).empty());
}

TEST(TidyRules, ASleepOfATestSaysWhy) {
  const std::string sleep =
      "  std::this_thread::sle"
      "ep_for(1s);";
  EXPECT_EQ(sleeps_say_why(file("tests/unit/a.cpp", sleep + "\n")).size(), 1U);
  EXPECT_EQ(sleeps_say_why(file("tests/unit/a.cpp", sleep + "  // a second\n")).size(), 1U);
  const std::string why = "  // sleeps: the lease ends\n";
  EXPECT_EQ(sleeps_say_why(file("tests/unit/a.cpp", why + "\n" + sleep + "\n")).size(), 1U);
  EXPECT_TRUE(sleeps_say_why(file("tests/unit/a.cpp", sleep + why)).empty());
  EXPECT_TRUE(sleeps_say_why(file("tests/unit/a.cpp", why + sleep + "\n")).empty());
  EXPECT_TRUE(sleeps_say_why(file("src/a.cpp", sleep + "\n")).empty());
}

TEST(TidyRules, TheFirstLineSaysWhy) {
  EXPECT_EQ(first_line_says_why(file("a.cpp", "#include <a>\n")).size(), 1U);
  EXPECT_EQ(first_line_says_why(file("a.cpp", "// a.cpp\n")).size(), 1U);
  EXPECT_TRUE(first_line_says_why(file("a.cpp", "// Reads what the user wrote.\n")).empty());
}

TEST(TidyRules, TextAndCommentsAreNotCode) {
  EXPECT_EQ(plain_code("f('{'); /* { */ g(1'000);  // {\n#define OPEN {\nh(\"\\\"{\");"),
            "f(   );         g(1'000);      \n              \nh(     );");
  EXPECT_EQ(plain_code("f(R\"x({\"{)x\");"), "f(          );");
}

TEST(TidyRules, ACommentBeginsWithItsSubject) {
  for (const char* found : {"// Of a call.\n", "int x;\n  /// The same, of a READ.\n",
                            "int x;  ///< What is held\n", "/// Whoever waits.\n"}) {
    EXPECT_EQ(comments_have_a_subject(file("a.cpp", found)).size(), 1U) << found;
  }
  for (const char* kept : {"// A call. It has\n// What it needs.\n", "// Often.\n",
                           "int x;  ///< of a READ\n", "say(\"http://What\");\n"}) {
    EXPECT_TRUE(comments_have_a_subject(file("a.cpp", kept)).empty()) << kept;
  }
}

TEST(TidyRules, APrivateWordIsFoundAsAWholeWord) {
  const auto found = uses_no_private_word(file("src/core/a.cpp", "int x;\nDormitory rooms;\n"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(), "src/core/a.cpp:2: private word 'Dormitory'; expected FutexWaitSet");
  EXPECT_EQ(uses_no_private_word(file("docs/a.md", "the seats, the rhythm, the words\n")).size(),
            1U);
  EXPECT_TRUE(
      uses_no_private_word(file("src/core/a.cpp", "DormitoryTest my_Gate Gates\n")).empty());
}

TEST(TidyRules, AStemOfAPrivateWordIsFoundInItsVariants) {
  for (const char* found : {"void tell_all();\n", "bool may_go_on_;\n", "longest_stand_by\n"}) {
    EXPECT_EQ(uses_no_private_word(file("src/core/a.cpp", found)).size(), 1U) << found;
  }
  EXPECT_TRUE(uses_no_private_word(file("src/core/a.cpp", "ergo_on intell_ tell go on\n")).empty());
}

TEST(TidyRules, AFreeFunctionHasNoNameOfAFunctionOfStd) {
  EXPECT_EQ(
      has_no_name_of_std(
          file("src/core/a.hpp", "\ninline std::string quoted(std::string_view text) {\n")),
      Findings{"src/core/a.hpp:2: function 'quoted' has the name of a function of std, which a "
               "call finds as well; expected another name"});
  for (const char* found :
       {"template <class T> void visit(T& each);\n", "quoted(std::string_view text) {\n",
        "[[nodiscard]] std::size_t count(\n    const Votes& votes);\n",
        "bool exists(const Key& key);\n", "std::string to_string(std::errc error);\n",
        "static const char* find(int key);\n"}) {
    EXPECT_EQ(has_no_name_of_std(file("src/core/a.cpp", found)).size(), 1U) << found;
  }
  for (const char* kept :
       {"std::string in_quotes(std::string_view text);\n",
        "std::string_view to_string(Verb verb);\n", "bool Table::find(std::string_view key) {\n",
        "  return find(key);\n", "// quoted(text)\n",
        "LockType Hold::type() const { return find(3); }\n", "int counted(int x);\n"}) {
    EXPECT_EQ(has_no_name_of_std(file("src/core/a.cpp", kept)), Findings{}) << kept;
  }
}

TEST(TidyRules, AFolderHasAtMostThirtyFiles) {
  std::vector<SourceFile> files;
  for (std::size_t i = 0; i < most_files_of_a_folder; ++i) {
    files.push_back(file("src/core/" + std::to_string(i) + ".cpp", ""));
    files.push_back(file("src/core/below/" + std::to_string(i) + ".cpp", ""));
  }
  EXPECT_TRUE(folders_are_small(files).empty());
  files.push_back(file("src/core/more.cpp", ""));
  EXPECT_EQ(folders_are_small(files), Findings{"src/core: 31 files; expected at most 30"});
}

TEST(TidyRules, ASourceOfTheLibraryIsMarked) {
  const std::string licence = "// SPDX-License-Identifier: BSL-1.0\n";
  const std::string open = "namespace latchkey::inline v1::detail {\n";
  const std::string visible = "#pragma GCC visibility push(default)\n";
  EXPECT_TRUE(is_marked(file("src/core/a.cpp", licence + open)).empty());
  EXPECT_TRUE(is_marked(file("include/latchkey/a.hpp", licence + visible + open)).empty());
  EXPECT_TRUE(is_marked(file("include/latchkey/testing/a.hpp", licence + open)).empty());
  EXPECT_TRUE(is_marked(file("tests/unit/a.cpp", "")).empty());
  EXPECT_EQ(is_marked(file("include/latchkey/a.hpp", "namespace latchkey {\n")),
            Findings{"include/latchkey/a.hpp:1: lacks the licence, the namespace of the ABI, the "
                     "visibility: run scripts/mark_sources.sh"});
  EXPECT_EQ(is_marked(file("include/latchkey/a.hpp", licence + open)).size(), 1U);
  EXPECT_EQ(is_marked(file("src/core/a.cpp", open)).size(), 1U);
}

// Two structs named CommandWords were one type for the linker.
TEST(TidyRules, ANameStandsForOneType) {
  const std::string one = "namespace latchkey::inline v1::cli {\nstruct Words { int a; };\n}\n";
  const std::string inner = "namespace latchkey {\nclass Run { struct Words {}; };\n}\n";
  const std::string hidden =
      "namespace latchkey {\nnamespace cli {\nnamespace {\nstruct Words {};\n}}}\n";
  const std::string other =
      "namespace latchkey {\nnamespace cli {\nclass X;\ntemplate <class T>\nstruct Words final : X "
      "{};\n}}\n";
  const SourceFile first = file("src/cli/a.hpp", one);
  EXPECT_EQ(
      names_stand_for_one_type({first, file("src/cli/b.hpp", other)}),
      Findings{"src/cli/b.hpp: latchkey::cli::Words is a type of src/cli/a.hpp, too; expected "
               "another name"});
  EXPECT_TRUE(names_stand_for_one_type({first, file("src/cli/b.hpp", inner)}).empty());
  EXPECT_TRUE(names_stand_for_one_type({first, file("src/cli/b.cpp", hidden)}).empty());
  EXPECT_TRUE(names_stand_for_one_type({first, file("tests/cli/b.hpp", one)}).empty());
}

}  // namespace
}  // namespace latchkey::tidy
