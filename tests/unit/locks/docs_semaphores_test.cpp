// The snippets of docs/semaphores.md.
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>

#include <latchkey/latchkey.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

int reports = 0, uploads = 0;
void write_report(const std::stop_token&) { ++reports; }
void upload(const std::string&) { ++uploads; }

TEST(DocsSemaphores, TheHandleOfThePageTakesAPermit) {
  const Locks locks = Locks::connect("memory:");
  // clang-format off: the page's own lines
const latchkey::Semaphore exports = locks.semaphore("exports", 3);
{
  const latchkey::Hold permit = exports.acquire(1, 10s);  // LockTimeout after 10 s
  write_report(permit.stop_token());
}  // released here
  // clang-format on
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(exports.available(), 3);
}

struct Exporter {
  // clang-format off: the page's own lines
void send(const std::string& region) {
  LOCKED("export:{region}", LockType::PERMIT, 10s, 30s).permits(3) AROUND(region) {
    upload(region);
  };
}
  // clang-format on
};

TEST(DocsSemaphores, TheMethodOfThePageTakesAPermitForEachCall) {
  const testing::ScopedLocks scoped;
  Exporter().send("eu");
  EXPECT_EQ(uploads, 1);
  EXPECT_EQ(scoped.locks().semaphore("export:eu", 1).total(), 3);
}

}  // namespace
}  // namespace latchkey
