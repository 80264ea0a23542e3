// A holder that was stopped beyond its lease and writes late: refused by each guard. The control
// without the guard shows the lost update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "stores/fences/late_writer.hpp"
#include "stores/fences/servers.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

using ::testing::ContainsRegex;

struct Guard {
  const char* kind;
  std::string (*where)(bool guarded);
};
void PrintTo(const Guard& guard, std::ostream* out) { *out << guard.kind; }

std::string file_path(bool guarded) {
  static const TemporaryFolder folder;
  return folder.file(guarded ? "guarded" : "unguarded");
}

const Guard all_guards[] = {
    {"file", file_path},
#ifdef LATCHKEY_FENCES_HTTP
    {"http", fenced_service_path},
#endif
#ifdef LATCHKEY_FENCES_MYSQL
    {"mysql", [](bool) { return mysql_socket(); }},
#endif
#ifdef LATCHKEY_FENCES_POSTGRESQL
    {"postgresql", [](bool) { return postgresql_parameters(); }},
#endif
    {"redis", [](bool) { return redis_socket(); }},
};

class LateWriteTest : public ::testing::TestWithParam<Guard> {};

TEST_P(LateWriteTest, IsRefusedByTheGuard) {
  const LateWrite end = run_late_write(GetParam().kind, GetParam().where(true), true);
  EXPECT_TRUE(end.rejected) << end.printed;
  EXPECT_EQ(end.value, "B");
  EXPECT_THAT(end.printed, ContainsRegex("the fence of 'order:42' is too old: token [0-9]+ was "
                                         "presented, but token [0-9]+ was seen before"));
}

TEST_P(LateWriteTest, IsALostUpdateWithoutTheGuard) {
  const LateWrite end = run_late_write(GetParam().kind, GetParam().where(false), false);
  EXPECT_FALSE(end.rejected) << end.printed;
  EXPECT_EQ(end.value, "A") << "the update of B is not lost";
}

INSTANTIATE_TEST_SUITE_P(Guards, LateWriteTest, ::testing::ValuesIn(all_guards),
                         [](const auto& guard) { return std::string(guard.param.kind); });

}  // namespace
}  // namespace latchkey::tests
