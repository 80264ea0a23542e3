// Locks in ShedLock's collection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/shedlock_backend.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/glob.hpp"
#include "stores/mongodb/failure.hpp"

namespace latchkey::inline v1::detail::mongodb {

using Kind = Outcome::Kind;

namespace {

Date in(Date now, std::chrono::milliseconds time) {
  return {std::min(now.milliseconds + std::min<std::int64_t>(time.count(), Date::latest),
                   Date::latest)};
}

Bson later_than(Date now) { return doc("$gt", now); }

/// Matches the hold of `request.id`, as long as it lasts.
Bson own_hold(const Request& request, Date now) {
  return doc("_id", Key{request.key}, "lockedBy", request.id.text(), "lockUntil", later_than(now));
}

Answer answer_if(bool held) { return {.kind = held ? Kind::granted : Kind::gone}; }

Date until_in(const Bson& document) {
  if (const auto until = date_at(document.get(), "lockUntil")) return *until;
  throw Rejected("the key's document has no date lockUntil; delete it once nobody holds the lock");
}

Answer busy(const Bson& document, Date now) {
  Answer answer{.kind = Kind::busy};
  answer.holder = text_at(document.get(), "lockedBy").value_or("");
  const Date until = until_in(document);
  answer.retry_after =
      std::chrono::milliseconds(std::max<std::int64_t>(until.milliseconds - now.milliseconds, 1));
  return answer;
}

// The server's clock, read before the write. A write that is delayed grants a shorter lease, never
// a longer one.
Answer acquire_by(Commands& commands, const Request& request) {
  const Date now = commands.now();
  const Bson fields =
      doc("lockUntil", in(now, request.lease), "lockedAt", now, "lockedBy", request.id.text());
  const Bson update = doc("$set", fields);
  const Modified taken =
      commands.modify_or_insert(doc("_id", Key{request.key}, "lockUntil", doc("$lt", now)), update);
  if (taken.after) return {.kind = Kind::granted};
  // Its own holder repeats the acquire.
  if (commands.modify(own_hold(request, now), update).after) return {.kind = Kind::granted};
  const auto found = commands.find(doc("_id", Key{request.key}));
  if (!found) return {.kind = Kind::busy, .retry_after = std::chrono::milliseconds(1)};
  return busy(*found, now);
}

}  // namespace

Capabilities ShedLockBackend::capabilities() const noexcept {
  Capabilities offered;
  offered.administration = true;
  return offered;
}

Outcome ShedLockBackend::acquire(const Request& request) {
  return attempt([&](Commands& commands) { return acquire_by(commands, request); });
}

Outcome ShedLockBackend::renew(const Request& request) {
  return attempt([&](Commands& commands) {
    const Date now = commands.now();
    const Bson update = doc("$max", doc("lockUntil", in(now, request.lease)));
    return answer_if(commands.modify(own_hold(request, now), update).after.has_value());
  });
}

Outcome ShedLockBackend::verify(const Request& request) {
  return attempt([&](Commands& commands) {
    const Date now = commands.now();
    const auto found = commands.find(own_hold(request, now));
    return answer_if(found && until_in(*found) > now);
  });
}

// ShedLock itself filters by _id alone, and so ends the hold of whoever came after it.
Outcome ShedLockBackend::release(const Request& request) {
  return attempt([&](Commands& commands) {
    const Date now = commands.now();
    const Bson update = doc("$set", doc("lockUntil", Date{now.milliseconds - 1}));
    return answer_if(commands.modify(own_hold(request, now), update).after.has_value());
  });
}

Outcome ShedLockBackend::inspect(const Request& request) {
  return attempt([&](Commands& commands) {
    LockInfo& info = *request.info;
    info.key = request.key;
    const auto found = commands.find(doc("_id", Key{request.key}));
    const Date now = commands.now();
    const auto until = found ? date_at(found->get(), "lockUntil") : Date{};
    info.locked = !until || *until > now;
    if (until && info.locked) {
      HolderInfo holder;
      holder.id = text_at(found->get(), "lockedBy").value_or("");
      holder.left = std::chrono::milliseconds(until->milliseconds - now.milliseconds);
      info.holders.push_back(std::move(holder));
    }
    return Answer{.kind = Kind::granted};
  });
}

Outcome ShedLockBackend::list(const Request& request) {
  return attempt([&](Commands& commands) {
    const Date now = commands.now();
    for (const Bson& each : commands.find_all(doc("lockUntil", later_than(now)))) {
      const auto key = key_of(each.get());
      if (key && glob_matches(request.key, *key)) request.names->push_back(*key);
    }
    return Answer{.kind = Kind::granted};
  });
}

Outcome ShedLockBackend::force_release(const Request& request) {
  return attempt([&](Commands& commands) {
    const Date now = commands.now();
    const Bson update = doc("$set", doc("lockUntil", Date{now.milliseconds - 1}));
    const Bson held = doc("_id", Key{request.key}, "lockUntil", later_than(now));
    return answer_if(commands.modify(held, update).after.has_value());
  });
}

}  // namespace latchkey::inline v1::detail::mongodb
