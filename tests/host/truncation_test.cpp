// Segments whose files lose their pages under the processes that use them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>

#include "host/host_fixture.hpp"
#include "host/segment_check.hpp"
#include "support/child.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Probe;
using Kind = Outcome::Kind;

constexpr const char* truncated_text =
    "the segment is damaged (its file was truncated while it was in use): run latchkey host "
    "repair, with this URI";

/// Nothing is left, a header without what belongs to it, or all but the keys.
constexpr std::uintmax_t sizes[] = {0, 4096, 8192, 300'000, sizeof(detail::host::Layout)};

class HostTruncation : public ::testing::TestWithParam<std::uintmax_t> {
 protected:
  // The handler of SIGBUS meets another one where the file has lost what it marks.
  void SetUp() override {
#ifdef LATCHKEY_TESTS_TSAN
    GTEST_SKIP()
        << "ThreadSanitizer blocks signals in handlers, where a fault then ends the process";
#endif
  }
  void truncate() { std::filesystem::resize_file(segment.path(), GetParam()); }

  const TestSegment segment;
};

TEST_P(HostTruncation, IsDamageThatARepairEnds) {
  Probe probe(segment.backend(), {}), other(segment.backend(), {});
  const HoldId thin = probe.fresh_id(), listed = probe.fresh_id();
  ASSERT_EQ(probe.acquire("thin", LockType::WRITE, thin, 30s).kind, Kind::granted);
  const Outcome first = probe.acquire("listed", LockType::FENCED, listed, 30s);
  ASSERT_EQ(first.kind, Kind::granted);

  truncate();
  const Outcome refused = probe.acquire("other", LockType::FENCED, probe.fresh_id(), 30s);
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.reason, truncated_text);
  // Nothing is granted from now on, neither what is held nor what was free.
  for (const char* key : {"thin", "listed", "free"}) {
    EXPECT_EQ(probe.acquire(key, LockType::WRITE, probe.fresh_id(), 30s).kind, Kind::refused);
    EXPECT_NE(other.acquire(key, LockType::WRITE, other.fresh_id(), 30s).kind, Kind::granted);
  }
  EXPECT_EQ(probe.send(Verb::release, "thin", LockType::WRITE, thin).kind, Kind::refused);
  EXPECT_EQ(probe.renew("listed", LockType::FENCED, listed, 30s).kind, Kind::refused);

  detail::host::replace_segment(segment.place());
  EXPECT_EQ(probe.send(Verb::verify, "listed", LockType::FENCED, listed).kind, Kind::unknown);
  EXPECT_EQ(probe.send(Verb::verify, "listed", LockType::FENCED, listed).kind, Kind::gone);
  EXPECT_EQ(probe.send(Verb::verify, "thin", LockType::WRITE, thin).kind, Kind::gone);
  const Outcome again = probe.acquire("listed", LockType::FENCED, probe.fresh_id(), 30s);
  EXPECT_EQ(again.kind, Kind::granted);
  EXPECT_GT(again.token, first.token);
  // The first call finds that there is another segment.
  EXPECT_EQ(other.acquire("listed", LockType::WRITE, other.fresh_id(), 30s).kind, Kind::unknown);
  EXPECT_EQ(other.acquire("listed", LockType::WRITE, other.fresh_id(), 30s).kind, Kind::busy);
}

TEST_P(HostTruncation, EndsNoThreadThatIsInTheMiddleOfACall) {
  const auto backend = segment.backend();
  Nobody sink;
  std::atomic<int> served = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, space = HoldId::new_space()] {
      Kind kind = Kind::granted;
      for (std::uint64_t number = 1; kind != Kind::refused; ++number) {
        const std::string key = "k" + std::to_string(number % 8);
        Request request;
        request.key = key;
        request.id = {space, number};
        request.type = number % 3 == 0 ? LockType::READ : LockType::WRITE;
        request.lease = 30s;
        request.sent = Clock::system().now();
        Outcome outcome;
        if (!backend->answer(request, outcome, sink)) continue;
        kind = outcome.kind;
        if (kind != Kind::granted) continue;
        served.fetch_add(1);
        served.notify_one();
        request.verb = Verb::release;
        outcome = Outcome{};
        static_cast<void>(backend->answer(request, outcome, sink));
      }
    });
  }
  for (int seen = 0; seen < 1000;) {
    served.wait(seen);
    seen = served;
  }
  truncate();
}

INSTANTIATE_TEST_SUITE_P(To, HostTruncation, ::testing::ValuesIn(sizes),
                         [](const auto& each) { return std::to_string(each.param); });

// --- a SIGBUS that is not latchkey's ---

/// A page of a file that has none.
const volatile char* lost_page() {
  const int file = ::memfd_create("lost", MFD_CLOEXEC);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  return static_cast<const char*>(page);
}

TEST(HostTruncationDeathTest, AnotherFileOfTheProgramEndsItAsBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the handler is installed once in a process
  const TestSegment segment;
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);  // instead of a sanitizer's
        const Probe probe(segment.backend(), {});
        static_cast<void>(*lost_page());
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST(HostTruncationDeathTest, TheProgramsOwnHandlerIsCalledForAnotherFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TestSegment segment;
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, [](int) { ::_exit(7); });
        const Probe probe(segment.backend(), {});
        static_cast<void>(*lost_page());
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace latchkey::tests
