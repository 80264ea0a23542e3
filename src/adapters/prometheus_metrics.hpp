// The names of all metrics, and their help texts.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>

#include <latchkey/adapters/prometheus.hpp>

namespace latchkey::inline v1::detail::metrics {

using Metric = PrometheusListener::Metric;

inline constexpr Metric attempts{"latchkey_attempts_total", "counter",
                                 "Acquires that have ended, by outcome."};
inline constexpr Metric acquire{"latchkey_acquire_seconds", "histogram",
                                "How long acquires took that were granted, round trips and waits."};
inline constexpr Metric wait{
    "latchkey_wait_seconds", "histogram",
    "How long others were in the way of acquires that were granted and had to "
    "wait."};
inline constexpr Metric waiters{"latchkey_waiters", "gauge",
                                "Acquires that wait for a busy lock now."};
inline constexpr Metric holds{"latchkey_holds", "gauge", "Locks that are held now."};
inline constexpr Metric permits{"latchkey_permits", "gauge",
                                "Permits of semaphores that are taken now."};
inline constexpr Metric hold{"latchkey_hold_seconds", "histogram",
                             "How long locks were held, until they were released or lost."};
inline constexpr Metric used{
    "latchkey_lease_used_ratio", "histogram",
    "The share of its lease that was over when a lock was released; 1: lost."};
inline constexpr Metric lag{"latchkey_renewal_lag_seconds", "histogram",
                            "How long after they were due renewals were confirmed."};
inline constexpr Metric lost{"latchkey_lost_total", "counter",
                             "Holds that ended before their holder released them."};
inline constexpr Metric held_too_long{"latchkey_held_too_long_total", "counter",
                                      "Those of them that held_at_most ended."};
inline constexpr Metric revoked{"latchkey_revoked_total", "counter",
                                "Holds whose holder was asked to release the lock."};
inline constexpr Metric cached{
    "latchkey_cached_total", "counter",
    "Acquires that took an idle lock of their process, without asking the server."};
inline constexpr Metric recalled{"latchkey_recalled_total", "counter",
                                 "Idle locks that were given back because others wanted them."};
inline constexpr Metric unconfirmed{"latchkey_releases_unconfirmed_total", "counter",
                                    "Releases that the backend did not confirm."};
inline constexpr Metric up{
    "latchkey_backend_up", "gauge",
    "1: the connection to the server is there, or not needed; 0: it is lost."};
inline constexpr Metric reconnects{"latchkey_reconnects_total", "counter",
                                   "How often a lost connection came back."};
inline constexpr Metric reports{
    "latchkey_reports_total", "counter",
    "What could not be thrown: errors of unlocks, abandoned locks, warnings."};
inline constexpr Metric dropped{"latchkey_events_dropped_total", "counter",
                                "Events that came faster than they could be counted."};
inline constexpr Metric leaders{"latchkey_leaders", "gauge",
                                "Leaders of this process that lead now."};
inline constexpr Metric elections{"latchkey_elections_total", "counter",
                                  "Terms that Leaders of this process have begun."};
inline constexpr Metric depositions{
    "latchkey_depositions_total", "counter",
    "Terms whose Leader lost its lock, or could not renew it in time."};
inline constexpr Metric once{"latchkey_once_total", "counter",
                             "Runs of OncePer, by what became of them."};
inline constexpr Metric latches{"latchkey_latches_total", "counter",
                                "Counts of latches, waits for them, and their failures."};
inline constexpr std::array all_metrics{
    attempts,   acquire, wait,          waiters, holds,     permits,     hold,        used,
    lag,        lost,    held_too_long, revoked, cached,    recalled,    unconfirmed, up,
    reconnects, reports, dropped,       leaders, elections, depositions, once,        latches};

}  // namespace latchkey::inline v1::detail::metrics
