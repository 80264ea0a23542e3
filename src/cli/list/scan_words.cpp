// The options of the commands that scan a keyspace: how much of it, and how fast.
// SPDX-License-Identifier: BSL-1.0
#include "cli/list/scan_words.hpp"

#include <CLI/CLI.hpp>

namespace latchkey::inline v1::cli {

void add_scan_words(CLI::App& command, ScanWords& words) {
  command.add_option("--rate", words.rate, "How many keys of the server to examine each second")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--limit", words.limit, "Stop after so many keys of the server")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--all", words.all, "Examine all keys, however many there are");
}

}  // namespace latchkey::inline v1::cli
