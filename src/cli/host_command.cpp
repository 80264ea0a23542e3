// The command host: examines the segment of a machine's locks, and replaces a damaged one.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/error.hpp>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "host/segment_check.hpp"

namespace latchkey::inline v1::cli {
namespace {

using detail::host::SegmentPlace;

constexpr const char* host_examples = R"(Examples:
  latchkey host check host:orders
  latchkey host repair host:orders

check examines the shared memory of host: locks, and ends with 1 if something in it contradicts
itself. repair puts a new segment in the place of a damaged one, whose processes find each of their
holds lost; fencing tokens go on. A segment that is sound is left alone, unless --force is said.)";

SegmentPlace place_of(const std::string& uri) {
  try {
    return SegmentPlace::parse(uri);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

/// Calls `act`, whose failures are those of a backend.
template <class Act>
auto with_errors_of(const SegmentPlace& place, Act&& act) {
  try {
    return act();
  } catch (const detail::host::Unusable& why) {
    throw BackendRefused({{}, {}, place.description}, why.what());
  }
}

std::vector<std::string> problems_of(const SegmentPlace& place) {
  return with_errors_of(place, [&] { return detail::host::check_segment(place); });
}

int check(const SegmentPlace& place) {
  const std::vector<std::string> problems = problems_of(place);
  for (const std::string& each : problems) print_message(place.description + ": " + each);
  if (problems.empty()) write_out(place.description + ": sound\n");
  return problems.empty() ? exit_code::success : exit_code::failure;
}

int repair(const SegmentPlace& place, bool force) {
  if (!force && problems_of(place).empty()) {
    write_out(place.description + ": sound, nothing is done\n");
    return exit_code::success;
  }
  with_errors_of(place, [&] { detail::host::replace_segment(place); });
  write_out(place.description + ": replaced by a new segment\n");
  return exit_code::success;
}

}  // namespace

void add_host(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("host", "Examine or repair the shared memory of host: locks");
  const auto what = std::make_shared<std::string>();
  const auto uri = std::make_shared<std::string>();
  const auto force = std::make_shared<bool>(false);
  command->add_option("action", *what, "check or repair")->required()->type_name("ACTION");
  command->add_option("uri", *uri, "host:name or host:/path")->required()->type_name("URI");
  command->add_flag("--force", *force, "repair: also replace a segment that is sound");
  command->footer(host_examples);
  command->callback([&action, what, uri, force] {
    action = [what, uri, force] {
      if (*what == "check") return check(place_of(*uri));
      if (*what == "repair") return repair(place_of(*uri), *force);
      throw UsageError("host '" + *what + "': expected check or repair");
    };
  });
}

}  // namespace latchkey::inline v1::cli
