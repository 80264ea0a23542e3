// Tests of objects that are made of files and follow them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "backend/connection/made_of_files.hpp"

namespace latchkey::tests {
namespace {

namespace files = std::filesystem;
using detail::MadeOfFiles;

std::string content(const files::path& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(path.filename().string() + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class MadeOfFilesTest : public ::testing::Test {
 protected:
  MadeOfFilesTest() {
    std::string name = files::temp_directory_path() / "latchkey-files-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
    put("one", "1");
    put("two", "2");
  }
  ~MadeOfFilesTest() override { files::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "new") << text;
    files::rename(folder_ / "new", folder_ / name);
  }
  [[nodiscard]] MadeOfFiles<std::string> both() {
    return {{folder_ / "one", "", folder_ / "two"}, [this] {
              ++made_;
              return content(folder_ / "one") + content(folder_ / "two");
            }};
  }

  files::path folder_;
  int made_ = 0;
};

TEST_F(MadeOfFilesTest, UnchangedFilesAreReadOnce) {
  auto text = both();
  EXPECT_EQ(text.current(), "12");
  EXPECT_EQ(text.current(), "12");
  EXPECT_EQ(made_, 1);
}

TEST_F(MadeOfFilesTest, AReplacedFileIsReadAgain) {
  auto text = both();
  put("two", "3");
  EXPECT_EQ(text.current(), "13");
  EXPECT_EQ(text.current(), "13");
  EXPECT_EQ(made_, 2);
}

// As Kubernetes replaces the files of a secret.
TEST_F(MadeOfFilesTest, ATurnedLinkIsFollowed) {
  put("three", "3");
  files::rename(folder_ / "two", folder_ / "old");
  files::create_symlink(folder_ / "old", folder_ / "two");
  auto text = both();
  files::create_symlink(folder_ / "three", folder_ / "link");
  files::rename(folder_ / "link", folder_ / "two");
  EXPECT_EQ(text.current(), "13");
}

TEST_F(MadeOfFilesTest, WhatIsUnusableIsNamedAndTheOneBeforeStays) {
  auto text = both();
  files::remove(folder_ / "two");
  EXPECT_EQ(text.current(), "12");
  EXPECT_EQ(text.problem(), "two cannot be read");
  put("two", "3");
  EXPECT_EQ(text.current(), "13");
  EXPECT_EQ(text.problem(), "");
}

TEST_F(MadeOfFilesTest, WhatIsUnusableFirstIsThrown) {
  files::remove(folder_ / "two");
  EXPECT_THROW(static_cast<void>(both()), std::invalid_argument);
}

}  // namespace
}  // namespace latchkey::tests
