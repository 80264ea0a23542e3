// Threads and event loops that wait for a store's client.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/driven_backend.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/sleep_slice.hpp"
#include "stores/driver/driven_loop.hpp"

namespace latchkey::inline v1::detail::stores {

namespace {

/// After this time without a caller, a thread that awaits nothing leads.
constexpr std::chrono::milliseconds longest_brief_follow{5};
/// How many deliveries a thread hands over before it looks for more.
constexpr std::size_t batch_size = 32;

}  // namespace

DrivenBackend::DrivenBackend(std::unique_ptr<StoreClient> client, const Options& options)
    : timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      client_(std::move(client)),
      description_(client_->describe()),
      answers_at_once_(client_->answers_at_once()),
      batch_(batch_size) {
  register_fork_participant(ForkLevel::backend, *this);
}

DrivenBackend::~DrivenBackend() { unregister_fork_participant(*this); }

Capabilities DrivenBackend::capabilities() const noexcept {
  const ScopedLock lock(mutex_);
  return client_->capabilities();
}

void DrivenBackend::start(bool may_be_absent) {
  const Clock::time_point until = later(clock_.now(), timeout_);
  const ScopedLock lock(mutex_);
  for (;;) {
    work();
    const StoreClient::Start state = client_->start_state();
    if (state == StoreClient::Start::up) return;
    const bool over = clock_.now() >= until;
    if (!over && state == StoreClient::Start::connecting) {
      poll(until);
      continue;
    }
    const Failure* const known = client_->failure();
    const Failure failure =
        known != nullptr
            ? *known
            : Failure{false, "no answer for " + std::to_string(timeout_.count()) + " ms"};
    LockSite site{{}, {}, description_};
    if (failure.permanent) throw BackendRefused(std::move(site), failure.text);
    if (may_be_absent) return;
    throw BackendUnavailable(std::move(site), failure.text);
  }
}

std::string DrivenBackend::warning() const {
  const ScopedLock lock(mutex_);
  if (client_->outbox().is_up()) return client_->warning();
  const Failure* const failure = client_->failure();
  return failure != nullptr ? warning_of(*failure) : std::string(silence_warning);
}

std::vector<Connection> DrivenBackend::connections() const {
  const ScopedLock lock(mutex_);
  Outbox& outbox = client_->outbox();
  outbox.reported(outbox.is_up());
  const Failure* const failure = client_->failure();
  return {{.server = {},
           .up = outbox.is_up(),
           .why = outbox.is_up() || failure == nullptr ? std::string() : failure->text}};
}

// A request that was taken has an outcome, whatever happens while it is sent.
void DrivenBackend::submit(std::span<Request* const> requests, Sink& sink) {
  const ScopedLock lock(mutex_);
  Outbox& outbox = client_->outbox();
  outbox.know(sink);
  outbox.begin(requests, sink);
  try {
    client_->submit(requests, sink);
  } catch (...) {
    outbox.withdraw(requests);
    throw;
  }
  attempt([this] { client_->send(clock_.now()); });
  wake_driver();
}

bool DrivenBackend::answer(Request& request, Outcome& outcome, Sink& sink) {
  if (!answers_at_once_) return false;
  if (client_->grant_uncontended(request, sink)) {
    outcome.kind = Outcome::Kind::granted;
    return true;
  }
  const ScopedLock lock(mutex_);
  client_->outbox().know(sink);
  client_->answer(request, outcome, sink);
  const bool may_be_due = (led_ || !loops_.empty()) && client_->due() != Clock::never();
  if (!client_->outbox().empty() || may_be_due) wake_driver();
  return true;
}

void DrivenBackend::drive(Parker& parker, Clock::time_point until) {
  const ScopedLock lock(mutex_);
  ++arrivals_;
  std::uint64_t seen = arrivals_ - 1;
  // Before a reply has arrived there is nothing to read: the thread polls first.
  bool works = client_->outbox().outstanding() == 0 || clock_.now() >= until;
  for (bool over = false;; over = clock_.now() >= until) {
    if ((led_ || !works ? deliver() : work()) || over) break;
    if (wait(role(seen), parker, until)) break;
    works = true;
  }
  // A brief follower completes the requests of threads that do not drive.
  if (!led_ && (expects_something() || brief_followers_ == 0)) followers_.wake_one();
}

// While callers come and go, each leads for itself, and one that awaits nothing follows briefly.
DrivenBackend::Role DrivenBackend::role(std::uint64_t& seen) const {
  const bool callers_come = std::exchange(seen, arrivals_) != arrivals_;
  const bool follows_briefly =
      callers_come && (led_ ? brief_followers_ == 0 : !expects_something());
  if (follows_briefly) return Role::brief_follower;
  return led_ ? Role::follower : Role::leader;
}

bool DrivenBackend::wait(Role role, Parker& parker, Clock::time_point until) {
  switch (role) {
    case Role::leader: return lead(parker, until);
    case Role::follower: return follow(parker, until);
    case Role::brief_follower: return follow_briefly(parker, until);
  }
  return false;
}

bool DrivenBackend::follow_briefly(Parker& parker, Clock::time_point until) {
  ++brief_followers_;
  const bool unparked = follow(parker, std::min(until, later(clock_.now(), longest_brief_follow)));
  --brief_followers_;
  return unparked;
}

bool DrivenBackend::expects_something() const {
  return client_->outbox().outstanding() > 0 || client_->awaits_events();
}

template <class Act>
void DrivenBackend::attempt(Act&& act) {
  try {
    act();
  } catch (const std::bad_alloc&) {
    client_->start_over(clock_.now());
    client_->outbox().lose_all();
  }
}

// Notifies once until the store is up again: one of several servers may refuse, another be down.
void DrivenBackend::report_refusal() {
  Outbox& outbox = client_->outbox();
  const Failure* const failure = client_->failure();
  if (outbox.is_up()) refused_ = false;
  const bool refuses = failure != nullptr && failure->permanent && !outbox.is_up();
  if (!refuses || refused_) return;
  bool told = false;
  attempt([&] { told = outbox.warn(); });
  refused_ = told;
}

bool DrivenBackend::work() {
  attempt([this] { client_->advance(clock_.now()); });
  report_refusal();
  client_->descriptors().forget_events();
  return deliver();
}

// One thread at a time, so that the sinks learn of events in their order. Needs no memory.
bool DrivenBackend::deliver() {
  if (delivering_) return false;
  delivering_ = true;
  bool any = false;
  std::vector<Delivery> batch = std::exchange(batch_, {});
  while (const std::size_t count = client_->outbox().take(batch)) {
    const ScopedUnlock unlocked(mutex_);
    for (Delivery& each : std::span(batch).first(count)) each.hand_over();
    any = true;
  }
  batch_ = std::move(batch);
  delivering_ = false;
  return any;
}

bool DrivenBackend::lead(Parker& parker, Clock::time_point until) {
  if (!parker.arm(doorbell_)) return true;
  led_ = true;
  poll(until);
  led_ = false;
  return parker.disarm();
}

bool DrivenBackend::follow(Parker& parker, Clock::time_point until) {
  ParkedThreads::Waiter me{parker};
  followers_.add(me);
  bool unparked = false;
  {
    const ScopedUnlock unlocked(mutex_);
    unparked = parker.park_until(clock_, until);
  }
  followers_.remove(me);
  return unparked;
}

void DrivenBackend::poll(Clock::time_point until) {
  if (!client_->outbox().empty() && !delivering_) return;
  DescriptorSet& descriptors = client_->descriptors();
  const DescriptorSet::Ready polled = descriptors.polled();
  polls_change_ = descriptors.changes();
  polls_until_ = std::min(until, client_->due());
  const Clock::duration length = sleep_slice(clock_, polls_until_);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (length - seconds).count()};
  std::array<pollfd, 2> wanted{
      pollfd{.fd = polled.descriptor, .events = polled.events, .revents = 0},
      pollfd{.fd = doorbell_.descriptor(), .events = POLLIN, .revents = 0}};
  {
    const ScopedUnlock unlocked(mutex_);
    ::ppoll(wanted.data(), wanted.size(), &timeout, nullptr);
  }
  if (descriptors.changes() == polls_change_) descriptors.know_events(wanted[0].revents);
  if (wanted[1].revents != 0) doorbell_.clear();
}

void DrivenBackend::wake_driver() {
  const bool has_news = !client_->outbox().empty() && !delivering_;
  if (led_) {
    const bool polls_another = client_->descriptors().changes() != polls_change_;
    if (has_news || polls_another || client_->due() < polls_until_) doorbell_.ring();
  } else if (!loops_.empty()) {
    if (has_news || client_->due() < loops_.front()->timer_due()) loops_.front()->wake();
  } else if (has_news || client_->awaits_events()) {
    followers_.wake_one();
  }
}

std::unique_ptr<LoopDriver> DrivenBackend::make_loop_driver() {
  return std::make_unique<EventLoop>(*this);
}

// An allocation or a descriptor that is not to be had ends a child that has just begun.
void DrivenBackend::forget_parent() noexcept {
  const ScopedLock lock(mutex_);
  client_->abandon();
  client_->descriptors().renew();
  client_->outbox().forget();
  doorbell_.renew();
  led_ = delivering_ = refused_ = false;
  batch_.resize(batch_size);  // a thread of the parent may have had it
  brief_followers_ = 0;
  followers_.clear();
  loops_.clear();
}

DrivenBackend::Doorbell::Doorbell() { renew(); }

void DrivenBackend::Doorbell::renew() {
  event_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_.valid()) throw std::bad_alloc();
}

Parker::Wake DrivenBackend::Doorbell::ring() noexcept {
  ::eventfd_write(event_.get(), 1);
  return {};
}

void DrivenBackend::Doorbell::clear() noexcept {
  eventfd_t count = 0;
  ::eventfd_read(event_.get(), &count);
}

std::unique_ptr<Backend> drive_client(std::unique_ptr<StoreClient> client, const Options& options) {
  auto backend = std::make_unique<DrivenBackend>(std::move(client), options);
  backend->start(options.startup == Startup::allow_down);
  return backend;
}

}  // namespace latchkey::inline v1::detail::stores
