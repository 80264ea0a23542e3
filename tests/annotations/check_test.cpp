// check_annotations: an annotated function that nothing runs under its annotations is found.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/annotations.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace check_test {

class Forgetful {
 public:
  [[= latchkey::locked("a")]] int has_the_word() {
    LOCK_ANNOTATED;
    return 1;
  }
  [[= latchkey::locked("b")]] int is_called_through_a_proxy() { return 2; }
  [[= latchkey::locked("c")]] int forgotten() { return hidden(); }
  int without_annotation() { return 4; }

 private:
  [[= latchkey::locked("d")]] int hidden() { return 5; }
};

class Careful {
 public:
  [[= latchkey::locked("a")]] int has_the_word() {
    LOCK_ANNOTATED;
    return 1;
  }
};

TEST(CheckAnnotations, ListsFunctionsWithoutWordAndProxy) {
  const latchkey::testing::ScopedLocks locks;
  latchkey::Annotated<Forgetful> proxy;
  EXPECT_EQ(proxy->is_called_through_a_proxy(), 2);
  EXPECT_EQ(latchkey::unbound_annotations<Forgetful>(),
            (std::vector<std::string>{"check_test::Forgetful::forgotten",
                                      "check_test::Forgetful::hidden"}));
  try {
    latchkey::check_annotations<Forgetful>();
    FAIL() << "expected std::logic_error";
  } catch (const std::logic_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "latchkey: these functions have annotations and run without their locks: "
              "check_test::Forgetful::forgotten, check_test::Forgetful::hidden; write "
              "LOCK_ANNOTATED; in their bodies, or call them through latchkey::Annotated");
  }
}

TEST(CheckAnnotations, AcceptsAClassWithAllWords) {
  EXPECT_NO_THROW(latchkey::check_annotations<Careful>());
}

}  // namespace check_test
