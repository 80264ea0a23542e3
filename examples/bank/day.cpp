// Runs a day: starts the threads, shows progress, and stops when the time is over.
#include "day.hpp"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <latchkey/error.hpp>

#include "screen.hpp"

namespace demo {
namespace {

std::vector<double> popularity_of(std::size_t accounts) {
  std::vector<double> weights;
  for (std::size_t i = 1; i <= accounts; ++i) weights.push_back(1.0 / static_cast<double>(i));
  return weights;
}

/// The counters of one clerk, which others may read while he works.
struct Counter {
  Clerk clerk;
  std::atomic<std::uint64_t> served{0};
};

class Team {
 public:
  Team(const Plan& plan, const std::vector<Account>& accounts,
       const std::function<void(Clerk&)>& serve_one)
      : serve_one_(serve_one) {
    for (unsigned i = 0; i < plan.clerks; ++i) {
      counters_.emplace_back(Clerk(accounts, plan.seed, i));
      threads_.emplace_back([this, &counter = counters_.back()](const std::stop_token& closing) {
        work(counter, closing);
      });
    }
  }

  [[nodiscard]] std::uint64_t served() const {
    std::uint64_t served = 0;
    for (const Counter& counter : counters_) served += counter.served.load();
    return served;
  }
  [[nodiscard]] bool failed() const { return failed_.load(); }

  /// Stops all clerks; rethrows the exception of a clerk.
  Tally close() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
    if (failure_) std::rethrow_exception(failure_);
    Tally tally;
    for (const Counter& counter : counters_) tally += counter.clerk.tally();
    return tally;
  }

 private:
  void work(Counter& counter, const std::stop_token& closing) noexcept {
    while (!closing.stop_requested() && !failed()) {
      try {
        serve_one_(counter.clerk);
        counter.served.fetch_add(1, std::memory_order_relaxed);
      } catch (const latchkey::LockTimeout&) {
        counter.clerk.gave_up();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        failed_ = true;
      }
    }
  }

  const std::function<void(Clerk&)>& serve_one_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::deque<Counter> counters_;       // never moved
  std::vector<std::jthread> threads_;  // last: threads end before the members that they use
};

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  deposits += other.deposits;
  withdrawals += other.withdrawals;
  transfers += other.transfers;
  refused += other.refused;
  balances += other.balances;
  audits += other.audits;
  failed_audits += other.failed_audits;
  gave_up += other.gave_up;
  paid_in += other.paid_in;
  paid_out += other.paid_out;
  moved += other.moved;
  return *this;
}

Clerk::Clerk(const std::vector<Account>& accounts, std::uint64_t seed, unsigned number)
    : accounts_(&accounts) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(number)};
  random_.seed(mixed);
  const auto weights = popularity_of(accounts.size());
  popularity_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
}

Day run_day(const Plan& plan, const std::vector<Account>& accounts, Screen& screen,
            const std::function<void(Clerk&)>& serve_one) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start); };
  Team team(plan, accounts, serve_one);
  while (passed() < plan.length && !team.failed()) {
    const auto rest = std::chrono::duration<double>(plan.length - passed());
    std::this_thread::sleep_for(std::min(rest, std::chrono::duration<double>(0.05)));
    screen.progress(passed() / plan.length, passed(), team.served());
  }
  screen.progress_done();
  const Tally tally = team.close();
  return {tally, passed()};
}

}  // namespace demo
