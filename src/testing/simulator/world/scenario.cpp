// Draws scenarios.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/world/scenario.hpp"

#include <algorithm>
#include <initializer_list>

namespace latchkey::inline v1::sim {

using std::chrono::milliseconds;

// The order of the draws is part of what a seed means. The chance of a downgrade scenario, the
// length of cohorts and what concerns common checks are drawn from a copy of the generator, so that
// they do not change the other draws.
Scenario Scenario::draw(Random& random) {
  Random copy = random;
  Scenario it = draw_any(random);
  if (copy.below(9) == 0) it.favour_downgrades();
  it.settings.cohort = copy.pick({milliseconds(0), milliseconds(5), milliseconds(100)});
  it.settings.common_checks = !it.immediate && copy.percent(50);
  it.settings.check_phase = copy.between({}, std::chrono::seconds(10));
  if (it.settings.common_checks && copy.percent(20)) it.favour_batches();
  if (copy.percent(6)) it.favour_contention(copy);
  if (copy.percent(12)) it.favour_semaphores(copy);
  if (copy.percent(6)) it.favour_hand_offs(copy);
  return it;
}

Scenario Scenario::draw_any(Random& random) {
  Scenario it;
  it.clients = 2 + static_cast<std::uint32_t>(random.below(2));
  it.callers = 1 + static_cast<std::uint32_t>(random.below(4));
  for (std::uint64_t keys = 1 + random.below(2); keys > 0; --keys) {
    it.keys.push_back(random.pick({Family::reentrant, Family::fair, Family::fenced, Family::plain,
                                   Family::read_write, Family::read_write}));
  }
  it.settings.watchdog = random.pick({milliseconds(600), milliseconds(1'500), milliseconds(6'000)});
  it.settings.command_timeout = random.pick({milliseconds(100), milliseconds(400)});
  it.settings.unavailable_after = milliseconds(3'000);
  it.settings.in_order = random.percent(50);
  it.settings.pushes = random.percent(80);
  it.settings.grants = random.percent(80);
  it.settings.events = detail::CoordinatorSettings::Events::losses;
  it.drift = random.percent(50) ? 3'000 : 0;
  it.slowest = random.pick({milliseconds(1), milliseconds(5), milliseconds(20)});
  it.shares_owners = random.percent(30);
  it.holds_longer_than_leases = random.percent(60);
  it.fault_free = random.percent(25);
  it.immediate = random.percent(10);
  if (it.immediate) it.settings.in_order = it.settings.pushes = true;
  if (!it.fault_free) it.draw_faults(random);
  it.multi_key = random.percent(30);
  for (std::uint64_t more = it.multi_key ? 1 + random.below(2) : 0; more > 0; --more) {
    it.keys.push_back(random.pick({Family::reentrant, Family::reentrant, Family::fair,
                                   Family::fenced, Family::read_write, Family::read_write}));
  }
  return it;
}

void Scenario::draw_faults(Random& random) {
  if (!settings.in_order) {
    loss_percent = random.pick({0U, 2U, 10U});
    duplicate_percent = random.pick({0U, 5U});
  }
  delay_percent = random.pick({0U, 1U, 5U});
  if (!immediate) cut_rate = random.pick({0U, 3U, 15U});
  freeze_rate = random.pick({0U, 3U, 10U});
  crash_rate = random.pick({0U, 2U});
  jump_forward_rate = random.pick({0U, 0U, 3U});
  force_release_rate = random.pick({0U, 5U});
  migration_rate = random.pick({0U, 0U, 100U});
  // A server that restarts after its clock went back may issue a token twice, so only one of the
  // two occurs.
  (random.percent(50) ? jump_back_rate : restart_rate) = random.pick({0U, 2U});
  // Holders cannot detect what else the server does while a slot moves.
  if (migration_rate != 0) force_release_rate = jump_forward_rate = restart_rate = 0;
}

// Readers inside a WRITE, and a network that loses the replies to downgrades.
void Scenario::favour_downgrades() {
  for (Family& family : keys) family = Family::read_write;
  fault_free = immediate = multi_key = settings.in_order = false;
  loss_percent = 10;
  delay_percent = 5;
  cut_rate = freeze_rate = crash_rate = jump_forward_rate = force_release_rate = 0;
}

// Several keys that a client holds for long, so that it checks them together, and a store that
// drops one of them.
void Scenario::favour_batches() {
  keys = {Family::reentrant, Family::read_write, Family::fenced, Family::read_write};
  callers = 4;
  settings.watchdog = milliseconds(6'000);
  fault_free = immediate = false;
  holds_longer_than_leases = true;
  clear_faults();
  force_release_rate = 10;
}

// Processes that want one key all the time, on a good network. One of them may be Redisson's.
void Scenario::favour_contention(Random& random) {
  keys = {random.pick({Family::reentrant, Family::fenced, Family::fair})};
  contended = fault_free = true;
  immediate = multi_key = shares_owners = holds_longer_than_leases = false;
  settings.pushes = settings.grants = true;
  settings.watchdog = milliseconds(6'000);  // long enough for a place in the process queue
  settings.cohort = milliseconds(5);
  foreign = static_cast<std::uint32_t>(random.below(2));
  drift = 0;
  clear_faults();
}

// More callers than permits.
void Scenario::favour_semaphores(Random& random) {
  keys = {Family::semaphore};
  if (random.percent(30)) keys.push_back(Family::reentrant);
  callers = 2 + static_cast<std::uint32_t>(random.below(4));
  contended = multi_key = false;
  foreign = 0;
  migration_rate = 0;
  hurried = random.percent(50);
}

// Calls of one process that take over from one another, for different leases.
void Scenario::favour_hand_offs(Random& random) {
  keys = {random.pick({Family::reentrant, Family::fenced, Family::semaphore})};
  clients = 2;
  callers = 5;
  hurried = fault_free = holds_longer_than_leases = true;
  contended = immediate = multi_key = shares_owners = false;
  foreign = 0;
  drift = 0;
  clear_faults();
  slowest = milliseconds(1);
  settings.watchdog = milliseconds(6'000);
  settings.cohort = milliseconds(100);
}

// A store that tells of those who wait, with or without an order of requests. Leases are long
// enough for idle holds.
void Scenario::favour_idle_holds(Random& random) {
  if (immediate) return;
  settings.cache =
      random.pick({milliseconds(50), milliseconds(300), milliseconds(1'000), adaptive_cache});
  settings.in_order = random.percent(50);
  settings.pushes = settings.grants = true;
  settings.watchdog = milliseconds(6'000);
  keys.front() = random.pick({Family::reentrant, Family::fenced, Family::read_write});
  duplicate_percent = 0;
  if (settings.in_order) loss_percent = migration_rate = 0;
  callers = 1 + static_cast<std::uint32_t>(random.below(2));
  hurried = random.percent(50);
  if (random.percent(50)) {
    fault_free = true;
    drift = 0;
    clear_faults();
  }
  if (!fault_free) lost_recalls = random.pick({0U, 0U, 50U});
  if (settings.in_order || random.percent(50)) return;
  // Many requests are late, and the next call comes before that is known.
  fault_free = contended = false;
  hurried = holds_longer_than_leases = true;
  delay_percent = 20;
}

// Promises that hold on a good network only are not expected: there are faults. A store that
// answers at once has no connections that could break.
void Scenario::draw_no_faults() {
  clear_faults();
  hurried = hurried || contended;
  fault_free = immediate = contended = false;
}

void Scenario::clear_faults() {
  loss_percent = duplicate_percent = delay_percent = 0;
  cut_rate = freeze_rate = crash_rate = jump_forward_rate = jump_back_rate = 0;
  restart_rate = force_release_rate = migration_rate = 0;
}

void Scenario::restrict_to(const Capabilities& offered) {
  const auto fits = [&](Family family) {
    switch (family) {
      case Family::reentrant: return offered.reentrant;
      case Family::fair: return offered.fair;
      case Family::fenced: return offered.fenced;
      case Family::plain: return offered.reentrant && offered.fair && offered.fenced;
      case Family::read_write: return offered.read_write;
      case Family::semaphore: return offered.permits;
    }
    return false;
  };
  const std::initializer_list<Family> all = {Family::reentrant, Family::read_write, Family::fenced,
                                             Family::fair};
  for (Family& family : keys) {
    if (!fits(family)) family = *std::find_if(all.begin(), all.end() - 1, fits);
  }
  settings.pushes = settings.pushes && offered.pushes;
  settings.grants = settings.grants && settings.pushes && offered.grants;
  if (!offered.recalls || !settings.grants) settings.cache = milliseconds(0);
  if (contended && !settings.grants) {  // without a queue of processes turns have no bound
    contended = false;
    foreign = 0;
  }
  if (!offered.administration) force_release_rate = 0;
}

}  // namespace latchkey::inline v1::sim
