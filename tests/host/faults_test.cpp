// Files that are no segment, segments that are damaged, full or taken away, and namespaces.
// tidy: long-file because each fault that a segment survives has its test in one list.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>

#include "host/holder_process.hpp"
#include "host/host_fixture.hpp"
#include "host/peers.hpp"
#include "host/segment_check.hpp"
#include "host/store_observer.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::host::SegmentFile;
using testing::Probe;
using Kind = Outcome::Kind;

std::string refusal(const TestSegment& segment) {
  try {
    static_cast<void>(segment.backend());
  } catch (const BackendRefused& error) {
    return error.what();
  }
  return "";
}

/// The message that begins with the backend and ends with `end`.
void expect_refusal(const TestSegment& segment, const std::string& part) {
  const std::string said = refusal(segment);
  EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_NE(said.find(segment.uri()), std::string::npos) << said;
}

bool works(const TestSegment& segment) {
  Probe probe(segment.backend(), {});
  const HoldId id = probe.fresh_id();
  return probe.acquire("works", LockType::FENCED, id, 30s).kind == Kind::granted &&
         probe.send(Verb::release, "works", LockType::FENCED, id).kind == Kind::granted;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

TEST(HostFaults, AForeignFileIsRefusedAndRepairIsTheWayOut) {
  const TestSegment segment;
  write_file(segment.path(), std::string(2'000'000, 'x'));
  expect_refusal(segment, "it is no segment of latchkey; run latchkey host repair");
  detail::host::replace_segment(segment.place());
  EXPECT_TRUE(works(segment));
}

TEST(HostFaults, ATruncatedSegmentIsRefusedAndRepairIsTheWayOut) {
  for (const std::uintmax_t size : {0U, 100U, 4096U, 1'000'000U}) {
    const TestSegment segment;
    ASSERT_TRUE(works(segment));
    if (size >= std::filesystem::file_size(segment.path())) continue;
    std::filesystem::resize_file(segment.path(), size);
    expect_refusal(segment, "run latchkey host repair");
    detail::host::replace_segment(segment.place());
    EXPECT_TRUE(works(segment));
  }
}

TEST(HostFaults, AnotherVersionIsNamed) {
  const TestSegment segment;
  ASSERT_TRUE(works(segment));
  SegmentFile::open(segment.place()).layout().header.version = 99;
  expect_refusal(segment, "its format is version 99, and this latchkey has 2");
}

TEST(HostFaults, ALinkIsNotFollowed) {
  const TestSegment segment, target;
  ASSERT_TRUE(works(target));
  std::filesystem::create_symlink(target.path(), segment.path());
  expect_refusal(segment, "is a symbolic link");
}

TEST(HostFaults, AFolderIsRefused) {
  const TestSegment segment;
  std::filesystem::create_directory(segment.path());
  EXPECT_NE(refusal(segment), "");
}

TEST(HostFaults, AFileThatOthersMayUseIsRefused) {
  const TestSegment segment;
  ASSERT_TRUE(works(segment));
  ::chmod(segment.path().c_str(), 0666);
  expect_refusal(segment, "can be used by others; expected mode 0600");
}

TEST(HostFaults, ASegmentOfSomebodyElseIsRefused) {
  const TestSegment segment;
  ASSERT_TRUE(works(segment));
  if (::chown(segment.path().c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  expect_refusal(segment, "belongs to user 12345, not to user 0 of this process");
}

TEST(HostFaults, ASegmentIsForItsUserAlone) {
  const TestSegment segment;
  const Probe probe(segment.backend(), {});
  for (const auto& each : std::filesystem::directory_iterator("/dev/shm")) {
    if (!each.path().string().starts_with(segment.path())) continue;
    struct stat its{};
    ASSERT_EQ(::stat(each.path().c_str(), &its), 0);
    EXPECT_EQ(its.st_mode & 0777, 0600U) << each.path();
  }
}

TEST(HostFaults, AGroupMayShareASegment) {
  const TestSegment segment("?group=" + std::to_string(::getegid()));
  const Probe probe(segment.backend(), {});
  for (const auto& each : std::filesystem::directory_iterator("/dev/shm")) {
    if (!each.path().string().starts_with(segment.path())) continue;
    struct stat its{};
    ASSERT_EQ(::stat(each.path().c_str(), &its), 0);
    EXPECT_EQ(its.st_mode & 0777, 0660U) << each.path();
  }
}

TEST(HostFaults, UrisAreChecked) {
  const auto message = [](const std::string& uri) -> std::string {
    try {
      static_cast<void>(detail::host::SegmentPlace::parse(uri));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("host:orders"), "");
  EXPECT_EQ(message("host:/run/locks/orders?size=64M"), "");
  for (const std::string wrong : {"host:", "host:a/b", "host://machine", "host:.x", "host:/"}) {
    EXPECT_NE(message(wrong).find("invalid host URI '" + wrong + "'"), std::string::npos) << wrong;
  }
  EXPECT_NE(message("host:x?size=3").find("megabytes"), std::string::npos);
  EXPECT_NE(message("host:x?colour=3").find("group, size"), std::string::npos);
}

// --- damage ---

/// A damaged segment must not crash or hang anybody: whatever words are overwritten, each request
/// ends with an outcome.
TEST(HostFaults, RandomDamageIsARefusalAndNeverACrashOrAHang) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const TestSegment segment;
    const pid_t child = fork_child();
    if (child == 0) {
      ::alarm(20);
      Probe own(segment.backend(), {}), other(segment.backend(), {});
      for (int key = 0; key < 20; ++key) {
        own.acquire("k" + std::to_string(key), LockType::FENCED, own.fresh_id(), 30s);
        other.send(Verb::subscribe, "k" + std::to_string(key), LockType::WRITE);
      }
      SegmentFile file = SegmentFile::open(segment.place());
      auto* const words = reinterpret_cast<std::uint64_t*>(&file.layout() + 1);
      std::mt19937_64 random(seed);
      for (int change = 0; change < 30; ++change) {
        const std::uint64_t small = random() % 64;
        words[random() % (40 * 32)] = random() % 2 == 0 ? small : random();
      }
      for (int key = 0; key < 20; ++key) {
        const std::string name = "k" + std::to_string(key);
        own.acquire(name, LockType::WRITE, own.fresh_id(), 30s);
        own.send(Verb::force_release, name);
        static_cast<void>(own.inspect(name));
      }
      static_cast<void>(own.list("*"));
      static_cast<void>(other.notes());
      static_cast<void>(detail::host::check_segment(segment.place()));
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "seed " << seed;
    detail::host::replace_segment(segment.place());
    ASSERT_TRUE(works(segment)) << "seed " << seed;
  }
}

TEST(HostFaults, ADamagedSegmentSaysSoAndIsRepairedUnderItsProcesses) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  const HoldId id = probe.fresh_id();
  const std::uint64_t token = probe.acquire("k", LockType::FENCED, id, 30s).token;
  const SegmentFile file = SegmentFile::open(segment.place());
  for (auto& bucket : file.layout().buckets) bucket = 77'777;
  const Outcome refused = probe.acquire("k", LockType::WRITE, probe.fresh_id(), 30s);
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.reason,
            "the segment is damaged (a cell that does not exist): run latchkey host repair, with "
            "this URI");
  expect_refusal(segment, "a process has found it damaged; run latchkey host repair");
  EXPECT_NE(detail::host::check_segment(segment.place()), std::vector<std::string>{});
  detail::host::replace_segment(segment.place());
  EXPECT_EQ(probe.send(Verb::verify, "k", LockType::FENCED, id).kind, Kind::unknown);
  EXPECT_EQ(probe.send(Verb::verify, "k", LockType::FENCED, id).kind, Kind::gone);
  EXPECT_GT(probe.acquire("k", LockType::FENCED, probe.fresh_id(), 30s).token, token);
}

TEST(HostFaults, ARemovedSegmentIsNoticedWhenAHoldIsChecked) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  const HoldId id = probe.fresh_id();
  ASSERT_EQ(probe.acquire("k", LockType::WRITE, id, 30s).kind, Kind::granted);
  segment.remove();
  EXPECT_EQ(probe.send(Verb::verify, "k", LockType::WRITE, id).kind, Kind::unknown);
  EXPECT_EQ(probe.send(Verb::verify, "k", LockType::WRITE, id).kind, Kind::gone);
  EXPECT_TRUE(works(segment));
}

// --- room ---

TEST(HostFaults, AMillionKeysThatWereTouchedLeaveNothing) {
  const TestSegment segment;
  const auto backend = segment.backend();
  Nobody sink;
  const auto space = HoldId::new_space();
  for (std::uint64_t number = 1; number <= 1'000'000; ++number) {
    const std::string key = "key" + std::to_string(number);
    Request request;
    request.key = key;
    request.id = {space, number};
    request.lease = 30s;
    request.sent = Clock::system().now();
    for (const Verb verb : {Verb::acquire, Verb::release}) {
      request.verb = verb;
      Outcome outcome;
      ASSERT_TRUE(backend->answer(request, outcome, sink));
      ASSERT_EQ(outcome.kind, Kind::granted);
    }
  }
  EXPECT_EQ(std::filesystem::file_size(segment.path()), detail::host::first_size);
}

TEST(HostFaults, AFullSegmentSaysSoAndServesAgain) {
  const TestSegment segment("?size=1M");
  Probe probe(segment.backend(), {});
  std::vector<HoldId> ids;
  Outcome outcome;
  do {
    ids.push_back(probe.fresh_id());
    outcome = probe.acquire("k" + std::to_string(ids.size()), LockType::WRITE, ids.back(), 3000s);
  } while (outcome.kind == Kind::granted && ids.size() < 10'000);
  EXPECT_EQ(outcome.kind, Kind::unknown);
  EXPECT_TRUE(outcome.never_ran);
  EXPECT_EQ(outcome.reason,
            "the segment is full: it may have 1048576 bytes; give a new one more by size= in the "
            "URI");
  for (const std::size_t held : {std::size_t{0}, ids.size() - 2}) {
    const std::string name = "k" + std::to_string(held + 1);
    EXPECT_EQ(probe.renew(name, LockType::WRITE, ids[held], 3000s).kind, Kind::granted);
    EXPECT_TRUE(probe.inspect(name).locked);
    EXPECT_EQ(probe.send(Verb::verify, name, LockType::WRITE, ids[held]).kind, Kind::granted);
  }
  EXPECT_EQ(probe.list("*").size(), ids.size() - 1);
  // The listing has moved all thin holds to the table, into cells of the reserve.
  for (std::size_t freed = 0; freed < 64; ++freed) {
    const std::string name = "k" + std::to_string(freed + 1);
    EXPECT_EQ(probe.send(Verb::release, name, LockType::WRITE, ids[freed]).kind, Kind::granted);
  }
  EXPECT_EQ(probe.acquire("again", LockType::WRITE, probe.fresh_id(), 30s).kind, Kind::granted);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
}

TEST(HostFaults, ASegmentGrows) {
  const TestSegment segment;
  Probe probe(segment.backend(), {}), other(segment.backend(), {});
  for (int key = 0; key < 20'000; ++key) {
    Probe& one = key % 2 == 0 ? probe : other;
    const std::string name = "k" + std::to_string(key);
    ASSERT_EQ(one.acquire(name, LockType::WRITE, one.fresh_id(), 3000s).kind, Kind::granted);
  }
  EXPECT_GT(std::filesystem::file_size(segment.path()), 20'000U * 256);
  EXPECT_EQ(other.list("*").size(), 20'000U);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
}

/// Runs `act` in a child, and returns what it did; 98: a signal has ended the child.
int run_in_child(const std::function<int()>& act) {
  const pid_t child = fork_child();
  if (child == 0) ::_exit(act());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/// Runs `act` in a child with namespaces of its own; 99: that is forbidden here.
int run_in_namespaces(int flags, const std::function<int()>& act) {
  return run_in_child([&] {
    ::alarm(60);
    return ::unshare(flags) == 0 ? act() : 99;  // as root
  });
}

TEST(HostFaults, AFullFileSystemIsASentence) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("latchkey-full" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const int result = run_in_namespaces(CLONE_NEWNS, [&] {
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=2M,mode=0700") != 0) return 99;
    const std::string uri = "host:" + (folder / "segment").string();
    Probe probe(detail::host::make_host_backend(uri, {}), {});
    Outcome outcome;
    int keys = 0;
    do {
      outcome =
          probe.acquire("k" + std::to_string(++keys), LockType::FENCED, probe.fresh_id(), 3000s);
    } while (outcome.kind == Kind::granted && keys < 100'000);
    if (outcome.reason.find("no room for a larger segment") == std::string::npos) return 1;
    if (probe.send(Verb::force_release, "k1").kind != Kind::granted) return 2;
    const Kind again = probe.acquire("a", LockType::FENCED, probe.fresh_id(), 30s).kind;
    return again == Kind::granted ? 0 : 3;
  });
  std::filesystem::remove_all(folder);
  if (result == 99) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(result, 0);
}

// --- processes ---

/// Takes a slot for a process that is dead: its FIFO is there, and nobody reads it.
void plant_dead(const TestSegment& segment, std::size_t slot, std::uint64_t name) {
  const SegmentFile file = SegmentFile::open(segment.place());
  const detail::host::FifoPaths paths(segment.path(), name);
  ASSERT_EQ(::mkfifo(paths.life.c_str(), 0600), 0);
  file.layout().slots[slot].pid = static_cast<std::uint64_t>(::getpid());
  file.layout().slots[slot].name = name;
}

TEST(HostFaults, APidThatWasUsedAgainKeepsNobodyAlive) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  HolderProcess holder(segment.uri(), [](Locks& own) { own.lock("k").lock(); });
  const SegmentFile file = SegmentFile::open(segment.place());
  for (auto& slot : file.layout().slots) {
    if (slot.pid == static_cast<std::uint64_t>(holder.pid())) slot.pid = 1;  // which lives
  }
  holder.end();
  EXPECT_EQ(probe.acquire("k", LockType::WRITE, probe.fresh_id(), 30s).kind, Kind::granted);
}

TEST(HostFaults, SlotsOfDeadProcessesAreTakenOver) {
  const TestSegment segment;
  Probe first(segment.backend(), {});
  for (std::size_t slot = 1; slot < detail::host::slot_count; ++slot) {
    plant_dead(segment, slot, slot + 1000);
  }
  EXPECT_TRUE(works(segment));
  static_cast<void>(first.list("*"));  // which reaps the others
  EXPECT_EQ(segment.files(), 3);
}

TEST(HostFaults, ProcessesInOtherPidNamespacesAreSeenToDie) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  const int result = run_in_namespaces(CLONE_NEWPID, [&] {
    const pid_t first = fork_child();  // pid 1 of its namespace
    if (first == 0) {
      Probe own(segment.backend(), {});
      own.acquire("k", LockType::WRITE, own.fresh_id(), 3000s);
      ::kill(::getpid(), SIGTERM);
      ::_exit(0);
    }
    ::waitpid(first, nullptr, 0);
    return 0;
  });
  if (result == 99) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(probe.acquire("k", LockType::WRITE, probe.fresh_id(), 30s).kind, Kind::granted);
}

TEST(HostFaults, ALivingProcessInAnotherPidNamespaceKeepsItsHold) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  const HoldId id = probe.fresh_id();
  ASSERT_EQ(probe.acquire("k", LockType::WRITE, id, 3000s).kind, Kind::granted);
  const int result = run_in_namespaces(CLONE_NEWPID, [&] {
    return run_in_child([&] {
      Probe own(segment.backend(), {});
      const Outcome outcome = own.acquire("k", LockType::WRITE, own.fresh_id(), 30s);
      return outcome.kind == Kind::busy ? 0 : 1;
    });
  });
  if (result == 99) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(result, 0);
}

TEST(HostFaults, AProcessWithAClockOfItsOwnIsRefused) {
  const TestSegment segment;
  ASSERT_TRUE(works(segment));
  const int result = run_in_namespaces(CLONE_NEWTIME, [&] {
    return run_in_child([&] {  // the first process in the namespace
      return refusal(segment).find("another time namespace") != std::string::npos ? 0 : 1;
    });
  });
  if (result == 99) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(result, 0);
}

int stores_until_stop = 0;

TEST(HostFaults, AProcessThatStandsStillInAChangeIsNamedAndKilledItIsUndone) {
  const TestSegment segment;
  Probe probe(segment.backend(), {});
  const pid_t child = fork_child();
  if (child == 0) {
    Probe own(segment.backend(), {});
    stores_until_stop = 12;
    detail::host::store_observer = []() noexcept {
      if (--stores_until_stop == 0) ::raise(SIGSTOP);
    };
    own.acquire("k", LockType::FENCED, own.fresh_id(), 30s);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto begun = std::chrono::steady_clock::now();
  const Outcome outcome = probe.acquire("k", LockType::WRITE, probe.fresh_id(), 30s);
  EXPECT_EQ(outcome.kind, Kind::unknown);
  EXPECT_NE(outcome.reason.find("a process stands still in the middle of a change"),
            std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_EQ(probe.acquire("k", LockType::WRITE, probe.fresh_id(), 30s).kind, Kind::granted);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
}

}  // namespace
}  // namespace latchkey::tests
