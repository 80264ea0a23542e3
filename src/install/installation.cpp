// The backends and the policies of one file, in force.
// SPDX-License-Identifier: BSL-1.0
#include "install/installation.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include <latchkey/listener.hpp>

#include "core/never_destroyed.hpp"
#include "install/reload_check.hpp"
#include "locks/async/access.hpp"
#include "policy/secrets.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// A LOCKED gets its number from the first policy that names it, and keeps it. Concurrent callers
/// get the same number.
std::uint32_t number_of(PolicySlot& slot) noexcept {
  static constinit std::atomic<std::uint32_t> last{0};
  std::uint32_t number = slot.load(std::memory_order_relaxed);
  if (number != 0) return number;
  const std::uint32_t next = last.fetch_add(1, std::memory_order_relaxed) + 1;
  slot.compare_exchange_strong(number, next, std::memory_order_relaxed);
  return slot.load(std::memory_order_relaxed);
}

std::optional<std::string> type_text(const std::optional<LockType>& type) {
  return type ? std::optional<std::string>(to_string(*type)) : std::nullopt;
}

}  // namespace

Installation::Installation(std::string path, const Options& options)
    : path_(std::move(path)), options_(options) {
  LoadedPolicies loaded = load_policies(path_, this_program());
  throw_problems(path_, std::move(loaded.problems));
  connect(loaded);
  adopt(loaded);
}

Installation::Installation(LoadedPolicies loaded) { adopt(loaded); }

const PolicyTable& policies_of_test(const std::string& file,
                                    const std::optional<std::string>& text) {
  LoadedPolicies loaded = load_test_policies(file, text);
  throw_problems(file, std::move(loaded.problems));
  static NeverDestroyed<std::deque<Installation>> all;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return all.get().emplace_back(std::move(loaded)).table();
}

void Installation::connect(LoadedPolicies& loaded) {
  if (loaded.file.prefix) options_.prefix = loaded.file.prefix->value;
  Problems problems;
  for (const BackendEntry& backend : loaded.file.backends) {
    try {
      locks_.emplace(backend.name.value, Locks::connect(backend.uri.value, options_));
    } catch (const std::exception& error) {
      problems.push_back({backend.uri.at, without_secrets(error.what(), backend.secrets)});
    }
  }
  throw_problems(path_, std::move(problems));
  default_ = &locks_.at(loaded.file.default_backend()->name.value);
  check_leases(loaded.plan);
  check_tokens(loaded.plan);
}

/// Each lease, lock_delay and cache of the file fits the backend that keeps its locks.
void Installation::check_leases(const PolicyPlan& plan) const {
  Problems problems;
  for (const PlannedLock& lock : plan.locks) {
    const Locks& locks = lock.backend ? locks_.at(lock.backend->value) : *default_;
    const Capabilities offered = locks.capabilities();
    const auto lease =
        lock.lease ? lock.lease->value.length(options_.watchdog) : std::chrono::milliseconds(0);
    const auto report = [&](Place at, const std::string& why) {
      if (!why.empty()) problems.push_back({at, locks.describe() + ' ' + why});
    };
    if (lock.lease) report(lock.lease->at, offered.why_not(lease));
    const auto& delay = lock.lock_delay;
    if (delay) report(delay->at, offered.why_no_delay(lease, delay->value));
    const auto& cache = lock.cache;
    if (cache && cache->value.count() != 0) {
      report(cache->at, LockAccess::space(locks)->space().why_no_cache());
    }
  }
  throw_problems(path_, std::move(problems));
}

/// The backend gives fencing tokens to each lock for which the file asks for them.
void Installation::check_tokens(const PolicyPlan& plan) const {
  Problems problems;
  for (const PlannedLock& lock : plan.locks) {
    if (!lock.fenced) continue;
    const Locks& locks = lock.backend ? locks_.at(lock.backend->value) : *default_;
    const std::string why = locks.capabilities().why_no_token(lock.type());
    if (!why.empty()) problems.push_back({lock.fenced->at, locks.describe() + ' ' + why});
  }
  throw_problems(path_, std::move(problems));
}

/// The kept policy that equals `policy`.
const SitePolicy* Installation::keep(const SitePolicy& policy) {
  const auto known = std::find(policies_.begin(), policies_.end(), policy);
  return known == policies_.end() ? &policies_.emplace_back(policy) : &*known;
}

/// Only an allocation can fail here.
void Installation::adopt(LoadedPolicies& loaded) {
  PolicyTable table;
  for (PlannedLock& lock : loaded.plan.locks) {
    PolicySlot& slot = *lock.place.slot;
    Guard& guard = guards_[&slot];
    if (guard.method.empty()) {
      guard.method = lock.place.where;
      guard.type = lock.over.type;
      if (lock.backend) guard.backend = lock.backend->value;
      if (lock.key) guard.key = lock.key->value;
      if (lock.bound) guard.bound = std::make_unique<const BoundKeys>(std::move(*lock.bound));
    }
    const Locks* const locks = guard.backend ? &locks_.at(*guard.backend) : nullptr;
    const std::uint32_t number = number_of(slot);
    if (table.size() <= number) table.resize(number + 1);
    const std::string_view text = guard.key ? std::string_view(*guard.key) : std::string_view();
    table[number] = keep({lock.over, lock.defaults, guard.bound.get(), locks, text});
  }
  table_ = &*tables_.insert(std::move(table)).first;
  file_ = std::move(loaded.file);
  without_lock_ = std::move(loaded.plan.without_lock);
}

void Installation::warn() const {
  if (without_lock_.empty()) return;
  Event event;
  event.kind = Event::Kind::warning;
  event.count = without_lock_.size();
  event.text =
      path_ + " lets these run without their lock: " +
      (without_lock_ | ranges::views::join(std::string_view(", ")) | ranges::to<std::string>());
  default_->publish(event);
}

namespace {

/// The text of `type: WRITE` at `at`, for error texts.
Perhaps<std::string> type_word(const std::optional<LockType>& type, Place at) {
  if (!type) return std::nullopt;
  return Located<std::string>{std::string(to_string(*type)), at};
}

}  // namespace

void Installation::refuse_other_guards(const LoadedPolicies& now, Problems& problems) const {
  const Place top{1, 1};
  const Place rules = now.file.rules_at.line > 0 ? now.file.rules_at : top;
  const auto& old_type = file_.defaults.type;
  const auto& new_type = now.file.defaults.type;
  refuse_change("type", "the defaults", old_type ? type_text(old_type->value) : std::nullopt,
                new_type ? type_word(new_type->value, new_type->at) : std::nullopt, top, problems);
  std::map<const PolicySlot*, const PlannedLock*> planned;
  for (const PlannedLock& lock : now.plan.locks) planned[lock.place.slot] = &lock;
  const auto compare = [&](const std::string& method, const Guard& guard, const PlannedLock* lock) {
    const Place at = lock != nullptr && lock->at.line > 0 ? lock->at : rules;
    const PlannedLock nothing{};
    const PlannedLock& said = lock != nullptr ? *lock : nothing;
    refuse_change("key", method, guard.key, said.key, at, problems);
    refuse_change("backend", method, guard.backend, said.backend, at, problems);
    refuse_change("type", method, type_text(guard.type), type_word(said.over.type, at), at,
                  problems);
  };
  for (const auto& [slot, guard] : guards_) {
    const auto found = planned.find(slot);
    compare(guard.method, guard, found == planned.end() ? nullptr : found->second);
  }
  for (const auto& [slot, lock] : planned) {
    if (!guards_.contains(slot)) compare(lock->place.where, {}, lock);
  }
}

void Installation::reload() {
  LoadedPolicies loaded = load_policies(path_, this_program());
  // A file with mistakes is not compared: parts of it are missing.
  throw_problems(path_, std::move(loaded.problems));
  Problems problems;
  refuse_other_backends(file_, loaded.file, problems);
  refuse_other_guards(loaded, problems);
  throw_problems(path_, std::move(problems));
  check_leases(loaded.plan);
  check_tokens(loaded.plan);
  adopt(loaded);
  publish();
  for (const auto& [name, locks] : locks_) {
    LockAccess::space(locks)->space().give_back_idle_holds();
  }
  warn();
}

}  // namespace latchkey::inline v1::detail
