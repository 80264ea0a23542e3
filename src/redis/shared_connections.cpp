// Connections to servers, shared by all threads: what callers ask of them.
#include "redis/shared_connections.hpp"

#include <algorithm>
#include <new>
#include <random>
#include <utility>

#include "redis/cluster.hpp"

namespace latchkey::detail::redis {
namespace {

/// What the calling thread did last, and does now. A guess is all that is made of it.
struct Mark {
  std::uint64_t connections = 0;  ///< where it submitted last
  std::uint64_t asked = 0;        ///< see Driver
  std::uint64_t delivering = 0;   ///< for which connections it calls sinks now
};
constinit thread_local Mark mark;

Link::Settings link_settings(const RedisUri& uri, const Options& options) {
  std::random_device entropy;
  Link::Settings settings;
  settings.login.user = uri.user;
  settings.login.password = uri.password;
  settings.login.client_name = uri.client_name;
  settings.login.database = uri.database;
  settings.login.cluster = uri.deployment == RedisUri::Deployment::cluster;
  const bool tls = uri.transport == RedisUri::Transport::tls;
  const bool known = uri.deployment == RedisUri::Deployment::server &&
                     uri.transport != RedisUri::Transport::unix_socket;
  settings.login.cluster_uri = std::string(tls ? "rediss+cluster://" : "redis+cluster://") +
                               (known ? uri.place.text() : "host:port");
  settings.login.sharded = options.sharded;
  settings.login.replicas = options.min_replicas > 0;
  settings.timeout = options.command_timeout;
  settings.min_replicas = options.min_replicas;
  settings.seed = entropy();
  return settings;
}

std::unique_ptr<Router> make_router(const RedisUri& uri, const Options& options,
                                    const TlsContext* tls) {
  Link::Settings settings = link_settings(uri, options);
  if (uri.deployment == RedisUri::Deployment::cluster) {
    return std::make_unique<Cluster>(uri, tls, std::move(settings));
  }
  return std::make_unique<OneServer>(std::make_unique<Wire>(uri, tls, std::move(settings)));
}

}  // namespace

SharedConnections::SharedConnections(RedisUri uri, const Options& options)
    : number_(next_number()),
      uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      tls_(uri_.transport == RedisUri::Transport::tls ? std::make_unique<TlsContext>(uri_)
                                                      : nullptr),
      router_(make_router(uri_, options, tls_.get())) {
  bells_.reserve(most_bells);
  register_fork_participant(ForkLevel::backend, *this);
}

SharedConnections::~SharedConnections() {
  unregister_fork_participant(*this);
  for (const auto& wire : router_->wires()) wire->transport.close();
}

std::optional<Failure> SharedConnections::start() {
  const Clock::time_point until = later(clock_.now(), timeout_);
  Lock lock(mutex_);
  Driver me(Parker::mine(), dormitory_);
  const Seat seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    static_cast<void>(drivers_.takes_role(me, answered()));
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

void SharedConnections::submit(std::span<Request* const> requests, Sink& sink) {
  Lock lock(mutex_);
  const Clock::time_point now = clock_.now();
  const Clock::time_point due_before = soonest();
  router_->submit(requests, sink, now);
  submitted_ += requests.size();
  if (router_->has_news() || soonest() < due_before) drivers_.call_reader();
  // What is submitted from inside a sink goes out together, when all sinks were called.
  if (mark.delivering == number_) return;
  mark.connections = number_;
  mark.asked = submitted_;
  try {
    flush(lock);
  } catch (const std::bad_alloc&) {
    // The requests are under way all the same: who drives sends them.
    if (!lock.owns_lock()) lock.lock();
    drivers_.call_reader();
  }
}

void SharedConnections::drive(Parker& parker, Clock::time_point until) {
  Lock lock(mutex_);
  Driver me(parker, dormitory_);
  if (mark.connections == number_) me.asked = mark.asked;
  Seat seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    if (drivers_.takes_role(me, answered())) {
      bring_forward(lock);
      seat.delivered = deliver(lock);
      flush(lock);
    }
    if (seat.delivered || over || sleep(me, until, lock)) return;
  }
}

SharedConnections::Seat::Seat(SharedConnections& of, Lock& held, Driver& sitting)
    : connections(of), lock(held), driver(sitting) {
  connections.drivers_.enter(driver, connections.answered());
}

SharedConnections::Seat::~Seat() {
  if (!lock.owns_lock()) lock.lock();
  const std::uint64_t answered = connections.answered();
  const Parker::Wake heir =
      connections.drivers_.leave(driver, {.answered = answered,
                                          .more_to_come = connections.more_to_come(),
                                          .comes_back = delivered && driver.is_eager(answered),
                                          .sockets = connections.sockets_});
  lock.unlock();  // the heir would run into it
  heir.carry_out();
}

std::uint64_t SharedConnections::answered() const noexcept {
  return submitted_ - std::min<std::uint64_t>(submitted_, router_->outstanding());
}

// What a submission can bring forward: where all connections are there, only the router's own.
Clock::time_point SharedConnections::soonest() const noexcept {
  const bool all_up = std::ranges::all_of(
      router_->wires(), [](const auto& wire) { return wire->link.stage() == Link::Stage::up; });
  return all_up ? router_->due() : due();
}

bool SharedConnections::more_to_come() const noexcept {
  return router_->outstanding() > 0 || std::ranges::any_of(router_->wires(), [](const auto& wire) {
           return wire->link.listens();
         });
}

bool SharedConnections::deliver(Lock& lock) {
  bool any = false;
  Delivery delivery;
  const std::uint64_t before = std::exchange(mark.delivering, number_);
  delivers_ = true;
  Dormitory::Collection woken(dormitory_);
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

void SharedConnections::flush(Lock& lock) {
  if (!holds_back()) flush_all(lock);
}

// With mutex_ held. Whoever finds the write mutex taken leaves its bytes to the thread that has it,
// which looks for more, with mutex_ held, before it lets go.
void SharedConnections::flush_all(Lock& lock) {
  if (next_to_send() != nullptr) {
    const std::unique_lock writing(write_mutex_, std::try_to_lock);
    if (!writing.owns_lock()) return;
    while (Wire* const wire = next_to_send()) send(lock, *wire);
  }
  flushed_ = submitted_;
}

// The thread that hands out answers sends for everybody, and so does one that spins, in its first
// turn or when the last answer has come: one system call for many commands costs a fraction of one
// each, here and at the server. No server shall run out of work until then, so no more is held back
// than it has before it.
bool SharedConnections::holds_back() const noexcept {
  if (!delivers_ && !drivers_.somebody_spins()) return false;
  return std::ranges::all_of(router_->wires(), [](const auto& wire) {
    const std::size_t unsent = wire->link.unsent();
    return !wire->can_send() || (unsent <= wire->link.backlog() && unsent < enough_at_once);
  });
}

Wire* SharedConnections::next_to_send() noexcept {
  const auto wires = router_->wires();
  for (std::size_t step = 1; step <= wires.size(); ++step) {
    const std::size_t index = (sent_last_ + step) % wires.size();
    if (!wires[index]->can_send()) continue;
    sent_last_ = index;
    return wires[index].get();
  }
  return nullptr;
}

void SharedConnections::send(Lock& lock, Wire& wire) {
  const std::string_view bytes = wire.link.to_send();
  if (bytes.empty()) return;
  lock.unlock();
  Io io = wire.transport.write(bytes);
  lock.lock();
  switch (io.kind) {
    case Io::Kind::moved: wire.link.sent(io.count); return;
    case Io::Kind::blocked: wire.write_blocked = true; break;
    case Io::Kind::ended: wire.write_failure = closed_by_server(true); break;
    case Io::Kind::broken: wire.write_failure = std::move(io.failure); break;
  }
  drivers_.call_reader();  // who polls for room, or finds out what is left to be read
}

bool SharedConnections::keeps_order() const noexcept {
  const std::lock_guard lock(mutex_);
  return router_->keeps_order();
}

void SharedConnections::prepare() noexcept {
  write_mutex_.lock();
  mutex_.lock();
  for (const auto& wire : router_->wires()) {
    wire->transport.lock_for_fork();
    wire->way->lock_for_fork();
  }
}

void SharedConnections::parent() noexcept {
  for (const auto& wire : router_->wires()) {
    wire->transport.unlock_after_fork();
    wire->way->unlock_after_fork();
  }
  mutex_.unlock();
  write_mutex_.unlock();
}

void SharedConnections::child() noexcept { parent(); }

void SharedConnections::forget_parent() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& wire : router_->wires()) {
    wire->write_blocked = false;
    wire->write_failure.reset();
    wire->transport.abandon();
    wire->way->abandon();
  }
  router_->forget();
  drivers_.forget();
  bells_.clear();
  spinning_ = Spinning();
  delivers_ = false;
  mark = {};
}

}  // namespace latchkey::detail::redis
