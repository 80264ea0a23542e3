// The settings of latchkey_chaos: options of the command line, then variables of the environment.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

enum class DeploymentKind : std::uint8_t {
  all,           ///< each of those of Redis, for a part of the time
  stores,        ///< each of those of other stores, for a part of the time
  single,        ///< one server, and a fault proxy for each worker
  cluster,       ///< three nodes
  sentinel,      ///< a master, two replicas and three sentinels
  confirmed,     ///< as `sentinel`, and both replicas confirm each grant
  quorum,        ///< three servers, of which the first one is disturbed
  tool,          ///< one server, and a worker that locks with `latchkey run`
  idle,          ///< one server, and workers that keep what they have released
  idle_cluster,  ///< three nodes, and workers as those of `idle`
  redisson,      ///< one server, and a worker that locks with Redisson; not one of `all`
  etcd,
  mongodb,  ///< FerretDB
  mysql,    ///< MariaDB
  postgresql,
  zookeeper,
};

struct Settings {
  std::chrono::milliseconds length{20'000};
  std::uint64_t seed = 0;
  Client client = Client::latchkey;
  DeploymentKind deployment = DeploymentKind::all;
  /// 4 with 6 each; for a client with a defect 2 of each, because two rivals show it sooner.
  std::uint32_t workers = 0, threads = 0;
  /// Only these faults of each round, by their number in its plan; empty: all.
  std::optional<std::set<std::size_t>> only{};
  /// Workers that are not started, by their number. The others keep their numbers, their seeds and
  /// their faults.
  std::set<std::uint32_t> without{};
  /// Only kinds of faults whose name contains one of these, which commas separate.
  std::string kind;
  /// How many rounds a violation is shortened by; 0: it is not.
  int shorten = 12;
  /// A file with a schedule that runs in the simulator instead of a campaign; empty: a campaign.
  std::string simulate;
  /// The program of tests/chaos/porcupine, which checks each round; empty: it was not built.
  std::string porcupine;
};

inline constexpr const char* usage =
    "latchkey_chaos [--for 10min] [--seed N] [--workers N] [--threads N] [--only 3,7|none]\n"
    "               [--deployment all|single|cluster|sentinel|confirmed|quorum|tool|\n"
    "                             idle|idle-cluster|redisson|stores|etcd|mongodb|mysql|\n"
    "                             postgresql|zookeeper]\n"
    "               [--without 1,3] [--kind TEXT,...] [--shorten 12]\n"
    "               [--client latchkey|no-lock|reply-lease|thread-id|never-lost]\n"
    "latchkey_chaos --replay FILE [OPTION...]\n"
    "latchkey_chaos --simulate FILE [--for 20s] [--seed N]\n"
    "\n"
    "--kind draws only faults whose name contains one of the texts, and --shorten is how many\n"
    "rounds may be run to find fewer faults and workers that cause a violation. --without does "
    "not\n"
    "start these workers. --replay reads the options that a campaign has left in a file when it\n"
    "found a violation, and --simulate runs the faults that it has left for the simulator.\n"
    "LATCHKEY_CHAOS is the default of --for, and LATCHKEY_SEED that of --seed; without both, the\n"
    "seed is drawn. LATCHKEY_REDIS_SERVER names the server program. Exit status: 0 without a\n"
    "violation, 1 with one, 2 for anything else.\n";

[[nodiscard]] const char* name_of(DeploymentKind kind) noexcept;
/// Those that `kind` stands for; one, unless it is all or stores.
[[nodiscard]] std::vector<DeploymentKind> deployments_of(DeploymentKind kind);
/// Whether `name` contains one of the texts, which commas separate.
[[nodiscard]] bool is_chosen(std::string_view name, const std::string& texts);

/// Throws std::invalid_argument that names the wrong word.
Settings read_settings(const std::vector<std::string>& words);

/// "500ms", "20s", "10min", "8h"
std::chrono::milliseconds parse_length(const std::string& text);

/// An option, and its value.
struct Option {
  std::string name, value;
};

/// The options that run one round again, and no other. Nothing is shortened.
std::vector<Option> replay_options(const Settings& settings, std::uint64_t seed_of_round);

/// The command that runs one round again, with `replay_options`.
std::string replay_command(const Settings& settings, std::uint64_t seed_of_round);

}  // namespace latchkey::chaos
