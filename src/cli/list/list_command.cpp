// `latchkey ls`: which locks are held.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/connection.hpp"
#include "cli/list/scan.hpp"
#include "cli/look/lock_state.hpp"
#include "cli/output.hpp"
#include "core/text/printable.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* list_examples = R"(Examples:
  latchkey ls redis://127.0.0.1
  latchkey ls 'order:*' --long redis://127.0.0.1
  latchkey ls --all --rate 100000 --json redis://127.0.0.1 | jq -r .key

ls scans the server in small steps, 20000 keys a second, and stops after 100000 keys unless --all
is given. Exit status: 0, also if there is no lock; 77 if the backend refused to describe one,
which is named on stderr.)";

struct ListWords {
  ConnectionOptions connection{};
  std::string pattern = "*";
  ScanWords scan{20'000, 100'000};
  bool json = false;
  bool details = false;
};

/// Both positional arguments are optional, and only one of them is a URI. Without any other URI, an
/// address is one whose scheme was forgotten.
void choose_uri(std::string& pattern, ConnectionOptions& connection) {
  std::string& uri = connection.uri;
  const bool none_is_named =
      uri.empty() && connection.config.empty() && std::getenv("LATCHKEY_URI") == nullptr;
  const bool forgotten =
      is_address(pattern) && (none_is_named || !(is_address(uri) || uri.empty()));
  if (is_uri(uri) || !(is_uri(pattern) || forgotten)) return;
  std::swap(pattern, uri);
  if (pattern.empty()) pattern = "*";
}

/// The cost of an inspect for a server, in keys that a scan examines (measured).
constexpr std::uint64_t keys_per_inspect = 10;

std::string keys_json(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) {
    text += json_line({{"key", key}});
  }
  return text;
}

std::string keys_text(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += detail::printable(key) + '\n';
  return text;
}

/// Prints each lock of a scan once.
class Printer {
 public:
  Printer(const Locks& locks, const ListWords& words) : locks_(locks), words_(words) {}

  /// Returns what it cost the server, in keys of a scan.
  std::uint64_t print(std::vector<std::string> keys) {
    std::erase_if(keys, [this](const std::string& key) { return !printed_.insert(key).second; });
    if (words_.details) return print_details(keys);
    const std::string text = words_.json ? keys_json(keys) : keys_text(keys);
    write_out(text);
    return 0;
  }

  [[nodiscard]] int exit_status() const noexcept { return exit_status_; }

 private:
  std::uint64_t print_details(const std::vector<std::string>& keys) {
    const auto note_refusal = [this](std::string_view why) {
      print_message(why);
      exit_status_ = exit_code::refused;
    };
    for (const LockInfo& info : inspect_each(locks_, keys, note_refusal)) {
      if (!info.locked) continue;  // released since the scan
      const std::string text =
          words_.json ? lock_json(info) : lock_text(info, notice_of(locks_, info));
      write_out(text);
    }
    return keys.size() * keys_per_inspect;
  }

  const Locks& locks_;
  const ListWords& words_;
  std::unordered_set<std::string> printed_;
  int exit_status_ = exit_code::success;
};

int list(const ListWords& words) {
  const Locks locks = connect(choose_place(words.connection));
  Scan scan(locks, words.pattern, words.scan.most());
  Printer printer(locks, words);
  ProgressLine progress;
  using Clock = std::chrono::steady_clock;
  Pacer pacer(words.scan.rate, std::chrono::milliseconds(100), Clock::now());
  while (!scan.ended()) {
    std::this_thread::sleep_until(pacer.due());
    const std::uint64_t before = scan.examined();
    std::vector<std::string> keys = scan.next(Scan::page_size);
    progress.clear();
    pacer.spend(scan.examined() - before + printer.print(std::move(keys)));
    progress.show(scan.progress());
    static_cast<void>(pacer.available(Clock::now()));
  }
  progress.clear();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::runtime_error("cannot write the list to stdout");
  }
  if (!scan.complete()) {
    print_message("there may be more locks: " + scan.progress() +
                  "; expected --all to scan the rest, or a larger --limit");
  }
  return printer.exit_status();
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("ls", "List the locks that are held");
  const auto words = std::make_shared<ListWords>();
  command
      ->add_option("pattern", words->pattern,
                   "Which locks: * is any text, ? any byte, [a-c] one of these")
      ->type_name("PATTERN");
  add_connection_words(*command, words->connection);
  add_scan_words(*command, words->scan);
  command->add_flag("--long,-l", words->details, "Also who holds each lock, and who waits");
  command->add_flag("--json", words->json, "One JSON object on one line for each lock");
  command->footer(list_examples);
  command->callback([words, &action] {
    choose_uri(words->pattern, words->connection);
    action = [words] { return list(*words); };
  });
}

}  // namespace latchkey::inline v1::cli
