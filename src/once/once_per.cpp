// The functions of OncePer: its options and its instants.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/once_per.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include <latchkey/capabilities.hpp>
#include <latchkey/error.hpp>

#include "once/once_job.hpp"

namespace latchkey::inline v1 {
namespace {

using std::chrono::milliseconds;

void require_within(const char* name, milliseconds value, milliseconds least, milliseconds most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(std::string(name) + " is " + std::to_string(value.count()) +
                              " ms; expected " + std::to_string(least.count()) + " to " +
                              std::to_string(most.count()) + " ms");
}

void require_nothing_to_wait_for(const OncePerOptions& options) {
  if (options.on_failure != OnFailure::skip_instant || options.wait.length() == milliseconds(0)) {
    return;
  }
  throw std::invalid_argument(
      "OncePerOptions::wait has nothing to wait for with OnFailure::skip_instant: an instant that "
      "was taken is never free again; leave one of the two out");
}

void require_lease(milliseconds length, const Locks& locks) {
  const Capabilities offered = locks.capabilities();
  if (!offered.expires) {
    throw std::invalid_argument(
        locks.describe() +
        " keeps no key locked after its holder has ended, which OncePer needs; expected memory:, "
        "redis://, postgresql:// or mysql://");
  }
  const milliseconds lease = detail::lease_of_mark(length, offered.lease_granularity);
  if (!offered.offers(lease)) {
    throw std::invalid_argument(
        locks.describe() + " offers no lease of " + std::to_string(lease.count()) +
        " ms, for which the key of an instant stays locked: " + offered.why_not(lease));
  }
}

std::shared_ptr<const detail::OnceJob> make_job(const Locks& locks, std::string&& key,
                                                detail::OnceSchedule&& schedule,
                                                const OncePerOptions& options) {
  require_lease(schedule.mark(), locks);
  // Throws for a bad key; the longest name of an instant has milliseconds.
  static_cast<void>(locks.lock(detail::once_key(key, OnceReport::Instant(milliseconds(1)))));
  if (key.empty()) throw KeyError("the key of a OncePer is empty");
  return std::make_shared<const detail::OnceJob>(
      detail::OnceJob{locks, std::move(key), std::move(schedule), options.on_failure,
                      options.wait.length(), locks.capabilities().lease_granularity});
}

}  // namespace

namespace detail {

OnceSchedule checked_schedule(milliseconds period, const OncePerOptions& options) {
  constexpr milliseconds year = std::chrono::hours(24 * 366);
  require_within("the period of a OncePer", period, milliseconds(10), year);
  require_within("OncePerOptions::offset", options.offset, milliseconds(0),
                 period - milliseconds(1));
  require_within("OncePerOptions::clock_error", options.clock_error, milliseconds(0), period);
  const milliseconds start_within = options.start_within.value_or(period);
  require_within("OncePerOptions::start_within", start_within, milliseconds(1), period);
  require_nothing_to_wait_for(options);
  return {period, options.offset, options.clock_error, start_within};
}

OnceSchedule checked_schedule(const Cron& cron, const OncePerOptions& options) {
  constexpr milliseconds day = std::chrono::hours(24), minute = std::chrono::minutes(1);
  if (options.offset != milliseconds(0)) {
    throw std::invalid_argument(
        "OncePerOptions::offset is for periods; expected the time in the "
        "fields of the cron expression '" +
        cron.text() + "'");
  }
  require_within("OncePerOptions::clock_error", options.clock_error, milliseconds(0), minute);
  const milliseconds start_within = options.start_within.value_or(day);
  require_within("OncePerOptions::start_within", start_within, milliseconds(1), day);
  require_nothing_to_wait_for(options);
  return {start_within, milliseconds(0), options.clock_error, start_within, cron};
}

}  // namespace detail

std::string_view to_string(OnceOutcome outcome) noexcept {
  switch (outcome) {
    case OnceOutcome::ran: return "ran";
    case OnceOutcome::taken: return "taken";
    case OnceOutcome::late: return "late";
  }
  return "?";
}

OncePer::OncePer(const Locks& locks, std::string key, milliseconds period,
                 const OncePerOptions& options)
    : job_(make_job(locks, std::move(key), detail::checked_schedule(period, options), options)) {}

OncePer::OncePer(const Locks& locks, std::string key, const Cron& cron,
                 const OncePerOptions& options)
    : job_(make_job(locks, std::move(key), detail::checked_schedule(cron, options), options)) {}

OncePer::Instant OncePer::current_instant() const { return job_->schedule.instant_at(job_->now()); }

OncePer::Instant OncePer::next_instant() const { return job_->schedule.after(current_instant()); }

const std::string& OncePer::key() const noexcept { return job_->key; }

std::chrono::milliseconds OncePer::period() const noexcept {
  return job_->schedule.cron ? milliseconds(0) : job_->schedule.period;
}

OncePer Locks::once_per(std::string key, milliseconds period) const {
  return once_per(std::move(key), period, OncePerOptions());
}
OncePer Locks::once_per(std::string key, milliseconds period, const OncePerOptions& options) const {
  return {*this, std::move(key), period, options};
}

OncePer Locks::once_per(std::string key, const Cron& cron) const {
  return once_per(std::move(key), cron, OncePerOptions());
}
OncePer Locks::once_per(std::string key, const Cron& cron, const OncePerOptions& options) const {
  return {*this, std::move(key), cron, options};
}

}  // namespace latchkey::inline v1
