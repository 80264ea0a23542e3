// One request for several keys.
#include "locks/one_step.hpp"

#include <algorithm>
#include <bitset>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "locks/administration.hpp"

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
class OneStep::Shards {
 public:
  Shards(LockSpace& space, std::span<const Asked> all) {
    std::bitset<LockSpace::shard_count> wanted;
    for (const Asked& one : all) {
      wanted.set(static_cast<std::size_t>(&space.shard_of(one.hash) - space.shards_.data()));
    }
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      if (wanted[index]) locks_.emplace_back(space.shards_[index]);
    }
  }

  [[nodiscard]] ShardLock& of(const Shard& shard) noexcept {
    return *std::ranges::find(locks_, &shard, [](const ShardLock& lock) { return &lock.shard(); });
  }

 private:
  std::deque<ShardLock> locks_;
};

bool OneStep::offered(const LockSpace& space, std::span<const Asked> all) noexcept {
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
bool OneStep::reserve(LockSpace& space, Shards& shards, std::span<Asked> all,
                      const Attempt& attempt, bool by_lock) {
  bool free = true;
  for (Asked& one : all) {
    MemberCall& member = *one.call;
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
void OneStep::tell(LockSpace& space, Shards& shards, Asked& one, Outcome outcome) {
  MemberCall& member = *one.call;
  Coordinator& home = *one.claim->home;
  Actions actions;
  Turn turn(space.clock_, actions);
  turn.caller = &member.call_;
  home.completed(one.claim->ask, outcome, turn);
  space.perform(shards.of(space.shard_of(one.hash)), home, turn);
  member.pending_ = false;
}

void OneStep::tell_all(LockSpace& space, Shards& shards, std::span<Asked> all,
                       const Outcome& outcome, std::span<const std::size_t> asked) {
  for (std::size_t index = 0; index < asked.size(); ++index) {
    Asked& one = all[asked[index]];
    Outcome its;
    its.kind = outcome.kind;
    if (one.type == LockType::FENCED) its.token = outcome.token;
    const bool busy = outcome.kind == Outcome::Kind::busy;
    if (!busy || outcome.busy_member == index) {
      its.text = outcome.text;
      its.retry_after = outcome.retry_after;
    }
    tell(space, shards, one, std::move(its));
  }
}

void OneStep::ask(LockSpace& space, std::span<Asked> all, const Attempt& attempt, bool by_lock) {
  for (Asked& one : all) one.hash = hash_key(one.key);
  std::vector<Member> members;
  std::vector<std::size_t> asked;
  members.reserve(all.size());
  asked.reserve(all.size());
  Administration together;
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
      if (all[index].claim == nullptr) continue;
      members.push_back({all[index].key, all[index].type, all[index].claim->id});
      asked.push_back(index);
    }
    Outcome outcome;
    outcome.kind = Outcome::Kind::busy;
    outcome.busy_member = static_cast<std::uint32_t>(members.size());  // none of these
    if (!free) tell_all(space, shards, all, outcome, asked);
    if (failure) std::rethrow_exception(failure);
    if (!free || members.empty()) return;
    together.verb = Verb::acquire_all;
    together.members = members;
    together.key = members.front().key;
    together.lease = attempt.lease.length(space.settings_.watchdog);
    // Where it counts leases from: no member's own deadline counts from later than this.
    for (const std::size_t index : asked) {
      together.sent = std::max(together.sent, all[index].claim->sent);
    }
    together.parker = &Parker::mine();
    outcome = Outcome{};
    if (space.backend_->answer(together, outcome, space)) {
      return tell_all(space, shards, all, outcome, asked);
    }
    Request* const one[] = {&together};
    space.backend_->submit(one, space);
  }
  while (!together.done.load(std::memory_order_acquire)) {
    space.backend_->drive(*together.parker, Clock::never());
  }
  Shards shards(space, all);
  tell_all(space, shards, all, together.outcome, asked);
}

}  // namespace latchkey::detail
