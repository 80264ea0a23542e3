// The operator's commands: ping, revoke, show, unlock.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/look/lock_state.hpp"
#include "cli/output.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* show_examples = R"(Examples:
  latchkey show order:42 redis://127.0.0.1
  latchkey show order:42 --json | jq -r '.holders[].id')";

constexpr const char* unlock_examples = R"(Examples:
  latchkey unlock order:42 --owner 0b1c7d1e-6c5e-8f0a-9d55-3c1f1a2b3c4d:17 redis://127.0.0.1
  latchkey unlock order:42 --force redis://127.0.0.1)";

constexpr const char* revoke_examples = R"(Examples:
  latchkey revoke order:42 redis://127.0.0.1
  latchkey revoke order:42 --prefix shop: --json)";

constexpr const char* ping_examples = R"(Examples:
  latchkey ping redis://127.0.0.1
  latchkey ping --count 100 --json redis://127.0.0.1)";

struct LookWords {
  ConnectionOptions connection{};
  std::string key{};
  bool json = false;
  bool force = false;
  std::string owner{};
  int count = 3;
};

/// Adds the options that all of them have.
std::shared_ptr<LookWords> add_words(CLI::App& command, bool names_a_key) {
  auto words = std::make_shared<LookWords>();
  if (names_a_key) {
    command.add_option("key", words->key, "Which lock")->required()->type_name("KEY");
  }
  add_connection_words(command, words->connection);
  command.add_flag("--json", words->json, "One JSON object on one line");
  return words;
}

int show(const LookWords& words) {
  const Locks locks = connect(choose_place(words.connection));
  const LockInfo info = inspect(locks, words.key);
  write_out(words.json ? lock_json(info) : lock_text(info, notice_of(locks, info)));
  return info.locked ? exit_code::success : exit_code::failure;
}

/// Ends all holds of a semaphore, which keeps its number of permits.
bool release_permits(const LookWords& words, const Locks& locks, const PermitInfo& permits) {
  if (!words.force) {
    throw UsageError(
        "'" + words.key +
        "' is a semaphore, whose permits are taken from all holders together; expected "
        "--force");
  }
  const int total = static_cast<int>(permits.total);
  const Semaphore semaphore = locks.semaphore(words.key, total);
  if (!semaphore.destroy()) return false;
  semaphore.set_total(total);
  return permits.available != permits.total;
}

bool release(const LookWords& words, const Locks& locks, const LockInfo& info) {
  if (info.permits) return release_permits(words, locks, *info.permits);
  if (words.force) return locks.force_release(words.key);
  try {
    return locks.release_holder(words.key, words.owner);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--owner ") + error.what());
  }
}

int unlock(const LookWords& words) {
  if (words.force != words.owner.empty()) {
    throw UsageError(
        "unlock takes the lock from its holder, which goes on working until it finds out; expected "
        "--force, or --owner ID for one holder only");
  }
  const Locks locks = connect(choose_place(words.connection));
  const LockInfo info = inspect(locks, words.key);
  const bool was_held = release(words, locks, info);
  if (words.json) {
    write_out(json_line({{"key", words.key}, {"released", was_held}}));
  } else if (was_held) {
    write_out(taken_text(info, words.owner, notice_of(locks, info)));
  } else {
    print_message("'" + words.key + "' is not locked" +
                  (words.force ? std::string() : " by " + words.owner));
  }
  return was_held ? exit_code::success : exit_code::failure;
}

/// Asks the holders of the lock to release it. What they do is theirs.
int revoke(const LookWords& words) {
  const Locks locks = connect(choose_place(words.connection));
  if (!locks.capabilities().revocation) {
    throw UsageError("revoke: " + locks.describe() +
                     " cannot ask a holder to release its lock; expected redis://");
  }
  const LockInfo info = inspect(locks, words.key);
  const std::size_t told = info.locked ? locks.revoke(words.key) : 0;
  if (words.json) {
    write_out(json_line({{"key", words.key}, {"locked", info.locked}, {"told", told}}));
  } else if (told > 0) {
    write_out(asked_text(info, told));
  } else {
    print_message("'" + words.key +
                  (info.locked ? "' is locked, and no holder listens: nobody was asked; "
                                 "latchkey unlock takes the lock from its holder"
                               : "' is not locked"));
  }
  return told > 0 ? exit_code::success : exit_code::failure;
}

using Milliseconds = std::chrono::duration<double, std::milli>;

/// Acquires and releases a lock that no other client uses: tests more than an open port.
int ping(const LookWords& words) {
  const auto start = std::chrono::steady_clock::now();
  Locks locks = connect(choose_place(words.connection));
  const std::string key =
      fmt::format("latchkey_ping:{}:{}", ::getpid(), start.time_since_epoch().count());
  const Milliseconds connected = std::chrono::steady_clock::now() - start;
  std::vector<double> times;
  for (int round = 0; round < words.count; ++round) {
    const auto before = std::chrono::steady_clock::now();
    Hold hold = locks.lock(key).acquire(std::chrono::seconds(0), std::chrono::seconds(10));
    hold.release();
    times.push_back(Milliseconds(std::chrono::steady_clock::now() - before).count());
  }
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  if (words.json) {
    write_out(json_line({{"backend", locks.describe()},
                         {"connect_ms", connected.count()},
                         {"lock_and_unlock_ms",
                          {{"min", times.front()}, {"median", median}, {"max", times.back()}}}}));
  } else {
    write_out(fmt::format(
        "{}: connected in {:.2f} ms; lock and unlock in {:.2f}/{:.2f}/{:.2f} ms "
        "(min/median/max of {})\n",
        locks.describe(), connected.count(), times.front(), median, times.back(), times.size()));
  }
  return exit_code::success;
}

}  // namespace

void add_ping(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("ping", "Take and release a lock, and say how long that took");
  const auto words = add_words(*command, false);
  command->add_option("--count,-n", words->count, "How often")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  command->footer(ping_examples);
  command->callback([words, &action] { action = [words] { return ping(*words); }; });
}

void add_show(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "show", "Show who holds a lock, for how long, and who queues; exit status 1: not locked");
  const auto words = add_words(*command, true);
  command->footer(show_examples);
  command->callback([words, &action] { action = [words] { return show(*words); }; });
}

void add_revoke(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "revoke",
      "Ask the holders of a lock to release it; exit status 1: it was not locked, or none listens");
  const auto words = add_words(*command, true);
  command->footer(revoke_examples);
  command->callback([words, &action] { action = [words] { return revoke(*words); }; });
}

void add_unlock(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "unlock", "Take a lock from its holder; exit status 1: it was not locked, or not by ID");
  const auto words = add_words(*command, true);
  command->add_flag(
      "--force", words->force,
      "From all its holders, whoever they are; they notice usually within milliseconds, or at "
      "their next check");
  command->add_option("--owner", words->owner, "From this holder only: its id, as show prints it")
      ->type_name("ID");
  command->footer(unlock_examples);
  command->callback([words, &action] { action = [words] { return unlock(*words); }; });
}

}  // namespace latchkey::inline v1::cli
