// A space from its construction to its end.
// tidy: long-file because a space is read from its construction to its end
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/lock_space.hpp"
#include "core/sanitizer_pause.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/call_observer.hpp>

#include "locks/coordinator/idle_hold.hpp"
#include "locks/observed_calls.hpp"
#include "locks/space/announcement.hpp"
#include "locks/space/live_spaces.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

constexpr std::size_t most_idle = most_idle_of_shard * ShardDriver::shard_count;

Options checked(Options options) {
  using namespace std::chrono_literals;
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  require(options.watchdog >= 30ms && options.watchdog <= 24h,
          "Options::watchdog is between 30 ms and 1 day");
  require(options.command_timeout >= 1ms && options.command_timeout <= 1h,
          "Options::command_timeout is between 1 ms and 1 hour");
  require(options.unavailable_after >= 1ms && options.unavailable_after <= 24h,
          "Options::unavailable_after is between 1 ms and 1 day");
  require(is_cache(options.cache),
          "Options::cache is between 0 (no lock is kept) and 10 s, or latchkey::adaptive_cache");
  require(options.cache_size >= 1 && options.cache_size <= most_idle,
          "Options::cache_size is between 1 and 4096");
  require(options.prefix.size() < 1024, "Options::prefix is shorter than 1 KiB");
  return options;
}

/// Whether what `backend` offers is not known yet (Startup::allow_down).
bool is_absent(const Backend& backend) {
  const std::vector<Connection> all = backend.connections();
  return !all.empty() && std::ranges::none_of(all, &Connection::up);
}

/// The capabilities of `backend`. Throws std::invalid_argument unless it offers what `options`
/// need.
Capabilities checked(const Backend& backend, const Options& options) {
  const Capabilities offered = backend.capabilities();
  if (const std::string why = offered.why_not(options.watchdog); !why.empty()) {
    throw std::invalid_argument(backend.describe() + ' ' + why + " (Options::watchdog)");
  }
  if (options.cache.count() != 0 && !is_absent(backend)) {
    if (const std::string why = offered.why_no_cache(); !why.empty()) {
      throw std::invalid_argument(backend.describe() + ' ' + why + " (Options::cache)");
    }
  }
  return offered;
}

KeepsIdle first_knowledge(const Backend& backend, const Capabilities& offered) {
  if (offered.recalls) return KeepsIdle::yes;
  return is_absent(backend) ? KeepsIdle::not_yet : KeepsIdle::never;
}

bool limits_leases(const Capabilities& offered) noexcept {
  const Capabilities anything;
  return offered.min_lease > anything.min_lease || offered.max_lease < anything.max_lease ||
         offered.lease_granularity > anything.lease_granularity;
}

CoordinatorSettings settings_for(const Options& options, const Capabilities& capabilities,
                                 CoordinatorSettings::Events events) {
  CoordinatorSettings settings;
  settings.watchdog = options.watchdog;
  settings.min_lease = capabilities.min_lease;
  settings.lease_granularity = capabilities.lease_granularity;
  settings.command_timeout = options.command_timeout;
  settings.unavailable_after = options.unavailable_after;
  settings.cache = options.cache;  // KeepsIdle says whether it counts
  settings.most_idle = static_cast<std::uint8_t>(
      (options.cache_size + ShardDriver::shard_count - 1) / ShardDriver::shard_count);
  settings.pushes = capabilities.pushes;
  settings.grants = capabilities.pushes && capabilities.grants;
  settings.in_order = capabilities.in_order;
  settings.expires = capabilities.expires;
  settings.watches = capabilities.watches;
  settings.events = events;
  settings.prefix_size = options.prefix.size();
  settings.space = HoldId::new_space();
  settings.common_checks = capabilities.batches_checks;
  // Random, so that the processes of a machine do not check their holds at the same time.
  settings.check_phase = Clock::duration(static_cast<Clock::rep>(settings.space[1] >> 16));
  if (options.announce) settings.announcement = announcement_of_this_process();
  settings.id_step = ShardDriver::shard_count;
  return settings;
}

bool is_about_a_link(Notification::Kind kind) noexcept {
  return kind == Notification::Kind::link_down || kind == Notification::Kind::link_up;
}

}  // namespace

LockSpace::LockSpace(std::unique_ptr<Backend> backend, const Options& options)
    : number_(next_number()),
      options_(checked(options)),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      backend_(std::move(backend)),
      capabilities_(checked(*backend_, options_)),
      limits_leases_(limits_leases(capabilities_)),
      reporter_(options_, *backend_, due_times_),
      settings_(settings_for(options_, capabilities_, reporter_.wanted())),
      exact_times_(settings_.events == CoordinatorSettings::Events::everything ||
                   options_.command_timeout < std::chrono::milliseconds(100)),
      reports_grants_(settings_.events == CoordinatorSettings::Events::everything),
      driver_({clock_, *backend_, *this, reporter_, closers_, due_times_}),
      timer_({driver_, due_times_, latch_waits_, reporter_, clock_, *backend_, *this}),
      direct_requests_(driver_, clock_),
      latch_waits_(*this),
      keeps_idle_(first_knowledge(*backend_, capabilities_)) {
  if (options_.call_observer != nullptr && options_.call_observer->wants_calls()) {
    calls_may_be_observed.store(true, std::memory_order_relaxed);
  }
  reporter_.warn();
  reporter_.connections_found();
  static_cast<void>(Parker::mine());  // parkers take part in forks from now on
  if (options_.announce) settings_.announced_time = &clock_;
  driver_.start(*this, settings_);
  driver_.keep_idle(keeps_idle_);
  LiveSpaces::add(*this);  // before the space, so that a fork locks its mutex first
  try {
    register_fork_participant(ForkLevel::locks, *this);
  } catch (...) {
    LiveSpaces::remove(*this);  // the destructor does not run
    throw;
  }
}

LockSpace::~LockSpace() {
  unregister_fork_participant(*this);
  LiveSpaces::remove(*this);
  timer_.stop();
  backend_.reset();  // no request is under way from here on
  direct_requests_.drop_all();
  latch_waits_.end_all();
  driver_.drop_all();
}

void LockSpace::require_offered(LockType type) const {
  if (capabilities_.offers(type)) return;
  if (type == LockType::PERMIT) {
    throw std::invalid_argument(describe() +
                                " offers no semaphores; memory:, host:, redis:, postgresql: "
                                "and mysql: do");
  }
  throw std::invalid_argument(describe() + " offers no " + std::string(to_string(type)) + " locks");
}

LockType LockSpace::type_with_token(LockType type) const {
  const std::string why = capabilities_.why_no_token(type);
  if (!why.empty()) throw std::invalid_argument(describe() + ' ' + why);
  return type == LockType::REENTRANT ? LockType::FENCED : type;
}

void LockSpace::require_offered(std::chrono::milliseconds lease) const {
  if (const std::string why = capabilities_.why_not(lease); !why.empty()) {
    throw std::invalid_argument(describe() + ' ' + why);
  }
}

void LockSpace::require_delay(const Lease& lease) const {
  const std::chrono::milliseconds length = lease.length(options_.watchdog);
  const std::string why = capabilities_.why_no_delay(length, lease.lock_delay());
  if (!why.empty()) throw std::invalid_argument(describe() + ' ' + why);
}

void LockSpace::require_cache(LockType type) const {
  if (!can_be_kept(type)) {
    throw std::invalid_argument("a " + std::string(to_string(type)) +
                                " lock is not kept after its release (Lease::cache): say "
                                "another type, or no cache");
  }
  const std::string why = why_no_cache();
  if (!why.empty()) throw std::invalid_argument(describe() + ' ' + why + " (Lease::cache)");
}

bool LockSpace::takes_in_one_step(std::span<const std::string_view> keys) const noexcept {
  switch (capabilities_.one_step) {
    case Capabilities::OneStep::all: return true;
    case Capabilities::OneStep::none: return false;
    case Capabilities::OneStep::partition: break;
  }
  return std::ranges::all_of(
      keys, [&](std::string_view key) { return backend_->same_partition(keys.front(), key); });
}

void LockSpace::report_blocked_loop(const Call& call) noexcept {
  if (call.kind != Call::Kind::acquire) return;
  const std::shared_ptr<SpaceRef> locks = reference();
  if (locks == nullptr || !locks->runs_loop_on_this_thread()) return;
  if (!watches_loops_.exchange(false)) return;
  try {
    Event event;
    event.kind = Event::Kind::warning;
    event.type = call.type;
    event.text =
        "a coroutine waited for a lock by a blocking function, so every coroutine of its thread "
        "waited; use co_await latchkey::async_acquire";
    reporter_.publish(event);
  } catch (const std::bad_alloc&) {
    reporter_.count_unreported(1);
  }
}

void LockSpace::completed(Request& request, Outcome&& outcome) noexcept {
  if (request.context == nullptr) {
    return direct_requests_.completed(static_cast<DirectRequest&>(request), std::move(outcome));
  }
  driver_.completed(request, outcome);
}

void LockSpace::notified(const Notification& notification) noexcept {
  if (notification.kind == Notification::Kind::warning) return reporter_.warning_changed();
  if (notification.kind == Notification::Kind::abandoned) return reporter_.abandoned(notification);
  if (notification.kind == Notification::Kind::counted)
    return latch_waits_.notify(notification.key);
  if (is_about_a_link(notification.kind)) {
    reporter_.link_changed(notification);
    latch_waits_.notify_all();
    if (notification.kind == Notification::Kind::link_up) learn_of_recalls();
  }
  driver_.notified(notification);
}

void LockSpace::learn_of_recalls() noexcept {
  if (keeps_idle_.load(std::memory_order_relaxed) != KeepsIdle::not_yet) return;
  const Capabilities offered = backend_->capabilities();
  const KeepsIdle known = offered.recalls ? KeepsIdle::yes : KeepsIdle::never;
  KeepsIdle before = KeepsIdle::not_yet;
  if (!keeps_idle_.compare_exchange_strong(before, known)) return;
  driver_.keep_idle(known);
  if (known == KeepsIdle::yes || options_.cache.count() == 0) return;
  try {
    reporter_.warn(' ' + offered.why_no_cache() + " (Options::cache)");
  } catch (const std::bad_alloc&) {
    reporter_.count_unreported(1);
  }
}

// --- the end ---

void LockSpace::close(std::chrono::milliseconds drain, const std::stop_token& hurry) {
  const SanitizerPause pause;
  const Closers::Entry entry(closers_);
  const std::stop_callback wake(hurry, [this] { closers_.wake(); });
  driver_.refuse_calls();
  latch_waits_.close();
  driver_.for_each_coordinator(
      [](Coordinator& each, EventContext& context) { each.end_waits(context); });
  wait_while(&Coordinator::held, later(clock_.now(), drain), entry.parker(), hurry);
  driver_.for_each_coordinator(
      [](Coordinator& each, EventContext& context) { each.end_holds(context); });
  wait_while(&Coordinator::unfinished, later(clock_.now(), options_.command_timeout),
             entry.parker());
  reporter_.finish(options_.command_timeout);
}

bool LockSpace::give_back_idle_holds() noexcept {
  bool any = false;
  driver_.for_each_coordinator(
      [&](Coordinator& each, EventContext& context) { any = IdleHold::end(each, context) || any; });
  return any;
}

// Without memory for the wait they end by their leases, if the releases are lost with the backend.
void LockSpace::end_idle_holds() noexcept {
  driver_.keep_idle(KeepsIdle::no_longer);
  if (!give_back_idle_holds()) return;
  try {
    const Closers::Entry entry(closers_);
    wait_while(&Coordinator::releases, later(clock_.now(), options_.command_timeout),
               entry.parker());
  } catch (const std::bad_alloc&) {
    return;
  }
}

void LockSpace::wait_while(bool (Coordinator::*condition)() const, Clock::time_point until,
                           Parker& parker, const std::stop_token& hurry) {
  while (driver_.any(condition) && clock_.now() < until && !hurry.stop_requested()) {
    driver_.drive(parker, until);
  }
}

void LockSpace::detach() {
  if (keeps_idle_.load(std::memory_order_relaxed) == KeepsIdle::yes) end_idle_holds();
  if (lifetime_.detach(driver_)) delete this;
}

void LockSpace::drop_reference() noexcept {
  if (lifetime_.drop()) delete this;
}

void LockSpace::drop_reference_later() noexcept {
  if (lifetime_.drop()) timer_.delete_when_ended(*this);
}

void LockSpace::owner_ended(Owner owner) {
  driver_.for_each_coordinator(
      [&](Coordinator& each, EventContext& context) { each.owner_ended(owner, context); });
}

// --- a fork: the child owns nothing of what its parent holds ---

void LockSpace::prepare() noexcept {
  timer_.lock_for_fork();
  driver_.lock_for_fork();
  reporter_.lock_for_fork();
  closers_.lock_for_fork();
  latch_waits_.lock_for_fork();
  direct_requests_.lock_for_fork();
}

void LockSpace::parent() noexcept {
  direct_requests_.unlock_after_fork();
  latch_waits_.unlock_after_fork();
  closers_.unlock_after_fork();
  reporter_.unlock_after_fork();
  driver_.unlock_after_fork();
  timer_.unlock_after_fork();
}

void LockSpace::child() noexcept {
  direct_requests_.unlock_after_fork();
  latch_waits_.forget_parent();
  closers_.forget_parent();
  reporter_.forget_parent();
  due_times_.forget_parent();
  timer_.forget_parent();
  backend_->forget_parent();
  direct_requests_.drop_all();  // the backend has dropped them
  settings_.space = HoldId::new_space();
  if (options_.announce) settings_.announcement = announcement_of_this_process();
  driver_.forget_parent();
}

}  // namespace latchkey::inline v1::detail
