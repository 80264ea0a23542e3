// How the threads of a worker visit critical sections and record each visit.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/workload.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <type_traits>

#include <latchkey/error.hpp>

#include "exhaustion/scarce_memory.hpp"

namespace latchkey::chaos {
namespace {

/// Writes a field at once and after all earlier ones: the process may be killed at any time.
template <class T>
void put(T& field, std::type_identity_t<T> value) {
  std::atomic_ref(field).store(value, std::memory_order_release);
}

// sleeps: holders stay and callers rest for the time that was drawn
void sleep_for(Nanos length) { std::this_thread::sleep_for(std::chrono::nanoseconds(length)); }

void put_text(Visit& visit, const char* text) {
  std::strncpy(visit.text.data(), text, visit.text.size() - 1);
}

/// The nth allocation of this thread fails while the object exists; 0: none does.
class Scarcity {
 public:
  explicit Scarcity(std::size_t nth) { tests::fail_allocation(nth); }
  Scarcity(const Scarcity&) = delete;
  Scarcity& operator=(const Scarcity&) = delete;
  ~Scarcity() { static_cast<void>(tests::allocation_failed()); }
};

/// Runs `call` and returns how it ended.
template <class Call>
Outcome outcome_of(Visit& visit, Call&& call) {
  try {
    return call();
  } catch (const BackendUnavailable& error) {
    put_text(visit, error.what());
    return Outcome::unavailable;
  } catch (const BackendRefused& error) {
    put_text(visit, error.what());
    return Outcome::refused;
  } catch (const std::bad_alloc& error) {
    put_text(visit, error.what());
    return Outcome::no_memory;
  } catch (const ToolKilled& error) {
    put_text(visit, error.what());
    return Outcome::killed;
  } catch (const std::exception& error) {
    put_text(visit, error.what());
    return Outcome::other;
  }
}

}  // namespace

void Workload::run() {
  for (;;) {
    const std::uint32_t round = shared_.round;  // before the phase, which is set before the round
    switch (shared_.phase) {
      case Phase::over: return;
      case Phase::run:
        visit_once();
        pace();
        break;
      case Phase::rest:
        log_.rests_since = round;
        sleep_for(millisecond);
        break;
    }
  }
}

// A round fits into the log: at most 1 000 visits in a second, or as many as the source permits.
void Workload::pace() {
  const Nanos distance = std::max<Nanos>(1, abilities_.pace.count()) * millisecond;
  const Nanos due = shared_.round_began + static_cast<Nanos>(log_.used) * distance;
  const Nanos wait = due - now();
  if (wait > 0) sleep_for(std::min(wait, 5 * distance));
}

Wish Workload::take_wish() {
  std::atomic<Wish>& wanted = shared_.workers[place_.worker].wish;
  const bool can = abilities_.wishes && !is_hot() && !place_.plain;
  return can && wanted != Wish::nothing ? wanted.exchange(Wish::nothing) : Wish::nothing;
}

Lack Workload::take_lack() {
  std::atomic<Lack>& wanted = shared_.workers[place_.worker].lack_wanted;
  Lack lack = wanted;
  if (lack == Lack::threads && !wanted.compare_exchange_strong(lack, Lack::nothing)) {
    return Lack::nothing;  // another thread has taken it
  }
  if (lack == Lack::memory && !abilities_.scarcity) return Lack::nothing;
  return lack;
}

void Workload::visit_once() {
  if (log_.used >= VisitLog::capacity) return sleep_for(millisecond);
  const Wish wish = take_wish();
  const Request request = wish == Wish::nothing ? draw_request() : draw_request_for(wish);
  Visit& visit = log_.visits[log_.used];
  visit = {.worker = place_.worker,
           .thread = place_.thread,
           .key = request.key,
           .type = request.type,
           .lack = wish == Wish::nothing ? take_lack() : Lack::nothing,
           .wish = wish,
           .watchdog = request.lease.is_watchdog(),
           .waits_forever = request.wait.is_forever(),
           .lease = request.lease.length(watchdog_period).count() * millisecond,
           .limit = request.lease.held_at_most().count() * millisecond,
           .wait = request.wait.is_forever() ? 0 : request.wait.length().count() * millisecond,
           .called = now()};
  log_.used.fetch_add(1, std::memory_order_release);
  std::unique_ptr<HeldLock> held;
  const Outcome outcome = outcome_of(visit, [&] {
    const Scarcity scarce(draw_allocation(visit));
    held = visit.lack == Lack::threads ? source_.acquire_without_threads(request)
                                       : source_.acquire(request);
    return held ? Outcome::granted : Outcome::busy;
  });
  put(visit.entered, now());
  put(visit.outcome, outcome);
  if (held) enter(visit, *held);
  put(visit.ended, now());
  // Another thread may have the wish granted.
  Wish none = Wish::nothing;
  if (!held) shared_.workers[place_.worker].wish.compare_exchange_strong(none, wish);
}

void Workload::enter(Visit& visit, HeldLock& held) {
  put(visit.token, held.token().value_or(0));
  GuardedData& data = shared_.keys.at(visit.key);
  put(visit.seen, data.counter.load());
  std::uint64_t fenced_value = 0;
  if (ask(visit, held) && visit.token != 0) read_fenced(visit, fenced_value);
  if (abilities_.forks && shared_.workers[place_.worker].fork_wanted.exchange(false)) {
    fork_once(visit, held);
  }
  if (visit.wish == Wish::hang) {
    hang(visit, held);
  } else {
    const Nanos length = draw_dwell(visit);
    put(visit.listens, listens(visit, length));
    dwell(visit, held, length);
  }
  if (ask(visit, held)) write(visit, fenced_value);
  put(visit.left, now());
  const Outcome release = outcome_of(visit, [&] {
    const Scarcity scarce(draw_allocation(visit));
    return held.release() ? Outcome::granted : Outcome::busy;
  });
  if (visit.told == 0 && held.was_told()) put(visit.told, now());
  put(visit.release, release);
}

// Reads the clock, then asks. False if the hold is lost.
bool Workload::ask(Visit& visit, const HeldLock& held) {
  const Nanos asked = now();
  const Nanos deadline = asked + held.remaining().count() * millisecond;
  if (held.lost()) {
    if (visit.told == 0) put(visit.told, now());
    return false;
  }
  if (visit.told != 0) put(visit.loss_taken_back, true);
  put(visit.held_until, asked);
  if (deadline > visit.deadline) put(visit.deadline, deadline);
  return true;
}

void Workload::dwell(Visit& visit, const HeldLock& held, Nanos length) {
  const Nanos end = now() + length;
  for (Nanos left = length; left > 0; left = end - now()) {
    sleep_for(std::min(left, millisecond));
    if (!ask(visit, held) || shared_.phase != Phase::run) return;
    if (visit.listens && held.revoked()) return put(visit.asked, now());
  }
}

// A body that hangs does not ask. The questions are for the record, and nothing follows from them.
void Workload::hang(Visit& visit, const HeldLock& held) {
  constexpr Nanos beyond = 300 * millisecond, patience = 3'000 * millisecond;
  const Nanos end = now() + visit.limit + beyond;
  while (now() < end) {
    if (shared_.phase != Phase::run) return;
    sleep_for(millisecond);
    ask(visit, held);
  }
  const auto is_over = [&] { return now() > end + patience || shared_.phase != Phase::run; };
  while (!held.limit_named() && !is_over()) sleep_for(millisecond);
  put(visit.limit_named, held.limit_named());
  put(visit.hung, true);
}

void Workload::read_fenced(Visit& visit, std::uint64_t& value) {
  FencedWord word(shared_.keys.at(visit.key).fenced, visit.token - shared_.first_token);
  if (!word.read(value)) visit.fenced_refused = true;
}

void Workload::write(Visit& visit, std::uint64_t fenced_value) {
  std::atomic<std::uint64_t>& counter = shared_.keys.at(visit.key).counter;
  std::uint64_t seen = visit.seen;
  if (is_shared(visit)) {
    visit.intact = counter == seen;
  } else if (counter.compare_exchange_strong(seen, seen + 1)) {
    put(visit.wrote, true);
  } else {
    visit.intact = false;
  }
  put(visit.written, now());
  if (visit.token == 0 || visit.fenced_refused) return;
  FencedWord word(shared_.keys.at(visit.key).fenced, visit.token - shared_.first_token);
  if (word.write(fenced_value, fenced_value + 1)) {
    put(visit.fenced_write, fenced_value + 1);
  } else {
    visit.fenced_refused = true;
    put(visit.written, now());
  }
}

// A forked child owns nothing: it is told so, and its release does nothing.
void Workload::fork_once(Visit& visit, HeldLock& held) {
  const pid_t child = ::fork();
  if (child == -1) return;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it may hang, and this process may be killed meanwhile
    ::_exit(held.lost() && !held.release() ? 0 : 1);
  }
  int status = 0;
  const Nanos end = now() + 5'000 * millisecond;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (now() > end) ::kill(child, SIGKILL);
    sleep_for(millisecond);
    ask(visit, held);
  }
  if (status != 0) put(visit.fork_failed, true);
}

}  // namespace latchkey::chaos
