// The connections to the servers of one deployment: requests in, replies out.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/connection_multiplexer.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/multiplexer/make_router.hpp"
#include "redis/multiplexer/participation.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// The last actions of a thread. They only guide decisions: nothing goes wrong if they are stale.
struct ThreadHint {
  std::uint64_t submitted_to = 0;    ///< the multiplexer that it submitted to last, by number
  std::uint64_t last_request = 0;    ///< see WaitingThread
  std::uint64_t delivering_for = 0;  ///< the multiplexer whose sinks it calls now
};
constinit thread_local ThreadHint thread_hint;

}  // namespace

ConnectionMultiplexer::ConnectionMultiplexer(RedisUri uri, const Options& options)
    : number_(next_number()),
      uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      tls_(uri_.transport == RedisUri::Transport::tls ? std::make_unique<TlsContext>(uri_)
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
  const ScopedLock lock(state_.mutex);
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
  if (!writer_.keeps(state_, &thread_hint, requests.size())) flush();
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
  const std::uint64_t answered = state.answered();
  const Parker::Wake wake =
      state.threads.leave(thread, {.answered = answered,
                                   .more_expected = multiplexer_.expects_more(),
                                   .will_return = delivered && thread.awaits_reply(answered),
                                   .generation = multiplexer_.reactor_.generation()});
  lock_.unlock();  // the woken thread would run into it
  wake.carry_out();
}

bool ConnectionMultiplexer::expects_more() const noexcept {
  return state_.router->outstanding() > 0 ||
         std::ranges::any_of(state_.router->connections(),
                             [](const auto& connection) { return connection->session.listens(); });
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

}  // namespace latchkey::inline v1::detail::redis
