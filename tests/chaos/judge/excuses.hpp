// Which faults excuse what, for the rules of the judge.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "chaos/judge/judge.hpp"

namespace latchkey::chaos {

inline bool meets(Nanos from, Nanos to, Nanos first, Nanos last) noexcept {
  return from <= last && first <= to;
}

/// The end of a fault; a fault that has not ended lasts for ever.
inline Nanos end_of(const Fault& fault) noexcept {
  return fault.ended != 0 ? fault.ended : INT64_MAX / 2;
}

inline bool concerns(const Fault& fault, std::uint32_t worker) noexcept {
  return fault.worker == -1 || fault.worker == static_cast<int>(worker);
}

/// Whether a worker locks with another library.
inline bool is_foreign(const History& history, std::uint32_t worker) noexcept {
  return std::ranges::find(history.foreign, worker) != history.foreign.end();
}

/// Whether the call was a coroutine, which the visitor may have cancelled.
inline bool is_coroutine(const History& history, const Visit& visit) noexcept {
  return std::ranges::find(history.coroutines, visit.worker) != history.coroutines.end();
}

/// Whether the machine ran nothing for long at some time in [from, to].
inline bool stalled(const History& history, Nanos from, Nanos to) noexcept {
  return std::ranges::any_of(history.stalls, [&](const auto& stall) {
    return meets(from, to, stall.first, stall.second);
  });
}

/// For how much of [from, to] the machine ran nothing, at most.
inline Nanos stalled_length(const History& history, Nanos from, Nanos to) noexcept {
  Nanos length = 0;
  for (const auto& [first, last] : history.stalls) {
    length += std::max<Nanos>(0, std::min(to, last) - std::max(from, first));
  }
  return length;
}

/// Whether replies to `worker` may have been late at some time in [from, to], by another fault than
/// `itself`.
inline bool impaired(const History& history, std::uint32_t worker, Nanos from, Nanos to,
                     const Fault* itself = nullptr) noexcept {
  const auto delays = [&](const Fault& fault) {
    return &fault != itself && fault.has(impairs) && concerns(fault, worker) &&
           meets(from, to, fault.begins, end_of(fault) + history.limits.recovery);
  };
  return stalled(history, from, to) || std::ranges::any_of(history.faults, delays);
}

/// Whether the fault is done to the program of which the visit is.
inline bool is_of_program(const Fault& fault, const Visit& visit) noexcept {
  return fault.worker == static_cast<int>(visit.worker) &&
         fault.thread == static_cast<int>(visit.thread) &&
         meets(visit.called, visit.ended == 0 ? INT64_MAX : visit.ended, fault.begins,
               end_of(fault));
}

/// Whether the visit is a command that another program ends in time.
inline bool is_command(const History& history, const Visit& visit) noexcept {
  return static_cast<int>(visit.worker) == history.limits.tool_worker;
}

/// Whether nobody can have told the visitor during [from, to] that its hold is over. docs/cli.md: a
/// tool that is stopped, or that the machine does not run, renews nothing and ends nothing, and
/// does so as soon as it continues.
inline bool is_untold(const History& history, const Visit& visit, Nanos from, Nanos to) noexcept {
  const auto covers = [&](Nanos first, Nanos last) {
    return first <= from && to <= last + history.limits.reaction;
  };
  const auto covers_stall = [&](const auto& stall) { return covers(stall.first, stall.second); };
  if (is_command(history, visit) && std::ranges::any_of(history.stalls, covers_stall)) return true;
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    return fault.has(tells_late) && is_of_program(fault, visit) &&
           covers(fault.begins, end_of(fault));
  });
}

inline bool forgets_key(const Fault& fault, std::uint32_t key) noexcept {
  const bool ends_holds = fault.has(forgets) || fault.has(may_forget);
  return ends_holds && (fault.key == -1 || fault.key == static_cast<int>(key));
}

/// The lease that the hold of a visit may have at the server. READs of a process share a hold,
/// which has the longest lease that one of them asked for.
inline Nanos lease_at_server(const History& history, const Visit& visit) noexcept {
  return visit.type == LockType::READ ? std::max(visit.lease, history.limits.longest_lease)
                                      : visit.lease;
}

/// How long after `fault` a worker may believe in a hold with this lease that the fault has ended:
/// until the next check, or to the end of the lease if no check is answered. Another library does
/// not check its holds.
inline Nanos notice(const History& history, std::uint32_t worker, const Fault& fault,
                    Nanos lease) noexcept {
  const bool checks_are_answered =
      !is_foreign(history, worker) &&
      !impaired(history, worker, fault.begins - lease, end_of(fault) + lease);
  return checks_are_answered ? lease / 3 + history.limits.latency : lease;
}

/// Whether the hold of a visit may be one that `fault` has ended: it was called for before the
/// fault had ended, or soon enough afterwards to get a hold from before. A process hands a hold on
/// for a few milliseconds, and a READ joins that of its process until a check finds the loss. Late
/// replies delay both.
inline bool may_predate(const History& history, const Visit& visit, const Fault& fault) noexcept {
  const Nanos lease = lease_at_server(history, visit);
  Nanos reach = history.limits.latency;
  if (impaired(history, visit.worker, fault.begins - lease, end_of(fault) + lease)) {
    reach = history.limits.longest_lease;
  } else if (visit.type == LockType::READ) {
    reach += lease / 3;
  }
  return visit.called <= end_of(fault) + reach;
}

/// Whether a fault may have ended the hold of a visit before `last`.
inline bool may_have_ended(const History& history, const Fault& fault, const Visit& visit,
                           Nanos last) noexcept {
  if (fault.has(tells_late) && is_of_program(fault, visit)) return true;
  return forgets_key(fault, visit.key) && fault.begins <= last &&
         may_predate(history, visit, fault);
}

inline std::string describe(const History& history, const Visit& visit) {
  const auto ms = [&](Nanos at) { return static_cast<double>(at - history.began) / 1e6; };
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(),
                "worker %u thread %u key %u %s lease %lld ms%s%s: called %.1f entered %.1f "
                "held until %.1f deadline %.1f left %.1f token %llu",
                visit.worker, visit.thread, visit.key, std::string(to_string(visit.type)).c_str(),
                static_cast<long long>(visit.lease / millisecond), visit.watchdog ? " renewed" : "",
                visit.killed ? " killed" : "", ms(visit.called), ms(visit.entered),
                ms(visit.held_until), ms(visit.deadline), visit.left == 0 ? -1. : ms(visit.left),
                static_cast<unsigned long long>(visit.token));
  return line.data();
}

inline std::string at(const History& history, Nanos time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms",
                static_cast<double>(time - history.began) / 1e6);
  return text.data();
}

}  // namespace latchkey::chaos
