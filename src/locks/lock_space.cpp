// Bringing calls, answers and notifications to the coordinators, and carrying out their actions.
#include "locks/lock_space.hpp"

#include <mutex>
#include <random>
#include <stdexcept>
#include <utility>

#include "locks/administration.hpp"
#include "locks/announcement.hpp"
#include "locks/live_spaces.hpp"

namespace latchkey::detail {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Options checked(Options options) {
  using namespace std::chrono_literals;
  const auto demand = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  demand(options.watchdog >= 30ms && options.watchdog <= 24h,
         "Options::watchdog is between 30 ms and 1 day");
  demand(options.command_timeout >= 1ms && options.command_timeout <= 1h,
         "Options::command_timeout is between 1 ms and 1 hour");
  demand(options.unavailable_after >= 1ms && options.unavailable_after <= 24h,
         "Options::unavailable_after is between 1 ms and 1 day");
  demand(options.min_replicas >= 0, "Options::min_replicas is not negative");
  demand(options.prefix.size() < 1024, "Options::prefix is shorter than 1 KiB");
  return options;
}

CoordinatorSettings settings_for(const Options& options, const Capabilities& capabilities) {
  using Events = CoordinatorSettings::Events;
  CoordinatorSettings settings;
  settings.watchdog = options.watchdog;
  settings.command_timeout = options.command_timeout;
  settings.unavailable_after = options.unavailable_after;
  settings.pushes = capabilities.pushes;
  settings.in_order = capabilities.in_order;
  if (options.listener != nullptr) {
    settings.events = options.listener->wants_everything() ? Events::everything : Events::losses;
  }
  settings.space = HoldId::new_space();
  if (options.announce) settings.announcement = announcement_of_this_process();
  return settings;
}

}  // namespace

LockSpace::LockSpace(std::unique_ptr<Backend> backend, const Options& options)
    : number_(next_number()),
      options_(checked(options)),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      backend_(std::move(backend)),
      capabilities_(backend_->capabilities()),
      settings_(settings_for(options_, capabilities_)),
      ticks_count_(settings_.events == CoordinatorSettings::Events::everything ||
                   options_.command_timeout < std::chrono::milliseconds(100)),
      notifier_(options_.listener),
      timer_sleeps_until_(Clock::never().time_since_epoch().count()) {
  warn(backend_->warning());
  static_cast<void>(Parker::mine());  // which takes part in forks from now on
  settings_.id_step = shard_count;
  std::mt19937_64 seeds(std::random_device{}());
  for (std::size_t index = 0; index < shard_count; ++index) {
    shards_[index].context = CoordinatorContext(settings_, index + 1, seeds());
    shards_[index].context.space = this;
  }
  LiveSpaces::add(*this);
  register_fork_participant(ForkLevel::locks, *this);
}

LockSpace::~LockSpace() {
  unregister_fork_participant(*this);
  LiveSpaces::remove(*this);
  timer_ending_.store(true);
  timer_parker_->unpark();
  if (timer_.joinable()) timer_.join();
  backend_.reset();  // no request is under way from here on
  for (Shard& shard : shards_) {
    shard.table.for_each([](Coordinator& each) { each.drop(); });
  }
}

void LockSpace::warn(const std::string& of_backend) {
  if (of_backend.empty()) return;
  Event event;
  event.kind = Event::Kind::warning;
  event.text = describe() + ": " + of_backend;
  tell(event);
}

// `home` stays where it is: it is not idle while the call is pending, and not looked at afterwards.
void LockSpace::wait_for(Shard& shard, Coordinator& home, Call& call, Clock::time_point wake_at) {
  while (!call.done.load(std::memory_order_acquire)) {
    backend_->drive(*call.parker, wake_at);
    if (call.done.load(std::memory_order_acquire)) return;
    ShardLock lock(shard);
    if (call.done.load(std::memory_order_relaxed)) return;
    Actions actions;
    Turn turn(clock_, actions);
    turn.caller = &call;
    if (turn.now() >= call.wake_at) {
      home.tick(turn);
      perform(lock, home, turn);
      if (call.answer != Answer::pending) return;
    }
    wake_at = call.wake_at = home.alarm_of(call);
  }
}

// What the backend answers at once goes straight back to the coordinator, whose next requests join
// the ones under way.
void LockSpace::submit(Coordinator& home, Turn& turn) {
  auto& requests = turn.out.submits;
  std::size_t unanswered = 0;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    Request& request = *requests[index];
    Outcome outcome;
    if (backend_->answer(request, outcome, *this)) {
      home.completed(request, outcome, turn);
    } else {
      requests[unanswered++] = &request;
    }
  }
  requests.shorten(unanswered);
  if (unanswered > 0) backend_->submit({requests.data(), unanswered}, *this);
}

// With the shard's mutex held. The coordinator may be gone afterwards.
void LockSpace::perform(ShardLock& lock, Coordinator& home, Turn& turn) {
  Shard& shard = lock.shard();
  Actions& actions = turn.out;
  if (!actions.submits.empty()) submit(home, turn);
  for (Call* const call : actions.wakes) wake(*call, lock);
  if (actions.tidings != nullptr) {
    for (Event& event : actions.tidings->events) notifier_.post(std::move(event));
    for (std::stop_source& stop : actions.tidings->stops) notifier_.post(std::move(stop));
  }
  if (home.idle()) {
    shard.timers.remove(home);
    shard.table.erase(home);
  } else {
    watch(shard, home);
  }
  if (closing_.load(std::memory_order_relaxed)) wake_closers();
}

// The call is its caller's again as soon as `done` is seen: only the parker is used after that, and
// parkers are never destroyed.
void LockSpace::wake(Call& call, ShardLock& lock) {
  Parker* const parker = call.parker;
  call.waking = false;
  if (call.answer != Answer::pending) call.done.store(true, std::memory_order_release);
  if (parker != nullptr && parker != &Parker::mine()) lock.wake_afterwards(*parker);
}

void LockSpace::completed(Request& request, Outcome&& outcome) noexcept {
  if (request.context == nullptr) {
    return static_cast<Administration&>(request).answer(std::move(outcome));
  }
  Coordinator& home = *static_cast<Coordinator*>(request.context);
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  Actions actions;
  Turn turn(clock_, actions);
  home.completed(request, outcome, turn);
  perform(lock, home, turn);
}

void LockSpace::notified(const Notification& notification) noexcept {
  if (notification.kind == Notification::Kind::link_down ||
      notification.kind == Notification::Kind::link_up) {
    return for_each_coordinator(
        [&](Coordinator& each, Turn& turn) { each.notified(notification, turn); });
  }
  const std::size_t hash = hash_key(notification.key);
  Shard& shard = shard_of(hash);
  ShardLock lock(shard);
  Coordinator* const home = shard.table.find(notification.key, hash);
  if (home == nullptr) return;
  Actions actions;
  Turn turn(clock_, actions);
  home->notified(notification, turn);
  perform(lock, *home, turn);
}

}  // namespace latchkey::detail
