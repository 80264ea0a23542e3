// docs/fencing.md: its snippets stand here and run.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/fenced_file.hpp>
#include <latchkey/fences/seen_fences.hpp>
#include <latchkey/fences/sql.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

std::string sent_header;
void send(const std::string&, const std::string& header) { sent_header = header; }

// clang-format off: the page's own lines
void write_under_a_lock(const Locks& locks) {
if (auto hold = locks.lock("order:42", LockType::FENCED).try_acquire(3s, 30s)) {
  send("PUT /orders/42/paid", "Latchkey-Fence: " + hold->fence()->text());
}
}

struct Account {
  long id = 0;
};
std::vector<Fence> written;
void write(const Account&, long, const Fence& fence) { written.push_back(fence); }

void transfer(const Account& from, const Account& to, long amount) {
  LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s, 30s)
      .fenced() AROUND(from, to) {
    const latchkey::Hold& hold = *latchkey::current_hold();
    write(from, -amount, *hold.fence(0));
    write(to, amount, *hold.fence(1));
  };
}

void receive(const std::string& header) {
latchkey::SeenFences seen;   // in the service that receives it
latchkey::check_fence(header, "order:42", seen);   // throws FenceRejected: answer 412
}

std::string read(const char*) { return "1"; }
std::string next_report(const std::string& before) { return before + "2"; }

void write_file(const Fence& fence) {
const latchkey::FencedFile file("report.json");
file.admit(fence);                      // from now on no earlier holder can write
file.write(fence, next_report(read("report.json")));
}
// clang-format on

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string page() {
  const std::string here = __FILE__;
  return content(here.substr(0, here.rfind("/tests/") + 1) + "docs/fencing.md");
}

/// In one line, with single spaces.
std::string on_one_line(const std::string& text) {
  std::string result;
  for (const char byte : text) {
    const bool space = byte == ' ' || byte == '\n';
    if (!space || !result.ends_with(' ')) result += space ? ' ' : byte;
  }
  return result;
}

TEST(DocsFencing, AHolderSendsAndAServiceChecks) {
  const Locks locks = Locks::connect("memory:");
  write_under_a_lock(locks);
  const std::string name = "Latchkey-Fence: ";
  ASSERT_TRUE(sent_header.starts_with(name));
  receive(sent_header.substr(name.size()));
  EXPECT_THROW(receive("order:7/FENCED/1"), FenceError);
}

TEST(DocsFencing, EachKeyOfATransferHasAFence) {
  const latchkey::testing::ScopedLocks scope;
  written.clear();
  transfer({7}, {3}, 100);
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0].key, "account:7");
  EXPECT_EQ(written[1].key, "account:3");
  SeenFences seen;
  const Fence checked = check_fence(written[1].text(), "account:3", seen, LockType::WRITE);
  EXPECT_EQ(checked, written[1]);
}

TEST(DocsFencing, ABodyOfLockedHasAFence) {
  const latchkey::testing::ScopedLocks scope;
  const std::string id = "42";
  const auto body = [&] {
    return LOCKED("order:{id}", LockType::FENCED) AROUND(id) {
      return latchkey::current_hold()->fence()->text();
    };
  };
  EXPECT_TRUE(body().starts_with("order:42/FENCED/"));
  const Hold hold = LOCKED("order:{id}", LockType::FENCED) HERE(id);
  EXPECT_EQ(hold.fence()->key, "order:42");
}

TEST(DocsFencing, AFileIsWrittenUnderAFence) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file({.key = "report", .token = 9});
  std::filesystem::current_path(before);
  EXPECT_EQ(folder.read("report.json"), "12");
  EXPECT_EQ(folder.read("report.json.fence"), "report/FENCED/9\n");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DocsFencing, TheErrorsAreThoseOfThePage) {
  const std::string text = page();
  const std::string wrong = refusal([] { static_cast<void>(Fence::parse("order:42/FENCD/17")); });
  EXPECT_TRUE(has(text, wrong)) << wrong;
  const std::string late = FenceRejected("order:42", 5, 9).what();
  EXPECT_TRUE(has(text, late)) << late;
}

TEST(DocsFencing, TheStatementsAreThoseOfTheHeader) {
  std::string text = on_one_line(page());
  const auto replace_all = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  const std::string original = text;
  replace_all(":name", "$1");
  replace_all(":token", "$2");
  EXPECT_TRUE(has(text, fence_sql::postgresql)) << text;
  text = original;
  replace_all(":name", "?");
  replace_all(":token", "?");
  EXPECT_TRUE(has(text, fence_sql::mysql_note)) << text;
  EXPECT_TRUE(has(text, fence_sql::mysql_highest)) << text;
}

}  // namespace
}  // namespace latchkey::tests
