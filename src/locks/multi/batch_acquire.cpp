// One request for several keys.
#include "locks/multi/batch_acquire.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "locks/space/administration.hpp"

namespace latchkey::detail {
namespace {

/// What Redis hashes of a key that has braces; empty where that is all of it.
std::string_view hash_tag(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return {};
  const std::size_t close = key.find('}', open);
  if (close == std::string_view::npos) return {};
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

/// The mutexes of all keys, taken in the order in which a fork takes them.
class BatchAcquire::Shards {
 public:
  Shards(LockSpace& space, std::span<const Asked> all) noexcept {
    std::bitset<LockSpace::shard_count> wanted;
    for (const Asked& one : all) {
      wanted.set(static_cast<std::size_t>(&space.shard_of(one.hash) - space.shards_.data()));
    }
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      if (wanted[index]) locks_[index].emplace(space.shards_[index]);
    }
    first_ = space.shards_.data();
  }

  [[nodiscard]] ShardLock& of(const Shard& shard) noexcept {
    return *locks_[static_cast<std::size_t>(&shard - first_)];
  }

 private:
  const Shard* first_ = nullptr;
  std::array<std::optional<ShardLock>, LockSpace::shard_count> locks_;  // without the heap
};

bool BatchAcquire::offered(const LockSpace& space, std::span<const Asked> all) noexcept {
  const auto fair = [](const Asked& one) { return one.type == LockType::FAIR; };
  if (all.size() < 2 || std::ranges::any_of(all, fair)) return false;
  switch (space.capabilities().one_step) {
    case Capabilities::OneStep::all: return true;
    case Capabilities::OneStep::none: return false;
    case Capabilities::OneStep::slot: break;
  }
  // Equal tags lie in one slot. Different ones may by chance: that is not worth a hash function.
  const std::string_view tag = hash_tag(all.front().key);
  return !tag.empty() &&
         std::ranges::all_of(all, [&](const Asked& one) { return hash_tag(one.key) == tag; });
}

// With the mutexes of all keys held. False: somebody is in the way here, or an answer came already.
bool BatchAcquire::reserve(LockSpace& space, Shards& shards, std::span<Asked> all,
                           const Attempt& attempt, bool by_lock) {
  bool free = true;
  for (Asked& one : all) {
    BlockingCall& member = *one.call;
    member.want(one.owner, attempt, by_lock);
    Call& call = member.call_;
    call.type = one.type;
    call.until = call.asked;
    call.bundled = true;
    Shard& shard = space.shard_of(one.hash);
    member.begin_acquire(shards.of(shard), space.coordinator({one.key, one.hash, shard}));
    if (member.pending_) one.claim = call.hold;
    free = free && (member.pending_ || call.answer == Answer::granted);
    if (!free) break;
  }
  return free;
}

// With the mutex of the key held.
void BatchAcquire::tell(LockSpace& space, Shards& shards, Asked& one, Outcome outcome) {
  BlockingCall& member = *one.call;
  Coordinator& home = *one.claim->home;
  Actions actions;
  EventContext context(space.clock_, actions);
  context.caller = &member.call_;
  home.completed(one.claim->ask, outcome, context);
  space.perform(shards.of(space.shard_of(one.hash)), home, context);
  member.pending_ = false;
}

void BatchAcquire::tell_all(LockSpace& space, Shards& shards, std::span<Asked> all,
                            const Outcome& outcome, std::span<const std::size_t> asked) {
  for (std::size_t index = 0; index < asked.size(); ++index) {
    Asked& one = all[asked[index]];
    Outcome its;
    its.kind = outcome.kind;
    if (one.type == LockType::FENCED) its.token = outcome.token;
    const bool busy = outcome.kind == Outcome::Kind::busy;
    if (!busy || outcome.busy_member == index) {
      try {
        its.text = outcome.text;
      } catch (const std::bad_alloc&) {
        its.text.clear();  // then nobody is named
      }
      its.retry_after = outcome.retry_after;
    }
    tell(space, shards, one, std::move(its));
  }
}

/// The one request. Where nobody waits for its answer any more the claims are told one by one, and
/// what it granted is given back by each.
class BatchAcquire::Together final : public Administration {
 public:
  void add(const Asked& one, std::size_t place) {
    members_.push_back({one.claim->home->key.view(), one.type, one.claim->id});
    claims_.push_back(one.claim);
    places_.push_back(place);
  }
  void reserve(std::size_t count) {
    members_.reserve(count);
    claims_.reserve(count);
    places_.reserve(count);
  }
  [[nodiscard]] std::span<const Member> list() const noexcept { return members_; }
  [[nodiscard]] std::span<const std::size_t> places() const noexcept { return places_; }

  void came_too_late(LockSpace& space) noexcept override {
    for (RemoteHold* const claim : claims_) {
      Coordinator& home = *claim->home;
      ShardLock lock(space.shard_of(home.hash));
      Outcome its;
      its.kind = outcome.kind;
      Actions actions;
      EventContext event(space.clock_, actions);
      home.completed(claim->ask, its, event);
      space.perform(lock, home, event);
    }
  }

 private:
  std::vector<Member> members_;
  std::vector<RemoteHold*> claims_;  ///< under way, so they stay where they are
  std::vector<std::size_t> places_;  ///< among all that was asked
};

// The wait is over. What may come of the request is given back behind it.
void BatchAcquire::give_up(LockSpace& space, std::span<Asked> all,
                           std::span<const std::size_t> asked) {
  Shards shards(space, all);
  for (const std::size_t index : asked) {
    BlockingCall& member = *all[index].call;
    Coordinator& home = *all[index].claim->home;
    Actions actions;
    EventContext context(space.clock_, actions);
    context.caller = &member.call_;
    home.end_wait(member.call_, context);
    space.perform(shards.of(space.shard_of(all[index].hash)), home, context);
    member.pending_ = false;
  }
}

void BatchAcquire::ask(LockSpace& space, std::span<Asked> all, const Attempt& attempt, bool by_lock,
                       Clock::time_point until) {
  if (!all.empty()) space.demand_timer(all.front().key, all.front().type);
  for (Asked& one : all) one.hash = hash_key(one.key);
  LockSpace::demand_parker();
  auto request = std::make_unique<Together>();
  Together& together = *request;
  together.reserve(all.size());
  bool sent = false;
  {
    Shards shards(space, all);
    bool free = false;
    std::exception_ptr failure;
    try {
      free = reserve(space, shards, all, attempt, by_lock);
    } catch (const std::bad_alloc&) {
      failure = std::current_exception();  // the places that were taken must be left again
    }
    for (std::size_t index = 0; index < all.size(); ++index) {
      if (all[index].claim != nullptr) together.add(all[index], index);
    }
    Outcome outcome;
    outcome.kind = Outcome::Kind::busy;
    outcome.busy_member = static_cast<std::uint32_t>(together.places().size());  // none of these
    if (!free) tell_all(space, shards, all, outcome, together.places());
    if (failure) std::rethrow_exception(failure);
    if (!free || together.list().empty()) return;
    together.verb = Verb::acquire_all;
    together.members = together.list();
    together.key = together.members.front().key;
    together.lease = attempt.lease.length(space.settings_.watchdog);
    // Where it counts leases from: no member's own deadline counts from later than this.
    for (const std::size_t index : together.places()) {
      together.sent = std::max(together.sent, all[index].claim->sent);
    }
    together.parker = &Parker::mine();
    outcome = Outcome{};
    if (!space.answer(together, outcome)) {
      Request* const one[] = {&together};
      try {
        space.backend_->submit(one, space);
        sent = true;
      } catch (const std::bad_alloc&) {
        outcome.text = "out of memory";  // short enough to need none
      }
    }
    if (!sent) return tell_all(space, shards, all, outcome, together.places());
  }
  if (!space.wait_until_answered(together, until)) {
    give_up(space, all, together.places());
    return space.leave(std::move(request));
  }
  Shards shards(space, all);
  tell_all(space, shards, all, together.outcome, together.places());
}

}  // namespace latchkey::detail
