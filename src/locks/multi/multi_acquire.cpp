// One blocking acquire of several locks.
#include "locks/multi/multi_acquire.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <latchkey/error.hpp>

#include "core/thread_order.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::detail {

MultiAcquire::MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock)
    : set_(set), attempt_(attempt), by_lock_(by_lock), parts_(set.members().size()) {
  const Owner me = Owner::this_thread();
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const LockMember& lock = set.members()[index];
    parts_[index].lock = &lock;
    parts_[index].space = &lock.space->space();
    parts_[index].owner = lock.owner.value_or(me);
  }
  asked_ = now();
  until_ = attempt.wait.is_forever() ? Clock::never() : later(asked_, attempt.wait.length());
  Call call;
  call.set_grace(attempt.wait.length(), parts_.front().space->options().command_timeout);
  grace_ = call.grace;
}

Answer MultiAcquire::run() {
  const LockMember& first = *parts_.front().lock;
  parts_.front().space->refuse_if_cancelled(attempt_.cancel, first.key, first.type);
  const bool one_space = std::ranges::all_of(
      parts_, [&](const Part& part) { return part.space == parts_.front().space; });
  MultiAcquirePlan composite(
      {.members = parts_.size(),
       .one_step = one_space && BatchAcquire::offered(*parts_.front().space, missing()),
       .forever = attempt_.wait.is_forever(),
       .asked = asked_,
       .until = until_});
  while (composite.step() != MultiAcquirePlan::Step::done) carry_out(composite);
  culprit_ = composite.member();
  answer_ = composite.answer();
  if (answer_ == Answer::granted) {
    for (Part& part : parts_) {
      unpin(part);
      order_after_grant(part.lock->key, part.lock->type);
    }
  } else if (answer_ != Answer::busy) {
    fail();
  }
  return answer_;
}

void MultiAcquire::carry_out(MultiAcquirePlan& composite) {
  switch (composite.step()) {
    case MultiAcquirePlan::Step::attempt: return attempt(composite);
    case MultiAcquirePlan::Step::await: return await(composite);
    case MultiAcquirePlan::Step::fill: return fill(composite);
    case MultiAcquirePlan::Step::give_back: give_back(); return composite.given_back();
    case MultiAcquirePlan::Step::done: return;
  }
}

std::vector<BatchAcquire::Asked> MultiAcquire::missing() {
  std::vector<BatchAcquire::Asked> all;
  all.reserve(parts_.size());
  for (Part& part : parts_) {
    if (part.hold != nullptr) continue;
    part.call.emplace(*part.space);
    all.push_back({&*part.call, part.lock->key, part.lock->type, part.owner});
  }
  return all;
}

Attempt MultiAcquire::attempt_of(const Part& part) const {
  Attempt its = attempt_;
  its.type = part.lock->type;
  return its;
}

// Everything that is not held, or nothing.
void MultiAcquire::attempt(MultiAcquirePlan& composite) {
  std::vector<BatchAcquire::Asked> all = missing();
  BatchAcquire::ask(*parts_.front().space, all, attempt_, by_lock_,
                    later(composite.until(), grace_));
  // Of several answers that of the member that was in the way: the others were not granted because
  // of it, and know of no holder.
  Answer answer = Answer::granted;
  std::size_t member = 0;
  bool known = false;
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    Part& part = parts_[index];
    if (part.hold != nullptr || !part.call) continue;
    const Call& call = part.call->call();
    if (call.answer == Answer::granted) {
      part.hold = call.hold;
      continue;
    }
    if (call.answer == Answer::pending) continue;  // not asked, since another was in the way
    const bool knows = call.answer != Answer::busy || !call.text.empty();
    if (answer == Answer::granted || (knows && !known)) {
      answer = call.answer;
      member = index;
      known = knows;
    }
  }
  composite.attempted(answer, member, now());
}

void MultiAcquire::await(MultiAcquirePlan& composite) {
  Part& part = parts_[composite.member()];
  const Clock::time_point until = at_its_own(*part.space, composite.until());
  part.call.emplace(*part.space);
  part.call->acquire(part.lock->key, part.owner, attempt_of(part), by_lock_, {until, grace_});
  if (part.call->answer() == Answer::granted) keep_alive(part);
  composite.awaited(part.call->answer(), any_lost(), now());
}

Clock::time_point MultiAcquire::at_its_own(const LockSpace& space,
                                           Clock::time_point at) const noexcept {
  return at == Clock::never() ? at : space.clock().now() + (at - now());
}

// Held from now on, and its lease renewed until all are.
void MultiAcquire::keep_alive(Part& part) noexcept {
  part.hold = part.call->call().hold;
  part.kept = true;
  const std::lock_guard guard(part.call->mutex_of(*part.hold));
  Coordinator::pin(*part.hold);
}

void MultiAcquire::unpin(Part& part) noexcept {
  if (!std::exchange(part.kept, false)) return;
  const std::lock_guard guard(part.call->mutex_of(*part.hold));
  Coordinator::unpin(*part.hold);
}

bool MultiAcquire::any_lost() const noexcept {
  return std::ranges::any_of(parts_, [](const Part& part) {
    return part.hold != nullptr && part.hold->is_lost(part.space->clock().now());
  });
}

// All at the same time. Of a lease that was just given nothing is missing worth a message.
void MultiAcquire::fill(MultiAcquirePlan& composite) {
  for (Part& part : parts_) {
    part.call.emplace(*part.space);
    if (attempt_.lease.is_watchdog()) continue;
    const auto lease = attempt_.lease.length(std::chrono::milliseconds(0));
    const Clock::duration left = part.hold->deadline_point() - part.space->clock().now();
    if (left * 10 < Clock::duration(lease) * 9) {
      part.call->begin_extend(*part.hold, part.lock->type, lease, at_its_own(*part.space, end()));
    }
  }
  Answer answer = Answer::granted;
  std::size_t member = 0;
  for (std::size_t index = parts_.size(); index-- > 0;) {
    Part& part = parts_[index];
    part.call->finish();
    Answer its = part.call->answer();
    if (its == Answer::pending) its = Answer::granted;  // nothing was missing
    if (part.hold->is_lost(part.space->clock().now())) its = Answer::lost;
    if (its == Answer::granted) continue;
    answer = its;
    member = index;
  }
  composite.filled(answer, member, now());
}

void MultiAcquire::give_back() noexcept {
  for (Part& part : parts_) {
    if (part.hold == nullptr) continue;
    unpin(part);
    const bool watched = attempt_.lease.is_watchdog();
    RemoteHold& held = *std::exchange(part.hold, nullptr);
    // The call that it was acquired by may have to say why the next member was not granted.
    part.end.emplace(*part.space);
    if (by_lock_) {
      part.end->begin_unlock(part.lock->key, part.lock->type, part.owner);
    } else {
      part.end->begin_release(held, part.lock->type, watched, std::chrono::milliseconds(0));
    }
  }
  for (Part& part : parts_) {
    if (!part.end) continue;
    part.end->finish(at_its_own(*part.space, end()));
    const Answer answer = part.end->answer();
    const bool left = answer == Answer::pending;  // the timer looks after it
    if (!left && answer != Answer::granted && answer != Answer::lost) {
      try {
        part.end->fail(answer, part.lock->key, asked_);
      } catch (const LockError& error) {
        part.space->report(Event::Kind::unlock_error, part.lock->key, part.lock->type,
                           error.what());
      } catch (const std::bad_alloc&) {
        part.space->report(Event::Kind::unlock_error, part.lock->key, part.lock->type,
                           "out of memory");
      }
    }
    part.end.reset();
  }
}

void MultiAcquire::fail() {
  Part& part = parts_[culprit_];
  part.call->fail(answer_, part.lock->key, asked_);
}

Hold MultiAcquire::take() {
  const bool watched = attempt_.lease.is_watchdog();
  std::vector<Hold> holds;
  holds.reserve(parts_.size());
  for (Part& part : parts_) {
    holds.push_back(Hold(std::exchange(part.hold, nullptr), {part.lock->type, watched}));
  }
  return MultiHold::wrap(set_, std::move(holds));
}

}  // namespace latchkey::detail
