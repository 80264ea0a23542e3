// The settings of latchkey_chaos.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <variant>

#include "chaos/reproduction/replay_file.hpp"
#include "core/text/duration.hpp"

namespace latchkey::chaos {
namespace {

struct ClientName {
  Client client;
  const char* name;
};
constexpr std::array client_names{
    ClientName{Client::latchkey, "latchkey"}, ClientName{Client::no_lock, "no-lock"},
    ClientName{Client::reply_lease, "reply-lease"}, ClientName{Client::thread_id, "thread-id"},
    ClientName{Client::never_lost, "never-lost"}};

/// In the order of DeploymentKind.
constexpr std::array deployment_names{"all",      "stores",       "single",     "cluster",
                                      "sentinel", "confirmed",    "quorum",     "tool",
                                      "idle",     "idle-cluster", "redisson",   "etcd",
                                      "mongodb",  "mysql",        "postgresql", "zookeeper"};

std::uint64_t parse_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) {
    throw std::invalid_argument("expected a number, not '" + text + "'");
  }
  return number;
}

constexpr std::uint32_t most_of_each = 8;

std::uint32_t parse_count(const std::string& text) {
  const std::uint64_t count = parse_number(text);
  if (count < 1 || count > most_of_each)
    throw std::invalid_argument("expected 1 to 8, not '" + text + "'");
  return static_cast<std::uint32_t>(count);
}

Client parse_client(const std::string& text) {
  for (const ClientName& each : client_names) {
    if (text == each.name) return each.client;
  }
  throw std::invalid_argument(
      "unknown client '" + text +
      "'; expected latchkey, no-lock, reply-lease, thread-id or never-lost");
}

DeploymentKind parse_deployment(const std::string& text) {
  for (std::size_t kind = 0; kind < deployment_names.size(); ++kind) {
    if (text == deployment_names[kind]) return static_cast<DeploymentKind>(kind);
  }
  std::string names = deployment_names.front();
  for (std::size_t kind = 1; kind < deployment_names.size(); ++kind) {
    names += (kind + 1 < deployment_names.size() ? ", " : " or ");
    names += deployment_names[kind];
  }
  throw std::invalid_argument("unknown deployment '" + text + "'; expected " + names);
}

std::set<std::size_t> parse_numbers(const std::string& text) {
  std::set<std::size_t> numbers;
  if (text == "none") return numbers;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) numbers.insert(parse_number(word));
  return numbers;
}

[[noreturn]] void throw_unknown_worker(std::size_t worker, std::uint32_t workers) {
  throw std::invalid_argument("unknown worker '" + std::to_string(worker) + "'; expected 0 to " +
                              std::to_string(workers - 1));
}

std::set<std::uint32_t> parse_workers(const std::string& text) {
  std::set<std::uint32_t> workers;
  for (const std::size_t each : parse_numbers(text)) {
    if (each >= most_of_each) throw_unknown_worker(each, most_of_each);
    workers.insert(static_cast<std::uint32_t>(each));
  }
  return workers;
}

std::string text_of(const auto& numbers) {
  std::string text;
  for (const auto each : numbers) text += (text.empty() ? "" : ",") + std::to_string(each);
  return text.empty() ? "none" : text;
}

void check_workers(const Settings& settings) {
  for (const std::uint32_t worker : settings.without) {
    if (worker >= settings.workers) throw_unknown_worker(worker, settings.workers);
  }
  if (settings.without.size() == settings.workers) {
    throw std::invalid_argument("--without leaves no worker");
  }
}

void set(Settings& settings, const std::string& name, const std::string& value) {
  if (name == "--for")
    settings.length = parse_length(value);
  else if (name == "--seed")
    settings.seed = parse_number(value);
  else if (name == "--workers")
    settings.workers = parse_count(value);
  else if (name == "--threads")
    settings.threads = parse_count(value);
  else if (name == "--client")
    settings.client = parse_client(value);
  else if (name == "--deployment")
    settings.deployment = parse_deployment(value);
  else if (name == "--kind")
    settings.kind = value;
  else if (name == "--shorten")
    settings.shorten = static_cast<int>(parse_number(value));
  else if (name == "--only")
    settings.only = parse_numbers(value);
  else if (name == "--without")
    settings.without = parse_workers(value);
  else if (name == "--simulate")
    settings.simulate = value;
  else
    throw std::invalid_argument("unknown option '" + name + "'");
}

/// Sets the options of a file. A message names its line.
void set_all(Settings& settings, const std::string& file) {
  for (const ReplayLine& line : read_replay(file)) {
    try {
      set(settings, line.option.name, line.option.value);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(file + ":" + std::to_string(line.number) + ": " + error.what());
    }
  }
}

}  // namespace

const char* name_of(DeploymentKind kind) noexcept {
  return deployment_names[static_cast<std::size_t>(kind)];
}

std::vector<DeploymentKind> deployments_of(DeploymentKind kind) {
  using enum DeploymentKind;
  switch (kind) {
    case all: return {single, cluster, sentinel, confirmed, quorum, tool, idle, idle_cluster};
    case stores: return {etcd, mongodb, mysql, postgresql, zookeeper};
    default: return {kind};
  }
}

bool is_chosen(std::string_view name, const std::string& texts) {
  std::istringstream words(texts);
  for (std::string word; std::getline(words, word, ',');) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::chrono::milliseconds parse_length(const std::string& text) {
  const detail::Duration parsed = detail::parse_duration(text);
  const auto* const length = std::get_if<std::chrono::milliseconds>(&parsed);
  if (length != nullptr && *length > length->zero()) return *length;
  throw std::invalid_argument("expected a time such as 500ms, 20s, 10min or 8h, not '" + text +
                              "'");
}

Settings read_settings(const std::vector<std::string>& words) {
  Settings settings;
  settings.seed = std::random_device{}() % 1'000'000'000;
  if (const char* const text = std::getenv("LATCHKEY_CHAOS")) settings.length = parse_length(text);
  const char* const seed = std::getenv("LATCHKEY_SEED");
  if (seed != nullptr && *seed != '\0') settings.seed = parse_number(seed);
  for (std::size_t index = 0; index < words.size(); index += 2) {
    const std::string& name = words[index];
    if (index + 1 == words.size()) throw std::invalid_argument("no value for '" + name + "'");
    const std::string& value = words[index + 1];
    name == "--replay" ? set_all(settings, value) : set(settings, name, value);
  }
  const bool defective = settings.client != Client::latchkey;
  if (settings.workers == 0) settings.workers = defective ? 2 : 4;
  if (settings.threads == 0) settings.threads = defective ? 2 : 6;
  if (settings.client != Client::latchkey) settings.deployment = DeploymentKind::single;
  constexpr auto fewest = static_cast<std::uint32_t>(tool_worker + 1);
  if (settings.deployment == DeploymentKind::tool && settings.workers < fewest) {
    throw std::invalid_argument("--deployment tool needs --workers 3 or more");
  }
  check_workers(settings);
  return settings;
}

std::vector<Option> replay_options(const Settings& settings, std::uint64_t seed_of_round) {
  std::vector<Option> options{{"--seed", std::to_string(seed_of_round)},
                              {"--for", "1s"},  // less than a round takes
                              {"--shorten", "0"},
                              {"--workers", std::to_string(settings.workers)},
                              {"--threads", std::to_string(settings.threads)}};
  if (settings.client != Client::latchkey) {
    options.push_back({"--client", client_names[static_cast<std::size_t>(settings.client)].name});
  }
  if (settings.deployment != DeploymentKind::all) {
    options.push_back({"--deployment", name_of(settings.deployment)});
  }
  if (!settings.kind.empty()) options.push_back({"--kind", settings.kind});
  if (settings.only) options.push_back({"--only", text_of(*settings.only)});
  if (!settings.without.empty()) options.push_back({"--without", text_of(settings.without)});
  return options;
}

std::string replay_command(const Settings& settings, std::uint64_t seed_of_round) {
  std::string command = settings.deployment == DeploymentKind::redisson
                            ? "scripts/chaos_redisson.sh build/test"
                            : "build/test/tests/latchkey_chaos";
  for (const auto& [name, value] : replay_options(settings, seed_of_round)) {
    const bool is_text = name == "--kind";
    command += " " + name + (is_text ? " '" + value + "'" : " " + value);
  }
  return command;
}

}  // namespace latchkey::chaos
