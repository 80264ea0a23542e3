// One connection to one server, shared by all threads: what callers ask of it.
#include "redis/shared_connection.hpp"

#include <atomic>
#include <random>
#include <thread>
#include <utility>

namespace latchkey::detail::redis {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// What the calling thread did last, and does now. A guess is all that is made of it.
struct Mark {
  std::uint64_t connection = 0;  ///< where it submitted last
  std::uint64_t asked = 0;       ///< see Driver
  std::uint64_t delivering = 0;  ///< for which connection it calls sinks now
};
constinit thread_local Mark mark;

Link::Settings link_settings(const RedisUri& uri, std::chrono::milliseconds timeout) {
  std::random_device entropy;
  Link::Settings settings;
  settings.login = {uri.user, uri.password, uri.client_name, uri.database};
  settings.timeout = timeout;
  settings.seed = entropy();
  return settings;
}

}  // namespace

SharedConnection::SharedConnection(RedisUri uri, std::chrono::milliseconds timeout, Clock& clock)
    : number_(next_number()),
      uri_(std::move(uri)),
      timeout_(timeout),
      clock_(clock),
      tls_(uri_.transport == RedisUri::Transport::tls ? std::make_unique<TlsContext>(uri_)
                                                      : nullptr),
      link_(link_settings(uri_, timeout)),
      transport_(tls_.get(), 2 * timeout),
      dialer_(uri_, transport_) {
  bells_.reserve(most_bells);
  register_fork_participant(ForkLevel::backend, *this);
}

SharedConnection::~SharedConnection() {
  unregister_fork_participant(*this);
  transport_.close();
}

std::optional<Failure> SharedConnection::start() {
  const Clock::time_point until = later(clock_.now(), timeout_);
  Lock lock(mutex_);
  Driver me(Parker::mine(), dormitory_);
  const Seat seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    static_cast<void>(drivers_.takes_role(me, link_.answered()));
    bring_forward(lock);
    deliver(lock);
    flush(lock);
    if (link_.stage() == Link::Stage::up) return std::nullopt;
    if (link_.last_failure() != nullptr) return *link_.last_failure();
    if (over) return silence(timeout_);
    sleep(me, until, lock);
  }
}

void SharedConnection::submit(std::span<Request* const> requests, Sink& sink) {
  Lock lock(mutex_);
  const Clock::time_point now = clock_.now();
  const std::uint64_t asked = link_.submit(requests, sink, now);
  if (link_.has_news()) drivers_.call_reader();
  // What is submitted from inside a sink goes out together, when all sinks were called.
  if (mark.delivering == number_) return;
  gathering_.came_back();
  mark.connection = number_;
  mark.asked = asked;
  if (gathering_.begin(now)) gather(asked, lock);
  flush(lock);
}

void SharedConnection::gather(std::uint64_t asked, Lock& lock) {
  lock.unlock();
  std::this_thread::yield();
  lock.lock();
  gathering_.end(link_.submitted() != asked);
}

void SharedConnection::drive(Parker& parker, Clock::time_point until) {
  Lock lock(mutex_);
  Driver me(parker, dormitory_);
  if (mark.connection == number_) me.asked = mark.asked;
  Seat seat(*this, lock, me);
  for (bool over = false;; over = clock_.now() >= until) {
    if (drivers_.takes_role(me, link_.answered())) {
      bring_forward(lock);
      seat.delivered = deliver(lock);
      flush(lock);
    }
    if (seat.delivered || over || sleep(me, until, lock)) return;
  }
}

SharedConnection::Seat::Seat(SharedConnection& of, Lock& held, Driver& sitting)
    : connection(of), lock(held), driver(sitting) {
  connection.drivers_.enter(driver, connection.link_.answered());
}

SharedConnection::Seat::~Seat() {
  if (!lock.owns_lock()) lock.lock();
  const Link& link = connection.link_;
  const std::uint64_t answered = link.answered();
  const Parker::Wake heir =
      connection.drivers_.leave(driver, {.answered = answered,
                                         .more_to_come = link.waits_for_answers() || link.listens(),
                                         .comes_back = delivered && driver.asked > answered});
  lock.unlock();  // the heir would run into it
  heir.carry_out();
}

bool SharedConnection::deliver(Lock& lock) {
  bool any = false;
  Delivery delivery;
  const std::uint64_t before = std::exchange(mark.delivering, number_);
  delivers_ = true;
  Dormitory::Collection woken(dormitory_);
  while (link_.next(delivery)) {
    lock.unlock();
    delivery.hand_over();
    lock.lock();
    any = true;
  }
  if (!woken.empty()) {
    lock.unlock();
    const int count = woken.wake_all();
    lock.lock();
    gathering_.woken(static_cast<std::uint32_t>(count), clock_.now());
  }
  delivers_ = false;
  mark.delivering = before;
  return any;
}

// With mutex_ held. Whoever finds the write mutex taken leaves its bytes to the thread that has it,
// which looks for more, with mutex_ held, before it lets go.
void SharedConnection::flush(Lock& lock) {
  if (write_blocked_ || write_failure_ || !link_.anything_to_send()) return;
  // The thread that gathers sends for everybody, and so does the one that hands out answers; but
  // the server shall not stand idle until they are through.
  if ((gathering_.going_on() || delivers_) && link_.is_working() && link_.unsent() < enough_at_once)
    return;
  std::unique_lock writing(write_mutex_, std::try_to_lock);
  if (!writing.owns_lock()) return;
  while (!write_blocked_ && !write_failure_) {
    const std::string_view bytes = link_.to_send();
    if (bytes.empty()) return;
    lock.unlock();
    Io io = transport_.write(bytes);
    lock.lock();
    switch (io.kind) {
      case Io::Kind::moved: link_.sent(io.count); continue;
      case Io::Kind::blocked: write_blocked_ = true; break;
      case Io::Kind::ended: write_failure_ = closed_by_server(true); break;
      case Io::Kind::broken: write_failure_ = std::move(io.failure); break;
    }
    drivers_.call_reader();  // who polls for room, or finds out what is left to be read
  }
}

std::string SharedConnection::warning() const {
  const std::lock_guard lock(mutex_);
  return link_.warning();
}

bool SharedConnection::keeps_order() const noexcept {
  const std::lock_guard lock(mutex_);
  return link_.may_kill();
}

void SharedConnection::prepare() noexcept {
  write_mutex_.lock();
  mutex_.lock();
  transport_.lock_for_fork();
}

void SharedConnection::parent() noexcept {
  transport_.unlock_after_fork();
  mutex_.unlock();
  write_mutex_.unlock();
}

void SharedConnection::child() noexcept { parent(); }

void SharedConnection::forget_parent() noexcept {
  const std::lock_guard lock(mutex_);
  link_.forget();
  drivers_.forget();
  bells_.clear();
  gathering_ = Gathering();
  delivers_ = false;
  write_blocked_ = false;
  write_failure_.reset();
  transport_.abandon();
  dialer_.give_up();
  mark = {};
}

}  // namespace latchkey::detail::redis
