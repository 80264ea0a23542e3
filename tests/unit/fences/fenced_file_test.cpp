// FencedFile: the guard for a file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/fenced_file.hpp>

#include "core/file_descriptor.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::refusal;

class FencedFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string read(const std::string& name) const { return folder_.read(name); }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.file(name)) << content;
  }
  static Fence fence(std::uint64_t token) { return {.key = "report 7", .token = token}; }

  const tests::TemporaryFolder folder_;
};

TEST_F(FencedFileTest, WritesUnderAFenceAndKeepsItBeside) {
  const FencedFile file(folder_.file("report"));
  EXPECT_EQ(file.highest(), std::nullopt);
  file.write(fence(9), "one");
  EXPECT_EQ(read("report"), "one");
  EXPECT_EQ(read("report.fence"), "report%207/FENCED/9\n");
  file.write(fence(9), "two");
  file.write(fence(10), "three");
  EXPECT_EQ(read("report"), "three");
  EXPECT_EQ(file.highest(), fence(10));
  EXPECT_FALSE(folder_.has("report.new"));
}

TEST_F(FencedFileTest, RefusesAnOlderFenceAndLeavesTheFile) {
  const FencedFile file(folder_.file("report"));
  file.write(fence(10), "new");
  try {
    file.write(fence(9), "old");
    FAIL() << "written";
  } catch (const FenceRejected& error) {
    EXPECT_EQ(error.presented(), 9U);
    EXPECT_EQ(error.highest(), 10U);
  }
  EXPECT_EQ(read("report"), "new");
  EXPECT_EQ(file.highest(), fence(10));
}

TEST_F(FencedFileTest, AdmitRefusesEarlierHoldersAndWritesNothing) {
  const FencedFile file(folder_.file("report"));
  file.admit(fence(9));
  EXPECT_FALSE(folder_.has("report"));
  EXPECT_THROW(file.write(fence(8), "old"), FenceRejected);
  file.write(fence(9), "new");
  EXPECT_THROW(check_fence("report%207/FENCED/8", "report 7", file), FenceRejected);
  EXPECT_EQ(file.highest(), fence(9));
}

TEST_F(FencedFileTest, AShorterFenceLeavesNothingOfTheLongerOne) {
  const FencedFile file(folder_.file("report"));
  file.write({.key = "k", .type = LockType::FENCED, .token = 10}, "a");
  file.write({.key = "k", .type = LockType::FAIR, .token = 11}, "b");
  EXPECT_EQ(read("report.fence"), "k/FAIR/11\n");
}

TEST_F(FencedFileTest, KeepsThePermissionsOfTheFile) {
  put("report", "before");
  std::filesystem::permissions(folder_.file("report"), std::filesystem::perms::owner_read);
  FencedFile(folder_.file("report")).write(fence(1), "after");
  EXPECT_EQ(std::filesystem::status(folder_.file("report")).permissions(),
            std::filesystem::perms::owner_read);
  EXPECT_EQ(read("report"), "after");
}

TEST_F(FencedFileTest, AFenceOfAnotherKeyIsAnErrorWithBoth) {
  const FencedFile file(folder_.file("report"));
  file.write(fence(1), "a");
  const std::string text = refusal([&] { file.write({.key = "other", .token = 2}, "b"); });
  EXPECT_THAT(text, HasSubstr("report.fence': it is about the key 'report%207'; expected that of"));
  EXPECT_THAT(text, HasSubstr("other/FENCED/2"));
  EXPECT_EQ(read("report"), "a");
}

TEST_F(FencedFileTest, AFileThatIsNoFenceIsAnErrorWithItsPlace) {
  put("report.fence", "hello\n");
  EXPECT_THAT(refusal([&] { FencedFile(folder_.file("report")).write(fence(1), "a"); }),
              HasSubstr("report.fence': fence 'hello':6: the text ends after the key"));
  EXPECT_FALSE(folder_.has("report"));
}

TEST_F(FencedFileTest, AMissingFolderIsAnErrorWithTheReason) {
  EXPECT_THAT(refusal([&] { FencedFile(folder_.file("none/report")).write(fence(1), "a"); }),
              HasSubstr("cannot open it: No such file or directory"));
}

TEST_F(FencedFileTest, AWriterThatIsStuckEndsTheWait) {
  const FencedFile file(folder_.file("report"));
  file.write(fence(1), "a");
  const std::string beside = folder_.file("report.fence");
  const detail::FileDescriptor stuck(::open(beside.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(stuck.get(), LOCK_EX), 0);
  EXPECT_THAT(refusal([&] { file.write(fence(2), "b", 50ms); }),
              HasSubstr("another writer has locked it for the whole wait of 50 ms"));
  EXPECT_EQ(read("report"), "a");
}

TEST_F(FencedFileTest, WritersDoNotInterleave) {
  const FencedFile file(folder_.file("report"));
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 1; number <= 4; ++number) {
      threads.emplace_back([&, number] {
        for (std::uint64_t round = 0; round < 25; ++round) {
          const Fence mine = fence(round * 4 + number);
          try {
            file.write(mine, mine.text());
          } catch (const FenceRejected& error) {
            EXPECT_GT(error.highest(), mine.token);
          }
        }
      });
    }
  }
  EXPECT_EQ(file.highest(), fence(100));
  EXPECT_EQ(read("report"), fence(100).text());
}

}  // namespace
}  // namespace latchkey
