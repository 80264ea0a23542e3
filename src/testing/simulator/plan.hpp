// What one seed does: who takes part, over which network, and which faults come.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/lock_type.hpp>

#include "locks/coordinator_context.hpp"
#include "testing/simulator/random.hpp"

namespace latchkey::sim {

/// Drawn from the seed before anything happens. All chances are in percent.
struct Plan {
  /// How keys are locked: one family of types each.
  enum class Family : std::uint8_t { reentrant, fair, fenced, plain, read_write };

  std::uint32_t clients = 2;
  std::uint32_t callers = 2;  ///< per client
  std::vector<Family> keys;
  detail::CoordinatorSettings settings;
  bool good = true;           ///< no fault of any kind
  std::int64_t drift = 0;     ///< clients' clocks, at most so many millionths
  Clock::duration slowest{};  ///< of an undisturbed message
  bool at_once = false;       ///< requests are answered as they are made: locks in memory
  bool shares_owners = false;
  bool joint = false;  ///< some callers take several keys at once
  bool pauses = true;  ///< callers may hold for longer than their leases last

  unsigned loses = 0;  ///< a request, or its reply
  unsigned doubles = 0;
  unsigned delays = 0;          ///< by up to some seconds: late or, in order, a stall
  unsigned cuts = 0;            ///< per 1000 steps: the link of a client
  unsigned freezes = 0;         ///< per 1000 steps
  unsigned crashes = 0;         ///< per 1000 steps
  unsigned jumps_forward = 0;   ///< per 1000 steps: the server's clock
  unsigned jumps_back = 0;      ///< per 1000 steps
  unsigned restarts = 0;        ///< per 1000 steps: the server, empty
  unsigned force_releases = 0;  ///< per 1000 steps
  unsigned migrations = 0;      ///< per 1000 steps

  static Plan of(Random& random) {
    using std::chrono::milliseconds;
    Plan plan;
    plan.clients = 2 + static_cast<std::uint32_t>(random.below(2));
    plan.callers = 1 + static_cast<std::uint32_t>(random.below(4));
    for (std::uint64_t keys = 1 + random.below(2); keys > 0; --keys) {
      plan.keys.push_back(random.pick({Family::reentrant, Family::fair, Family::fenced,
                                       Family::plain, Family::read_write, Family::read_write}));
    }
    plan.settings.watchdog =
        random.pick({milliseconds(600), milliseconds(1'500), milliseconds(6'000)});
    plan.settings.command_timeout = random.pick({milliseconds(100), milliseconds(400)});
    plan.settings.unavailable_after = milliseconds(3'000);
    plan.settings.in_order = random.percent(50);
    plan.settings.pushes = random.percent(80);
    plan.settings.events = detail::CoordinatorSettings::Events::losses;
    plan.drift = random.percent(50) ? 3'000 : 0;
    plan.slowest = random.pick({milliseconds(1), milliseconds(5), milliseconds(20)});
    plan.shares_owners = random.percent(30);
    plan.pauses = random.percent(60);
    plan.good = random.percent(25);
    plan.at_once = random.percent(10);
    if (plan.at_once) plan.settings.in_order = plan.settings.pushes = true;
    if (!plan.good) plan.draw_faults(random);
    plan.joint = random.percent(30);
    for (std::uint64_t more = plan.joint ? 1 + random.below(2) : 0; more > 0; --more) {
      plan.keys.push_back(random.pick({Family::reentrant, Family::reentrant, Family::fair,
                                       Family::fenced, Family::read_write, Family::read_write}));
    }
    return plan;
  }

  /// Leaves out what the store does not offer.
  void keep_to(const Capabilities& offered) {
    const auto fits = [&](Family family) {
      switch (family) {
        case Family::reentrant: return offered.reentrant;
        case Family::fair: return offered.fair;
        case Family::fenced: return offered.fenced;
        case Family::plain: return offered.reentrant && offered.fair && offered.fenced;
        case Family::read_write: return offered.read_write;
      }
      return false;
    };
    const std::initializer_list<Family> all = {Family::reentrant, Family::read_write,
                                               Family::fenced, Family::fair};
    for (Family& family : keys) {
      if (!fits(family)) family = *std::find_if(all.begin(), all.end() - 1, fits);
    }
    settings.pushes = settings.pushes && offered.pushes;
    if (!offered.administration) force_releases = 0;
  }

 private:
  void draw_faults(Random& random) {
    if (!settings.in_order) {
      loses = random.pick({0U, 2U, 10U});
      doubles = random.pick({0U, 5U});
    }
    delays = random.pick({0U, 1U, 5U});
    if (!at_once) cuts = random.pick({0U, 3U, 15U});
    freezes = random.pick({0U, 3U, 10U});
    crashes = random.pick({0U, 2U});
    jumps_forward = random.pick({0U, 0U, 3U});
    force_releases = random.pick({0U, 5U});
    migrations = random.pick({0U, 0U, 100U});
    // A server that restarts with a clock that went back may repeat tokens: nobody promises more.
    (random.percent(50) ? jumps_back : restarts) = random.pick({0U, 2U});
    // A slot that moves keeps holders from noticing what else the server does.
    if (migrations != 0) force_releases = jumps_forward = restarts = 0;
  }
};

}  // namespace latchkey::sim
