// Samples of what `latchkey top` shows: within a budget, and on a thread of their own.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <latchkey/error.hpp>

#include "cli/look/lock_state.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// How many awaited keys one page lists: more rows are not worth what they cost the server.
constexpr std::uint32_t most_awaited_keys = 1'000;
/// How many locks are queried each second: about 0.3 % of a core of a Redis server.
constexpr std::uint64_t inspections_per_second = 100;
/// How many keys that are waited for are listed each second, at about the same cost.
constexpr std::uint64_t awaited_per_second = 500;
/// A refusal may pass, as when a permission is granted later: the list is queried again after 10 s.
constexpr std::uint64_t cost_of_refusal = 10 * awaited_per_second;
constexpr std::chrono::milliseconds first_burst{1'000};
/// A sample ends after this time, so that the screen shows what it has found.
constexpr std::chrono::milliseconds longest_scan{200};

using SteadyClock = std::chrono::steady_clock;

}  // namespace

Sampler::Sampler(Locks locks, const TopOptions& options)
    : locks_(std::move(locks)),
      options_(options),
      scan_(locks_, options.pattern, options.scan.most()),
      scan_pacer_(options.scan.rate, first_burst, std::chrono::steady_clock::now()),
      inspect_pacer_(inspections_per_second, first_burst, std::chrono::steady_clock::now()),
      awaited_pacer_(awaited_per_second, first_burst, std::chrono::steady_clock::now()) {}

ListPage Sampler::all_awaited() {
  ListPage all;
  do {
    ListPage page = locks_.list_awaited(options_.pattern, all.next, most_awaited_keys);
    all.names.insert(all.names.end(), page.names.begin(), page.names.end());
    all.waiters.insert(all.waiters.end(), page.waiters.begin(), page.waiters.end());
    all.total += page.total;
    all.next = page.next;
  } while (all.next != ListCursor{});
  return all;
}

// The cost grows with the number of keys that are waited for. A backend that cannot list them still
// has locks to show.
std::optional<ListPage> Sampler::query_awaited(TimePoint now) {
  if (awaited_pacer_.available(now) == 0) return std::nullopt;
  try {
    ListPage all = all_awaited();
    awaited_pacer_.spend(std::max<std::uint64_t>(all.total, 1));
    knows_waiters_ = true;
    return all;
  } catch (const BackendRefused&) {
    awaited_pacer_.spend(cost_of_refusal);
    knows_waiters_ = false;
    return std::nullopt;
  }
}

void Sampler::query_keys(Sample& sample, TimePoint now) {
  sample.awaited = query_awaited(now);
  sample.knows_waiters = knows_waiters_;
  continue_scan(sample, now);
}

void Sampler::continue_scan(Sample& sample, TimePoint now) {
  const TimePoint end = now + longest_scan;
  for (std::uint64_t budget = scan_pacer_.available(now);
       budget > 0 && !scan_.ended() && std::chrono::steady_clock::now() < end;) {
    const std::vector<std::string> keys = scan_.next(budget);
    sample.found.insert(sample.found.end(), keys.begin(), keys.end());
    const std::uint64_t cost = std::min(budget, Scan::page_size);
    scan_pacer_.spend(cost);
    budget -= cost;
  }
  sample.progress = scan_.progress();
  sample.scan_ended = scan_.ended();
  sample.scan_complete = scan_.complete();
  if (scan_.ended()) scan_ = Scan(locks_, options_.pattern, options_.scan.most());
}

std::size_t Sampler::inspections(TimePoint now) { return inspect_pacer_.available(now); }

void Sampler::query_state(Sample& sample, std::span<const std::string> keys) {
  inspect_pacer_.spend(keys.size());
  // One that is refused is not a lock, or not for this user: it stays without a state.
  sample.infos = inspect_each(locks_, keys, [](std::string_view) {});
  // A holder, and a place in the queue, costs about a tenth of a query.
  for (const LockInfo& info : sample.infos) {
    inspect_pacer_.spend((info.holders.size() + info.queue.size()) / 10);
  }
}

LiveSampler::LiveSampler(const Locks& locks, const TopOptions& options, const WakeEvent& sampled)
    : options_(options),
      sampled_(sampled),
      sampler_(locks, options),
      thread_([this](const std::stop_token& stopped) { run(stopped); }) {}

void LiveSampler::run(const std::stop_token& stopped) {
  while (!stopped.stop_requested()) {
    try {
      sample();
    } catch (const LockError& error) {  // tried again at the next interval
      const std::lock_guard lock(mutex_);
      error_ = error.what();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      sampled_.set();
      return;
    }
    sampled_.set();
    wait_for_next(stopped);
  }
}

void LiveSampler::sample() {
  Sampler::Sample sample;
  try {
    sampler_.query_keys(sample, SteadyClock::now());
  } catch (const LockError&) {
    const std::lock_guard lock(mutex_);
    locks_.found(sample.found);  // the scan continues after these
    throw;
  }
  std::vector<std::string> keys;
  {
    const std::lock_guard lock(mutex_);
    locks_.found(sample.found);
    if (sample.scan_ended) locks_.end_scan();
    if (sample.awaited) locks_.awaited(*sample.awaited);
    knows_waiters_ = sample.knows_waiters;
    progress_ = sample.progress;
    keys = locks_.to_inspect(visible_, sampler_.inspections(SteadyClock::now()));
  }
  sampler_.query_state(sample, keys);
  const std::lock_guard lock(mutex_);
  locks_.inspected(sample.infos, SteadyClock::now());
  error_.clear();
}

void LiveSampler::wait_for_next(const std::stop_token& stopped) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stopped, options_.interval, [] { return false; });
  changed_.wait(lock, stopped, [this] { return !paused_; });
}

LiveSampler::State LiveSampler::state(const RowOrder& order) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  State state;
  state.rows = locks_.rows(order, SteadyClock::now());
  state.locks = locks_.size();
  state.awaited_keys = locks_.awaited_keys();
  state.waiters = locks_.all_waiters();
  state.knows_waiters = knows_waiters_;
  state.progress = progress_;
  state.error = error_;
  return state;
}

void LiveSampler::show(std::vector<std::string> visible) {
  const std::lock_guard lock(mutex_);
  visible_ = std::move(visible);
}

void LiveSampler::pause(bool paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
  changed_.notify_all();
}

}  // namespace latchkey::inline v1::cli
