// The backend contract over the example that keeps locks in files.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "file_locks/file_backend.hpp"

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "latchkey-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  fs::path path;
};

struct FileStore {
  static constexpr std::chrono::milliseconds unit{1'000};

  std::unique_ptr<latchkey::Backend> backend() {
    return std::make_unique<demo::FileBackend>(folder.path, clock);
  }
  std::string fresh_key() { return "key/" + std::to_string(++keys); }
  void pass(std::chrono::milliseconds time) { clock.advance(time); }
  latchkey::Options options() { return {.clock = &clock}; }

  Folder folder;
  latchkey::testing::ManualClock clock;
  int keys = 0;
};

TEST(FileBackend, TakesAnyKeyAndLeavesNoFile) {
  const Folder folder;
  const latchkey::Locks locks(
      std::make_unique<demo::FileBackend>(folder.path, latchkey::Clock::system()));
  for (const std::string& key :
       {std::string("a"), std::string("../a"), std::string("\0\xFF", 2), std::string(1024, '/')}) {
    auto hold = locks.lock(key).try_acquire(std::chrono::milliseconds(0));
    ASSERT_TRUE(hold);
    EXPECT_FALSE(locks.with_owner(latchkey::Owner::make()).lock(key).try_acquire());
    EXPECT_TRUE(hold->release());
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path)) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
}

TEST(FileBackend, IsUnavailableIfItsFolderIsGone) {
  latchkey::testing::ManualClock clock;
  Folder folder;
  const latchkey::Locks locks(std::make_unique<demo::FileBackend>(folder.path / "deep", clock),
                              {.clock = &clock});
  fs::remove_all(folder.path / "deep");
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(std::chrono::seconds(1))),
               latchkey::BackendUnavailable);
}

}  // namespace

LATCHKEY_BACKEND_CONTRACT(FileBackend, FileStore);
