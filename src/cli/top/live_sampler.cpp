// Samples the backend on a separate thread, so that the screen never waits for a server.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/live_sampler.hpp"

#include <chrono>
#include <utility>

#include <latchkey/error.hpp>

namespace latchkey::inline v1::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

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
