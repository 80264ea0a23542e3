// Connections to servers, shared by all threads: what callers ask of them.
#include "redis/connection_multiplexer.hpp"

#include <algorithm>
#include <new>
#include <random>
#include <utility>

#include "redis/cluster/cluster_router.hpp"

namespace latchkey::detail::redis {
namespace {

/// What the calling thread did last, and does now. A guess is all that is made of it.
struct Mark {
  std::uint64_t connections = 0;  ///< where it submitted last
  std::uint64_t asked = 0;        ///< see WaitingThread
  std::uint64_t delivering = 0;   ///< for which connections it calls sinks now
};
constinit thread_local Mark mark;

Session::Settings link_settings(const RedisUri& uri, const Options& options) {
  std::random_device entropy;
  Session::Settings settings;
  settings.login.user = uri.user;
  settings.login.password = uri.password;
  settings.login.client_name = uri.client_name;
  settings.login.database = uri.database;
  settings.login.cluster = uri.deployment == RedisUri::Deployment::cluster;
  const bool tls = uri.transport == RedisUri::Transport::tls;
  const bool known = uri.deployment == RedisUri::Deployment::server &&
                     uri.transport != RedisUri::Transport::unix_socket;
  settings.login.cluster_uri = std::string(tls ? "rediss+cluster://" : "redis+cluster://") +
                               (known ? uri.endpoint.text() : "host:port");
  settings.login.sharded = options.sharded;
  settings.login.replicas = options.min_replicas > 0;
  settings.timeout = options.command_timeout;
  settings.min_replicas = options.min_replicas;
  settings.seed = entropy();
  return settings;
}

std::unique_ptr<Router> make_router(const RedisUri& uri, const Options& options,
                                    const TlsContext* tls) {
  Session::Settings settings = link_settings(uri, options);
  if (uri.deployment == RedisUri::Deployment::cluster) {
    return std::make_unique<ClusterRouter>(uri, tls, std::move(settings));
  }
  return std::make_unique<SingleServerRouter>(
      std::make_unique<ServerConnection>(uri, tls, std::move(settings)));
}

}  // namespace

ConnectionMultiplexer::ConnectionMultiplexer(RedisUri uri, const Options& options)
    : number_(next_number()),
      uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      tls_(uri_.transport == RedisUri::Transport::tls ? std::make_unique<TlsContext>(uri_)
                                                      : nullptr),
      router_(make_router(uri_, options, tls_.get())) {
  wake_fds_.reserve(most_wake_fds);
  register_fork_participant(ForkLevel::backend, *this);
}

ConnectionMultiplexer::~ConnectionMultiplexer() {
  unregister_fork_participant(*this);
  for (const auto& wire : router_->connections()) wire->transport.close();
}

std::optional<Failure> ConnectionMultiplexer::start() {
  const Clock::time_point until = later(clock_.now(), timeout_);
  Lock lock(mutex_);
  WaitingThread me(Parker::mine(), wait_set_);
  const ThreadRegistration seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    static_cast<void>(threads_.takes_leadership(me, answered()));
    bring_forward(lock);
    deliver(lock);
    flush(lock);
    Failure why;
    const Router::Start start = router_->start(why);
    if (start == Router::Start::settled) return std::nullopt;
    if (start == Router::Start::failed) return why;
    if (over) return silence(timeout_);
    sleep(me, until, lock);
  }
}

void ConnectionMultiplexer::submit(std::span<Request* const> requests, Sink& sink) {
  Lock lock(mutex_);
  const Clock::time_point now = clock_.now();
  const Clock::time_point due_before = soonest();
  router_->submit(requests, sink, now);
  submitted_ += requests.size();
  if (router_->has_news() || soonest() < due_before) threads_.call_leader();
  // What is submitted from inside a sink goes out together, when all sinks were called.
  if (mark.delivering == number_) return;
  mark.connections = number_;
  mark.asked = submitted_;
  try {
    flush(lock);
  } catch (const std::bad_alloc&) {
    // The requests are under way all the same: who drives sends them.
    if (!lock.owns_lock()) lock.lock();
    threads_.call_leader();
  }
}

void ConnectionMultiplexer::drive(Parker& parker, Clock::time_point until) {
  Lock lock(mutex_);
  WaitingThread me(parker, wait_set_);
  if (mark.connections == number_) me.asked = mark.asked;
  ThreadRegistration seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    if (threads_.takes_leadership(me, answered())) {
      bring_forward(lock);
      seat.delivered = deliver(lock);
      flush(lock);
    }
    if (seat.delivered || over || sleep(me, until, lock)) return;
  }
}

ConnectionMultiplexer::ThreadRegistration::ThreadRegistration(ConnectionMultiplexer& of, Lock& held,
                                                              WaitingThread& sitting)
    : connections(of), lock(held), driver(sitting) {
  connections.threads_.enter(driver, connections.answered());
}

ConnectionMultiplexer::ThreadRegistration::~ThreadRegistration() {
  if (!lock.owns_lock()) lock.lock();
  const std::uint64_t answered = connections.answered();
  const Parker::Wake heir =
      connections.threads_.leave(driver, {.answered = answered,
                                          .more_to_come = connections.more_to_come(),
                                          .comes_back = delivered && driver.awaits_reply(answered),
                                          .sockets = connections.sockets_});
  lock.unlock();  // the heir would run into it
  heir.carry_out();
}

std::uint64_t ConnectionMultiplexer::answered() const noexcept {
  return submitted_ - std::min<std::uint64_t>(submitted_, router_->outstanding());
}

// What a submission can bring forward: where all connections are there, only the router's own.
Clock::time_point ConnectionMultiplexer::soonest() const noexcept {
  const bool all_up = std::ranges::all_of(router_->connections(), [](const auto& wire) {
    return wire->session.stage() == Session::Stage::up;
  });
  return all_up ? router_->due() : due();
}

bool ConnectionMultiplexer::more_to_come() const noexcept {
  return router_->outstanding() > 0 ||
         std::ranges::any_of(router_->connections(),
                             [](const auto& wire) { return wire->session.listens(); });
}

bool ConnectionMultiplexer::deliver(Lock& lock) {
  bool any = false;
  Delivery delivery;
  const std::uint64_t before = std::exchange(mark.delivering, number_);
  delivers_ = true;
  FutexWaitSet::WakeBatch woken(wait_set_);
  while (router_->next(delivery, clock_.recent())) {
    lock.unlock();
    delivery.hand_over();
    lock.lock();
    any = true;
  }
  if (!woken.empty()) {
    lock.unlock();
    woken.wake_all();
    lock.lock();
  }
  delivers_ = false;
  mark.delivering = before;
  return any;
}

void ConnectionMultiplexer::flush(Lock& lock) {
  if (!holds_back()) flush_all(lock);
}

// With mutex_ held. Whoever finds the write mutex taken leaves its bytes to the thread that has it,
// which looks for more, with mutex_ held, before it lets go.
void ConnectionMultiplexer::flush_all(Lock& lock) {
  if (next_to_send() != nullptr) {
    const std::unique_lock writing(write_mutex_, std::try_to_lock);
    if (!writing.owns_lock()) return;
    while (ServerConnection* const wire = next_to_send()) send(lock, *wire);
  }
  flushed_ = submitted_;
}

// The thread that hands out answers sends for everybody, and so does one that spins, in its first
// turn or when the last answer has come: one system call for many commands costs a fraction of one
// each, here and at the server. No server shall run out of work until then, so no more is held back
// than it has before it.
bool ConnectionMultiplexer::holds_back() const noexcept {
  if (!delivers_ && !threads_.somebody_spins()) return false;
  return std::ranges::all_of(router_->connections(), [](const auto& wire) {
    const std::size_t unsent = wire->session.unsent();
    return !wire->can_send() || (unsent <= wire->session.backlog() && unsent < enough_at_once);
  });
}

ServerConnection* ConnectionMultiplexer::next_to_send() noexcept {
  const auto connections = router_->connections();
  for (std::size_t step = 1; step <= connections.size(); ++step) {
    const std::size_t index = (sent_last_ + step) % connections.size();
    if (!connections[index]->can_send()) continue;
    sent_last_ = index;
    return connections[index].get();
  }
  return nullptr;
}

void ConnectionMultiplexer::send(Lock& lock, ServerConnection& wire) {
  const std::string_view bytes = wire.session.to_send();
  if (bytes.empty()) return;
  lock.unlock();
  Io io = wire.transport.write(bytes);
  lock.lock();
  switch (io.kind) {
    case Io::Kind::moved: wire.session.sent(io.count); return;
    case Io::Kind::blocked: wire.write_blocked = true; break;
    case Io::Kind::ended: wire.write_failure = closed_by_server(true); break;
    case Io::Kind::broken: wire.write_failure = std::move(io.failure); break;
  }
  threads_.call_leader();  // who polls for room, or finds out what is left to be read
}

bool ConnectionMultiplexer::keeps_order() const noexcept {
  const std::lock_guard lock(mutex_);
  return router_->keeps_order();
}

void ConnectionMultiplexer::prepare() noexcept {
  write_mutex_.lock();
  mutex_.lock();
  for (const auto& wire : router_->connections()) {
    wire->transport.lock_for_fork();
    wire->connector->lock_for_fork();
  }
}

void ConnectionMultiplexer::parent() noexcept {
  for (const auto& wire : router_->connections()) {
    wire->transport.unlock_after_fork();
    wire->connector->unlock_after_fork();
  }
  mutex_.unlock();
  write_mutex_.unlock();
}

void ConnectionMultiplexer::child() noexcept { parent(); }

void ConnectionMultiplexer::forget_parent() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& wire : router_->connections()) {
    wire->write_blocked = false;
    wire->write_failure.reset();
    wire->transport.abandon();
    wire->connector->abandon();
  }
  router_->forget();
  threads_.forget();
  wake_fds_.clear();
  spin_ = AdaptiveSpin();
  delivers_ = false;
  mark = {};
}

}  // namespace latchkey::detail::redis
