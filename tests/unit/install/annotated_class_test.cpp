// Annotated functions without their lock are among the errors of the check at start.
#include <latchkey/detail/locked/annotated_class.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include <latchkey/install.hpp>

#include "unit/policy/policy_text.hpp"

namespace latchkey::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Other tests of this program see a class without a mistake.
bool is_forgetful = false;

void append_unbound(std::vector<std::string>& functions) {
  if (!is_forgetful) return;
  functions.emplace_back("Bank::pay (bank.cpp:12)");
  functions.emplace_back("Bank::audit (bank.cpp:20)");
}

constinit detail::AnnotatedClass bank{&append_unbound};
const bool is_registered = detail::register_annotated_class(bank);

class AnnotatedClasses : public ::testing::Test {
 protected:
  AnnotatedClasses() { is_forgetful = true; }
  ~AnnotatedClasses() override { is_forgetful = false; }
};

TEST_F(AnnotatedClasses, CheckListsTheirUnboundFunctions) {
  EXPECT_THAT(mistakes(memory + money),
              ElementsAre(HasSubstr("Bank::audit (bank.cpp:20) has an annotation and runs without "
                                    "its lock: write LOCK_ANNOTATED; in its body, or call it "
                                    "through latchkey::Annotated"),
                          HasSubstr("Bank::pay (bank.cpp:12) has an annotation")));
  is_forgetful = false;
  EXPECT_THAT(mistakes(memory + money), IsEmpty());
}

TEST_F(AnnotatedClasses, RegisteredTwiceIsListedOnce) {
  ASSERT_TRUE(is_registered);
  EXPECT_TRUE(detail::register_annotated_class(bank));
  EXPECT_THAT(detail::unbound_functions(),
              ElementsAre("Bank::audit (bank.cpp:20)", "Bank::pay (bank.cpp:12)"));
}

TEST_F(AnnotatedClasses, DumpSitesWritesThem) {
  std::ostringstream with;
  dump_sites(with);
  EXPECT_THAT(
      with.str(),
      HasSubstr(R"x(],"unbound":["Bank::audit (bank.cpp:20)","Bank::pay (bank.cpp:12)"],)x"));
  is_forgetful = false;
  std::ostringstream without;
  dump_sites(without);
  EXPECT_THAT(without.str(), Not(HasSubstr("unbound")));
}

}  // namespace
}  // namespace latchkey::tests
