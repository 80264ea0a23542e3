// A holder that the kernel ends for want of memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include <latchkey/latchkey.hpp>

#include "host/holder_process.hpp"
#include "host/host_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// A cgroup whose processes may have 64 MiB.
class SmallCgroup {
 public:
  SmallCgroup() {
    for (const std::string parent : {"/sys/fs/cgroup/", "/sys/fs/cgroup/memory/"}) {
      const std::string folder = parent + "latchkey-test-" + std::to_string(::getpid());
      if (::mkdir(folder.c_str(), 0755) != 0) continue;
      folder_ = folder;
      static_cast<void>(write("memory.swap.max", "0"));
      if (write("memory.max", "67108864") || write("memory.limit_in_bytes", "67108864")) return;
      ::rmdir(std::exchange(folder_, {}).c_str());
    }
  }
  SmallCgroup(const SmallCgroup&) = delete;
  SmallCgroup& operator=(const SmallCgroup&) = delete;
  ~SmallCgroup() {
    if (made()) ::rmdir(folder_.c_str());
  }

  /// Needs root, and a system that allows it.
  [[nodiscard]] bool made() const { return !folder_.empty(); }
  [[nodiscard]] bool add(pid_t process) const {
    return write("cgroup.procs", std::to_string(process));
  }
  [[nodiscard]] bool has_killed() const {
    for (const char* name : {"/memory.events", "/memory.oom_control"}) {
      std::ifstream file(folder_ + name);
      for (std::string line; std::getline(file, line);) {
        if (line == "oom_kill 1") return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool write(const char* name, const std::string& text) const {
    std::ofstream file(folder_ + "/" + name, std::ios::in);  // which makes none
    return static_cast<bool>(file << text << std::flush);
  }
  std::string folder_;
};

/// Takes memory until the kernel ends the process.
void take_all_memory(int /*signal*/) {
  constexpr std::size_t size = std::size_t{16} << 20;
  for (;;) {
    static_cast<void>(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  }
}

TEST(HostMemoryLimit, AProcessThatTheKernelEndsForWantOfMemoryHoldsNothing) {
  const SmallCgroup cgroup;
  if (!cgroup.made()) GTEST_SKIP() << "no cgroups here";
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), [](Locks& own) {
    ::signal(SIGUSR1, take_all_memory);
    own.lock("k").lock();
  });
  ASSERT_TRUE(cgroup.add(holder.pid()));
  EXPECT_FALSE(locks.lock("k").try_acquire().has_value());
  holder.signal(SIGUSR1);
  EXPECT_TRUE(locks.lock("k").try_acquire(30s).has_value());
  EXPECT_TRUE(cgroup.has_killed());
  holder.end();
}

}  // namespace
}  // namespace latchkey::tests
