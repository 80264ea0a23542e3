// The house rules, over every source file of this repository.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "rules.hpp"
#include "snippets.hpp"
#include "source_file.hpp"

namespace latchkey::tidy {
namespace {

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(LATCHKEY_SOURCE_DIR);
  return files;
}

void expect_kept(Findings (*rule)(const SourceFile&)) {
  ASSERT_GT(tree().size(), 30U) << "the sources were not found";
  std::string findings;
  for (const SourceFile& file : tree()) {
    for (const std::string& finding : rule(file)) findings += finding + "\n";
  }
  EXPECT_TRUE(findings.empty()) << findings;
}

TEST(Tidy, EveryFileBelongsToALayer) { expect_kept(belongs_to_a_layer); }
TEST(Tidy, IncludesGoDownwards) { expect_kept(includes_go_downwards); }
TEST(Tidy, ThirdPartiesStayInTheirLayers) { expect_kept(third_parties_stay_in_their_layers); }
TEST(Tidy, FilesAreShort) { expect_kept(file_is_short); }
TEST(Tidy, LinesAreNarrow) { expect_kept(lines_are_narrow); }
TEST(Tidy, HeadersAreIncludedOnce) { expect_kept(header_is_included_once); }
TEST(Tidy, NothingIsLeftToDo) { expect_kept(nothing_is_left_to_do); }
TEST(Tidy, FailedForksAreNoticed) { expect_kept(failed_forks_are_noticed); }
TEST(Tidy, SleepsSayWhy) { expect_kept(sleeps_say_why); }
TEST(Tidy, FirstLinesSayWhy) { expect_kept(first_line_says_why); }
TEST(Tidy, CommentsHaveASubject) { expect_kept(comments_have_a_subject); }
TEST(Tidy, NoFunctionHasTheNameOfOneOfStd) { expect_kept(has_no_name_of_std); }
TEST(Tidy, SourcesOfTheLibraryAreMarked) { expect_kept(is_marked); }

void expect_none(const Findings& all) {
  std::string findings;
  for (const std::string& finding : all) findings += finding + "\n";
  EXPECT_TRUE(findings.empty()) << findings;
}

TEST(Tidy, NoPrivateWordInTheSources) { expect_kept(uses_no_private_word); }
TEST(Tidy, NoPrivateWordInScriptsAndPages) {
  const std::vector<SourceFile> pages = read_prose(LATCHKEY_SOURCE_DIR);
  ASSERT_GT(pages.size(), 10U) << "the pages were not found";
  for (const SourceFile& page : pages) expect_none(uses_no_private_word(page));
}
TEST(Tidy, EverySnippetOfPagesAndHeadersIsCompiled) {
  std::vector<SourceFile> sources;
  std::ranges::copy_if(tree(), std::back_inserter(sources), [](const SourceFile& file) {
    return file.path.starts_with("tests/") || file.path.starts_with("examples/");
  });
  std::vector<Snippet> snippets;
  for (const SourceFile& page : read_prose(LATCHKEY_SOURCE_DIR)) {
    std::ranges::move(snippets_of(page), std::back_inserter(snippets));
  }
  EXPECT_GT(snippets.size(), 40U) << "the snippets of the pages were not found";
  for (const SourceFile& file : tree()) {
    if (!file.path.starts_with("include/")) continue;
    std::ranges::move(examples_of(file), std::back_inserter(snippets));
  }
  EXPECT_GT(snippets.size(), 50U) << "the examples of the headers were not found";
  expect_none(snippets_are_compiled(snippets, sources));
}
TEST(Tidy, FoldersAreSmall) { expect_none(folders_are_small(tree())); }
TEST(Tidy, NamesStandForOneType) { expect_none(names_stand_for_one_type(tree())); }

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(LATCHKEY_SOURCE_DIR) + '/' + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A test that no build file lists would never run.
TEST(Tidy, EverySourceIsListed) {
  std::string library = text_of("cmake/Sources.cmake") + text_of("cmake/CommandLine.cmake") +
                        text_of("cmake/Http2.cmake");
  for (const char* store : {"etcd", "kubernetes", "mongodb", "mysql", "postgresql", "zookeeper"}) {
    library += text_of(std::string("cmake/stores/") + store + ".cmake");
  }
  const std::string tests = text_of("tests/Sources.cmake") + text_of("tests/CMakeLists.txt");
  const std::regex elsewhere("/adapters/|^tests/(compile_fail|consumer|fuzz|gdb|module)/");
  Findings missing;
  for (const SourceFile& file : tree()) {
    const bool source = file.path.ends_with(".cpp") || file.path.starts_with("include/");
    if (!source || std::regex_search(file.path, elsewhere)) continue;
    const bool is_test = file.path.starts_with("tests/");
    std::smatch store;
    if (std::regex_search(file.path, store, std::regex("^tests/stores/[a-z]+/"))) {
      const std::string listed_there = text_of(store.str() + "CMakeLists.txt");
      const std::string entry = file.path.substr(store.str().size());
      if (listed_there.find(entry) == std::string::npos)
        missing.push_back(file.path + " is not listed");
      continue;
    }
    if (!is_test && !file.path.starts_with("src/") && !file.path.starts_with("include/")) continue;
    const std::string entry = is_test ? file.path.substr(6) : file.path;
    const std::string& listed = is_test ? tests : library;
    if (listed.find(entry) == std::string::npos) missing.push_back(file.path + " is not listed");
  }
  expect_none(missing);
}

// Two changes that add a file each seldom meet in the same line.
TEST(Tidy, SourceListsAreSorted) {
  namespace fs = std::filesystem;
  const std::regex entry(R"(^\s+([\w/.]+\.[ch]pp)\)?$)");
  int lists = 0;
  Findings unsorted;
  for (const char* folder : {"cmake", "tests"}) {
    for (const auto& each :
         fs::recursive_directory_iterator(fs::path(LATCHKEY_SOURCE_DIR) / folder)) {
      if (each.path().extension() != ".cmake" && each.path().filename() != "CMakeLists.txt")
        continue;
      std::ifstream file(each.path());
      std::string before;
      for (std::string line; std::getline(file, line);) {
        std::smatch name;
        const std::string here =
            std::regex_match(line, name, entry) ? name[1].str() : std::string();
        if (before.empty() && !here.empty()) ++lists;
        if (!here.empty() && here < before) unsorted.push_back(here + " comes after " + before);
        before = here;
      }
    }
  }
  EXPECT_GT(lists, 10) << "the lists were not found";
  expect_none(unsorted);
}

// Users copy pages and examples, so these spell public names only.
TEST(Tidy, NoPageAndNoExampleSpellsDetail) {
  const std::regex detail(R"(\bdetail::|latchkey/detail\b)");
  Findings findings;
  int count = 0;
  const auto look = [&](const SourceFile& file) {
    ++count;
    std::size_t number = 0;
    for (const std::string_view line : file.lines()) {
      ++number;
      if (!std::regex_search(line.begin(), line.end(), detail)) continue;
      findings.push_back(file.path + ":" + std::to_string(number) + ": spells detail");
    }
  };
  for (const SourceFile& page : read_prose(LATCHKEY_SOURCE_DIR)) {
    // The changelog says what moved there, and the contributors' pages are about the inside.
    const bool is_about_inside = page.path == "CHANGELOG.md" || page.path == "CONTRIBUTING.md" ||
                                 page.path == "docs/architecture.md";
    if (page.path.ends_with(".md") && !is_about_inside) look(page);
  }
  const std::regex copied("^(examples|test_package|tests/(consumer|module))/");
  for (const SourceFile& file : tree()) {
    if (std::regex_search(file.path, copied)) look(file);
  }
  EXPECT_GT(count, 60) << "pages and examples were not found";
  expect_none(findings);
}

TEST(Tidy, EveryPublicHeaderAndNameIsInTheProgramOfPublicNames) {
  const std::string program = text_of("tests/consumer/public_names.cpp") +
                              text_of("tests/consumer/public_names_asio.cpp") +
                              text_of("tests/consumer/public_names_testing.cpp");
  Findings missing;
  // These need reflection, or the client library of a store.
  const std::regex elsewhere("/detail/|/annotations|/fences/(mysql|postgresql|redis)\\.hpp$");
  int headers = 0;
  for (const SourceFile& file : tree()) {
    if (!file.path.starts_with("include/") || std::regex_search(file.path, elsewhere)) continue;
    ++headers;
    const std::string line = "#include <" + file.path.substr(8) + ">\n";
    if (program.find(line) == std::string::npos) missing.push_back(line.substr(0, line.size() - 1));
  }
  EXPECT_GT(headers, 60);
  const std::string module = text_of("modules/latchkey.cppm");
  const std::string names = module.substr(0, module.find("#if defined", module.find("export")));
  const std::regex exported("using (latchkey::\\w+);");
  for (std::sregex_iterator each(names.begin(), names.end(), exported), end; each != end; ++each) {
    if (program.find("using " + (*each)[1].str() + ";") == std::string::npos) {
      missing.push_back((*each)[1].str());
    }
  }
  expect_none(missing);
}

bool is_a_test(const std::string& suite, const std::string& name) {
  const std::regex there("TEST(_F|_P)?\\(" + suite + ",\\s*" + name + "\\)");
  return std::ranges::any_of(tree(), [&](const SourceFile& file) {
    return file.path.starts_with("tests/") && std::regex_search(file.text, there);
  });
}

// A promise is as good as the test that is named beside it.
TEST(Tidy, TestsThatDocsReliabilityNamesExist) {
  std::ifstream page(std::string(LATCHKEY_SOURCE_DIR) + "/docs/reliability.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::regex named("`([A-Z][A-Za-z0-9]*)\\.([A-Z][A-Za-z0-9]*)`");
  int count = 0;
  for (std::sregex_iterator each(text.begin(), text.end(), named), end; each != end; ++each) {
    EXPECT_TRUE(is_a_test((*each)[1], (*each)[2])) << each->str();
    ++count;
  }
  EXPECT_GT(count, 30);
}

}  // namespace
}  // namespace latchkey::tidy
