// LATCHKEY_CHECK_ANNOTATIONS: the check of a policy file at start lists functions without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/annotations.hpp>
#include <latchkey/install.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace check_at_start_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Forgetful {
 public:
  [[= latchkey::locked("a")]] int has_the_word() {
    LOCK_ANNOTATED;
    return 1;
  }
  [[= latchkey::locked("b:{id}")]] int forgotten(int id) { return hidden() + id; }

 private:
  [[= latchkey::locked("c")]] int hidden() { return 5; }
};
LATCHKEY_CHECK_ANNOTATIONS(Forgetful);
LATCHKEY_CHECK_ANNOTATIONS(Forgetful);  // as by a header that two files include

template <class One, class Other>
class Careful {
 public:
  [[= latchkey::locked("a")]] int has_the_word() {
    LOCK_ANNOTATED;
    return 1;
  }
};
LATCHKEY_CHECK_ANNOTATIONS(Careful<int, long>);

class Store {
 public:
  virtual ~Store() = default;
  [[= latchkey::locked("store:{id}")]] virtual int load(int id) = 0;
};
LATCHKEY_CHECK_ANNOTATIONS(Store);

class WordStore : public Store {
 public:
  int load(int id) override {
    LOCK_ANNOTATED;
    return id;
  }
};
LATCHKEY_CHECK_ANNOTATIONS(WordStore);

class ForgetfulStore : public Store {
 public:
  int load(int id) override { return id; }
};
LATCHKEY_CHECK_ANNOTATIONS(ForgetfulStore);

/// Nothing lists it, so the check at start does not find it.
class Unlisted {
 public:
  [[= latchkey::locked("a")]] int forgotten() { return 1; }
};

std::string policy_file() {
  std::string path = testing::TempDir() + "check_at_start.yaml";
  std::ofstream(path) << "backends:\n  main: \"memory:\"\n";
  return path;
}

/// The errors about annotations: other tests of this program take policies that the file lacks.
std::vector<std::string> sentences(const std::vector<latchkey::PolicyError>& errors) {
  std::vector<std::string> all;
  for (const latchkey::PolicyError& error : errors) {
    const std::string sentence = error.what();
    if (sentence.contains("has an annotation")) all.push_back(sentence);
  }
  return all;
}

const auto all_unbound = ElementsAre(
    HasSubstr("annotations_docs::Till::pay (docs_test.cpp:"),
    AllOf(HasSubstr("check_at_start_test::Forgetful::forgotten (check_at_start_test.cpp:"),
          HasSubstr(") has an annotation and runs without its lock: write LOCK_ANNOTATED; in its "
                    "body, or call it through latchkey::Annotated")),
    HasSubstr("check_at_start_test::Forgetful::hidden (check_at_start_test.cpp:"),
    HasSubstr("check_at_start_test::ForgetfulStore::load (check_at_start_test.cpp:"));

// A member of a class template has its body only if something calls it.
TEST(CheckAtStart, KnowsTheWordOfATemplateThatIsCalled) {
  const latchkey::testing::ScopedLocks locks;
  EXPECT_EQ((Careful<int, long>().has_the_word()), 1);
}

TEST(CheckAtStart, ListsAnnotatedFunctionsWithoutTheWord) {
  EXPECT_THAT(sentences(latchkey::check_policy_file(policy_file())), all_unbound);
}

TEST(CheckAtStart, InstallFromThrowsThem) {
  try {
    latchkey::install_from(policy_file());
    FAIL() << "expected PolicyError";
  } catch (const latchkey::PolicyError& error) {
    EXPECT_THAT(sentences(error.all()), all_unbound);
  }
}

TEST(CheckAtStart, DumpSitesWritesThemForTheTool) {
  std::ostringstream out;
  latchkey::dump_sites(out);
  EXPECT_THAT(
      out.str(),
      AllOf(HasSubstr("\"unbound\":["),
            HasSubstr("\"check_at_start_test::Forgetful::hidden (check_at_start_test.cpp:")));
}

TEST(CheckAtStart, DoesNotKnowAClassThatNothingLists) {
  EXPECT_EQ(latchkey::unbound_annotations<Unlisted>(),
            std::vector<std::string>{"check_at_start_test::Unlisted::forgotten"});
}

TEST(CheckAtStart, AcceptsAPureVirtualFunction) {
  EXPECT_EQ(latchkey::unbound_annotations<Store>(), std::vector<std::string>());
  EXPECT_NO_THROW(latchkey::check_annotations<WordStore>());
}

}  // namespace check_at_start_test
