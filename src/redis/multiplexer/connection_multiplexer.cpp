// One connection per server for all threads, and how a thread waits for its replies.
// tidy: long-file because its functions use one state under one mutex.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/connection_multiplexer.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/parker.hpp>

#include "core/mutex.hpp"
#include "core/sleep_slice.hpp"
#include "core/thread_annotations.hpp"
#include "redis/routing/router.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// The last actions of a thread. They only guide decisions: nothing goes wrong if they are stale.
struct ThreadHint {
  std::uint64_t submitted_to = 0;    ///< the multiplexer that it submitted to last, by number
  std::uint64_t last_request = 0;    ///< see WaitingThread
  std::uint64_t delivering_for = 0;  ///< the multiplexer whose sinks it calls now
};
constinit thread_local ThreadHint thread_hint;

constexpr auto max_unwakeable_sleep = std::chrono::milliseconds(5);

}  // namespace

/// The calling thread takes part in leader/followers while this lives. It holds the multiplexer's
/// mutex meanwhile, except during system calls and calls of sinks, and passes leadership on in the
/// end.
class LATCHKEY_SCOPED_CAPABILITY ConnectionMultiplexer::Participation {
  ConnectionMultiplexer& multiplexer_;
  ScopedLock<SmallMutex> lock_;

 public:
  Participation(ConnectionMultiplexer& multiplexer, Parker& parker, std::uint64_t last_request)
      LATCHKEY_ACQUIRE(multiplexer.state_.mutex);
  Participation(const Participation&) = delete;
  Participation& operator=(const Participation&) = delete;
  ~Participation() LATCHKEY_RELEASE();

  WaitingThread thread;
  bool has_spun = false;   ///< a thread spins once at most
  bool delivered = false;  ///< it called sinks, and leaves
};

ConnectionMultiplexer::ConnectionMultiplexer(RedisUri uri, const Options& options)
    : number_(next_number()),
      uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      tls_(uri_.transport == RedisUri::Transport::tls ? std::make_unique<TlsContext>(uri_.tls)
                                                      : nullptr),
      state_(make_router(uri_, options, tls_.get())),
      reactor_(clock_) {
  register_fork_participant(ForkLevel::backend, *this);
}

ConnectionMultiplexer::~ConnectionMultiplexer() {
  unregister_fork_participant(*this);
  for (const auto& connection : state_.router->connections()) connection->transport.close();
}

std::optional<Failure> ConnectionMultiplexer::start() {
  const Clock::time_point until = later(clock_.now(), timeout_);
  Participation self(*this, Parker::mine(), 0);
  for (bool over = false;; over = clock_.now() >= until) {
    static_cast<void>(state_.threads.try_lead(self.thread, state_.answered()));
    reactor_.handle_deadlines(state_);
    deliver();
    writer_.flush(state_);
    Failure failure;
    const Router::Start start = state_.router->start(failure);
    if (start == Router::Start::settled) return std::nullopt;
    if (start == Router::Start::failed) return failure;
    if (over) return silence(timeout_);
    wait(self, until);
  }
}

void ConnectionMultiplexer::submit(std::span<Request* const> requests, Sink& sink) {
  ScopedLock lock(state_.mutex);
  const Clock::time_point now = clock_.now();
  const Clock::time_point deadline = Reactor::next_deadline_of_submit(state_);
  state_.router->submit(requests, sink, now);
  state_.submitted += requests.size();
  if (state_.router->has_news() || Reactor::next_deadline_of_submit(state_) < deadline) {
    state_.threads.interrupt_leader();
  }
  // Requests submitted by sinks are sent together, after all sinks were called.
  if (thread_hint.delivering_for == number_) return;
  thread_hint.submitted_to = number_;
  thread_hint.last_request = state_.submitted;
  const auto is_awaited = [](const Request* each) { return !each->recall; };
  const bool awaited = std::ranges::all_of(requests, is_awaited);
  if (!writer_.keeps(state_, &thread_hint, requests.size())) flush();
  if (awaited) return;
  const Parker::Wake wake = state_.threads.fill_vacancy(outlook(true));
  lock.unlock();  // the woken thread would run into it
  wake.carry_out();
}

LeaderFollowers::LeaveContext ConnectionMultiplexer::outlook(bool more_expected) const noexcept {
  return {.answered = state_.answered(),
          .more_expected = more_expected,
          .will_return = false,
          .generation = reactor_.generation(),
          .work_is_due = Reactor::next_deadline(state_)};
}

const void* ConnectionMultiplexer::calling_thread() noexcept { return &thread_hint; }

// Without memory the requests are queued all the same: the leader sends them.
void ConnectionMultiplexer::flush() noexcept {
  try {
    writer_.flush(state_);
  } catch (const std::bad_alloc&) {
    state_.threads.interrupt_leader();
  }
}

void ConnectionMultiplexer::cork() noexcept {
  const ScopedLock lock(state_.mutex);
  writer_.cork(&thread_hint);
}

void ConnectionMultiplexer::uncork() noexcept {
  const ScopedLock lock(state_.mutex);
  writer_.uncork(&thread_hint);
  flush();
}

void ConnectionMultiplexer::drive(Parker& parker, Clock::time_point until) {
  Participation self(*this, parker,
                     thread_hint.submitted_to == number_ ? thread_hint.last_request : 0);
  if (writer_.end_handlers(&thread_hint)) flush();  // a handler blocks
  for (bool over = false;; over = clock_.now() >= until) {
    if (state_.threads.try_lead(self.thread, state_.answered())) {
      reactor_.handle_deadlines(state_);
      self.delivered = deliver();
      writer_.flush(state_);
    }
    if (self.delivered || over || wait(self, until)) return;
  }
}

ConnectionMultiplexer::Participation::Participation(ConnectionMultiplexer& multiplexer,
                                                    Parker& parker, std::uint64_t last_request)
    : multiplexer_(multiplexer),
      lock_(multiplexer.state_.mutex),
      thread(parker, multiplexer.wait_set_) {
  thread.last_request = last_request;
  MultiplexerState& state = multiplexer_.state_;
  state.threads.enter(thread, state.answered());
}

ConnectionMultiplexer::Participation::~Participation() {
  MultiplexerState& state = multiplexer_.state_;
  LeaderFollowers::LeaveContext context = multiplexer_.outlook(multiplexer_.expects_more());
  context.will_return = delivered && thread.awaits_reply(context.answered);
  const Parker::Wake wake = state.threads.leave(thread, context);
  lock_.unlock();  // the woken thread would run into it
  wake.carry_out();
}

bool ConnectionMultiplexer::expects_more() const noexcept {
  return state_.router->outstanding() > 0 ||
         std::ranges::any_of(state_.router->connections(), [](const auto& connection) {
           return connection->session.is_to_be_read();
         });
}

bool ConnectionMultiplexer::deliver() {
  bool any = false;
  Delivery delivery;
  const std::uint64_t outer = std::exchange(thread_hint.delivering_for, number_);
  writer_.set_delivering(true);
  FutexWaitSet::WakeBatch woken(wait_set_);
  while (state_.router->next(delivery, clock_.recent())) {
    const ScopedUnlock unlocked(state_.mutex);
    delivery.hand_over();
    any = true;
  }
  if (!woken.empty()) {
    const ScopedUnlock unlocked(state_.mutex);
    woken.wake_all();
  }
  writer_.set_delivering(false);
  thread_hint.delivering_for = outer;
  return any;
}

void ConnectionMultiplexer::prepare() noexcept {
  state_.write_mutex.lock();
  state_.mutex.lock();
  for (const auto& connection : state_.router->connections()) {
    connection->transport.lock_for_fork();
    connection->connector->lock_for_fork();
  }
}

void ConnectionMultiplexer::parent() noexcept {
  for (const auto& connection : state_.router->connections()) {
    connection->transport.unlock_after_fork();
    connection->connector->unlock_after_fork();
  }
  state_.mutex.unlock();
  state_.write_mutex.unlock();
}

void ConnectionMultiplexer::child() noexcept { parent(); }

void ConnectionMultiplexer::forget_parent() noexcept {
  const ScopedLock lock(state_.mutex);
  for (const auto& connection : state_.router->connections()) {
    connection->write_blocked = false;
    connection->write_failure.reset();
    connection->transport.abandon();
    connection->connector->abandon();
  }
  state_.router->forget();
  state_.threads.forget();
  writer_ = WriteBatcher();
  adaptive_spin_ = AdaptiveSpin();
  wake_fds_.clear();
  thread_hint = {};
}

bool ConnectionMultiplexer::wait(Participation& self, Clock::time_point until) {
  const Clock::time_point now = clock_.now();
  Waiter::Reasons reasons = 0;
  if (now < until && should_spin(self, now)) reasons = spin(self, now, until);
  if (reasons == 0) {
    reasons = state_.threads.is_leader(self.thread) ? sleep_in_poll(self.thread, until)
                                                    : sleep_in_futex(self.thread, until);
  }
  return (reasons & Waiter::unparked) != 0;
}

// With a clock that a test moves by hand, spinning would not end.
bool ConnectionMultiplexer::should_spin(const Participation& self,
                                        Clock::time_point now) const noexcept {
  return !self.has_spun && self.thread.awaits_reply(state_.answered()) &&
         !self.thread.waiter.has_reason() && &clock_ == &Clock::system() &&
         adaptive_spin_.should_spin(now);
}

// No reason: it is time to sleep.
Waiter::Reasons ConnectionMultiplexer::spin(Participation& self, Clock::time_point begin,
                                            Clock::time_point until) {
  LeaderFollowers& threads = state_.threads;
  WaitingThread& thread = self.thread;
  threads.begin_spin(thread);
  self.has_spun = true;
  until = std::min(until, later(begin, AdaptiveSpin::max_spin));
  AdaptiveSpin::Attempt attempt{begin, begin, 0, 0};
  Waiter::Reasons found = 0;
  while (found == 0 && attempt.end < until && (!thread.alone || threads.is_leader(thread))) {
    attempt.end = yield(thread);
    ++attempt.yields;
    if (thread.parker.park_until(clock_, attempt.end)) {  // does not block: its deadline is over
      found = Waiter::unparked;
    } else if (poll_once(thread)) {
      found = Waiter::interrupted;
    }
  }
  attempt.spinning_threads = threads.spinning_threads();
  if (found != 0) {
    adaptive_spin_.record_success(attempt);
    threads.end_spin(thread);
  } else {
    if (attempt.end >= until) adaptive_spin_.record_failure(attempt);
    threads.end_spin_to_sleep(thread);
  }
  writer_.flush(state_);  // commands were held back while threads spun
  return thread.waiter.take_reasons() | found;
}

Clock::time_point ConnectionMultiplexer::yield(WaitingThread& thread) {
  state_.threads.begin_yield(thread);
  Clock::time_point begin, end;
  {
    const ScopedUnlock unlocked(state_.mutex);
    begin = clock_.now();
    std::this_thread::yield();
    end = clock_.now();
  }
  state_.threads.end_yield(thread, end - begin < AdaptiveSpin::idle_yield);
  return end;
}

// True: the thread leads and has handled events.
bool ConnectionMultiplexer::poll_once(WaitingThread& thread) {
  writer_.flush_request(state_, thread.last_request);
  if (!state_.threads.try_lead_spinning(thread)) return false;
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  Reactor::add_descriptors(state_, polled);
  bool has_events = false;
  {
    const ScopedUnlock unlocked(state_.mutex);
    has_events = polled.poll(Clock::duration::zero());
  }
  has_events |= thread.waiter.has_reason();  // it was interrupted: a socket may take no more bytes
  if (has_events) reactor_.handle_events(state_, polled);
  return has_events;
}

Waiter::Reasons ConnectionMultiplexer::sleep_in_futex(WaitingThread& thread,
                                                      Clock::time_point until) {
  const Clock::time_point now = clock_.now();
  if (state_.threads.watches_as_backup(thread)) {
    until = std::min(until, later(now, LeaderFollowers::backup_period));
  }
  const ScopedUnlock unlocked(state_.mutex);
  if (!thread.parker.arm(thread.waiter)) return Waiter::unparked;
  thread.waiter.sleep(clock_, until);
  thread.parker.disarm();
  return thread.waiter.take_reasons();
}

Waiter::Reasons ConnectionMultiplexer::sleep_in_poll(WaitingThread& thread,
                                                     Clock::time_point until) {
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  FileDescriptor wake_fd = wake_fds_.take();
  // An interrupt from here on comes after the descriptors and deadlines were collected.
  thread.waiter.take_reasons();
  thread.waiter.use_wake_fd(wake_fd.get());
  // A request whose thread does not wait still has a deadline.
  until = std::min({until, Reactor::next_deadline(state_), later(clock_.now(), timeout_)});
  polled.add(wake_fd.get(), POLLIN, {.connection = 0, .purpose = PollSet::Purpose::wake_up});
  Reactor::add_descriptors(state_, polled);
  state_.threads.begin_poll(thread, reactor_.generation(), until);
  const Waiter::Reasons reasons = poll_until(thread, polled, wake_fd, until);
  wake_fds_.give_back(std::move(wake_fd));
  if (state_.threads.end_poll(thread)) reactor_.handle_events(state_, polled);
  return reasons;
}

Waiter::Reasons ConnectionMultiplexer::poll_until(WaitingThread& thread, PollSet& polled,
                                                  const FileDescriptor& wake_fd,
                                                  Clock::time_point until) {
  Waiter::Reasons reasons = Waiter::unparked;
  {
    const ScopedUnlock unlocked(state_.mutex);
    if (thread.parker.arm(thread.waiter)) {
      Clock::duration length = sleep_slice(clock_, until);
      // Without a descriptor (the system has none left) nobody can wake the thread.
      if (!wake_fd.valid()) length = std::min<Clock::duration>(length, max_unwakeable_sleep);
      polled.poll(length);
      if (!thread.parker.disarm()) reasons = 0;
    }
  }
  thread.waiter.use_wake_fd(-1);
  reasons |= thread.waiter.take_reasons();
  if (reasons != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_fd.get(), &count);
  }
  return reasons;
}

bool ConnectionMultiplexer::keeps_order() const noexcept {
  const ScopedLock lock(state_.mutex);
  return state_.router->keeps_order();
}

std::string ConnectionMultiplexer::identity() const {
  if (uri_.deployment == RedisUri::Deployment::cluster) return {};
  const ScopedLock lock(state_.mutex);
  const auto connections = state_.router->connections();
  return connections.empty() ? std::string() : connections.front()->session.run_id();
}

bool ConnectionMultiplexer::watches() const {
  const ScopedLock lock(state_.mutex);
  return std::ranges::all_of(state_.router->connections(),
                             [](const auto& connection) { return connection->session.watches(); });
}

std::string ConnectionMultiplexer::warning() const {
  const ScopedLock lock(state_.mutex);
  const auto connections = state_.router->connections();
  const bool silent = std::ranges::all_of(connections, [](const auto& connection) {
    return connection->session.stage() != Session::Stage::up &&
           connection->session.last_failure() == nullptr;
  });
  if (silent) return std::string(silence_warning);
  for (const auto& connection : connections) {
    const Session& session = connection->session;
    const std::string server =
        connections.size() == 1 ? std::string() : connection->uri.endpoint.text() + ": ";
    if (const Failure* const failure = session.last_failure()) return warning_of(*failure, server);
    if (const std::string text = session.warning(); !text.empty()) return server + text;
  }
  return {};
}

std::vector<Connection> ConnectionMultiplexer::connections() const {
  const bool cluster = uri_.deployment == RedisUri::Deployment::cluster;
  std::vector<Connection> all;
  const ScopedLock lock(state_.mutex);
  for (const auto& connection : state_.router->connections()) {
    if (cluster && connection->slots == 0) continue;
    const Failure* const failure = connection->session.last_failure();
    all.push_back({connection->session.server(), connection->session.stage() == Session::Stage::up,
                   failure != nullptr ? failure->text : std::string()});
  }
  return all;
}

}  // namespace latchkey::inline v1::detail::redis
