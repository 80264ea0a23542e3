// The functions of Locks: validating keys and types, and handing the rest to the space.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/locks.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <latchkey/error.hpp>

#include "core/full_key.hpp"
#include "core/sanitizer_pause.hpp"
#include "locks/fenced_attempt.hpp"
#include "locks/permit_count.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::FullKey;
using detail::with_full_key;

/// The prefix as a glob that matches nothing but itself.
std::string escaped(std::string_view prefix) {
  std::string glob;
  for (const char byte : prefix) {
    if (std::string_view("*?[]\\").find(byte) != std::string_view::npos) glob += '\\';
    glob += byte;
  }
  return glob;
}

/// The pattern with the prefix. Throws KeyError like FullKey.
std::string glob_of(std::string_view prefix, std::string_view pattern) {
  const FullKey fits(prefix, pattern);
  return escaped(prefix) + std::string(pattern);
}

/// Removes `prefix` from `keys`, which a pattern with that prefix has matched.
void remove_prefix(std::vector<std::string>& keys, const std::string& prefix) {
  for (std::string& key : keys) key.erase(0, prefix.size());
}

std::shared_ptr<detail::SpaceRef> make_space(std::unique_ptr<Backend> backend,
                                             const Options& options) {
  const detail::SanitizerPause pause;
  auto made =
      std::make_shared<detail::SpaceRef>(new detail::LockSpace(std::move(backend), options));
  made->space().set_reference(made);
  return made;
}

}  // namespace

Locks::Locks(std::unique_ptr<Backend> backend, Options options)
    : space_(make_space(std::move(backend), options)) {}

Locks::Locks(std::shared_ptr<detail::SpaceRef> space, std::optional<Owner> owner)
    : space_(std::move(space)), owner_(owner) {}

Lock Locks::lock(std::string key, LockType type) const {
  if (type == LockType::PERMIT) detail::refuse_permit_as_lock();
  return handle(std::move(key), type);
}

Semaphore Locks::semaphore(std::string key, int permits) const {
  detail::require_total(permits);
  return Semaphore(handle(std::move(key), LockType::PERMIT), permits);
}

Lock Locks::handle(std::string key, LockType type) const {
  const detail::LockSpace& space = space_->space();
  space.require_offered(type);
  const FullKey full(space.options().prefix, key);
  if (!space.options().prefix.empty()) key = std::string(full.view());
  return Lock(space_, std::move(key), type, owner_);
}

ReadWriteLock Locks::read_write(std::string key) const {
  Lock write = lock(key, LockType::WRITE);
  return ReadWriteLock(lock(std::move(key), LockType::READ), std::move(write));
}

Hold Locks::acquire(std::string_view key, const Attempt& attempt) const {
  detail::LockSpace& space = space_->space();
  space.require_offered(attempt.type);
  if (attempt.type == LockType::PERMIT) detail::require_valid(attempt.permits);
  const Owner owner = owner_ ? *owner_ : Owner::this_thread();
  return detail::with_token(space, attempt, [&](const Attempt& its) {
    return with_full_key(space.options().prefix, key, [&](std::string_view full) {
      return space.acquire(space.driver().place_of(full), owner, its);
    });
  });
}

std::optional<Hold> Locks::try_acquire(std::string_view key, const Attempt& attempt) const {
  detail::LockSpace& space = space_->space();
  space.require_offered(attempt.type);
  if (attempt.type == LockType::PERMIT) detail::require_valid(attempt.permits);
  const Owner owner = owner_ ? *owner_ : Owner::this_thread();
  return detail::with_token(space, attempt, [&](const Attempt& its) {
    return with_full_key(space.options().prefix, key, [&](std::string_view full) {
      return space.try_acquire(space.driver().place_of(full), owner, its);
    });
  });
}

Locks Locks::with_owner(Owner owner) const { return Locks(space_, owner); }

LockInfo Locks::inspect(std::string_view key) const {
  const FullKey full(space_->space().options().prefix, key);
  LockInfo info;
  info.key = std::string(full.view());
  Request request;
  request.verb = Verb::inspect;
  request.key = full.view();
  request.info = &info;
  space_->space().administer(request);
  info.key = key;  // without the prefix
  return info;
}

std::vector<LockInfo> Locks::inspect_all(std::span<const std::string> keys) const {
  std::vector<LockInfo> infos(keys.size());
  std::vector<Request> requests(keys.size());
  for (std::size_t index = 0; index < keys.size(); ++index) {
    const FullKey full(space_->space().options().prefix, keys[index]);
    infos[index].key = std::string(full.view());
    requests[index].verb = Verb::inspect;
    requests[index].info = &infos[index];
  }
  // The reply overwrites the info's key, so the requests' keys are texts of their own.
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (std::size_t index = 0; index < keys.size(); ++index) {
    requests[index].key = names.emplace_back(infos[index].key);
  }
  space_->space().administer_all(requests);
  for (std::size_t index = 0; index < keys.size(); ++index) infos[index].key = keys[index];
  return infos;
}

ListPage Locks::list_part(std::string_view pattern, ListCursor from, std::uint32_t budget,
                          bool awaited) const {
  ListPage page;
  const std::string glob = glob_of(space_->space().options().prefix, pattern);
  ListPart part{from, budget, awaited};
  Request request;
  request.verb = Verb::list;
  request.key = glob;
  request.names = &page.names;
  request.part = &part;
  space_->space().administer(request);
  remove_prefix(page.names, options().prefix);
  page.waiters = std::move(part.waiters);
  page.next = part.cursor;
  page.examined = part.examined;
  page.total = part.total;
  return page;
}

ListPage Locks::list_page(std::string_view pattern, ListCursor from, std::uint32_t budget) const {
  return list_part(pattern, from, budget, false);
}

ListPage Locks::list_awaited(std::string_view pattern, ListCursor from,
                             std::uint32_t budget) const {
  return list_part(pattern, from, budget, true);
}

std::vector<std::string> Locks::list(std::string_view pattern) const {
  std::vector<std::string> names;
  const std::string glob = glob_of(space_->space().options().prefix, pattern);
  Request request;
  request.verb = Verb::list;
  request.key = glob;
  request.names = &names;
  space_->space().administer(request);
  remove_prefix(names, options().prefix);
  return names;
}

// The release of a FAIR lock frees a REENTRANT one as well, and notifies the first in the queue.
bool Locks::release_holder(std::string_view key, std::string_view holder) const {
  const std::optional<HoldId> id = HoldId::parse(holder);
  if (!id) {
    throw std::invalid_argument("'" + std::string(holder) +
                                "' is not the id of a holder; expected <uuid>:<number>");
  }
  const LockInfo info = inspect(key);
  const auto held = std::ranges::find(info.holders, holder, &HolderInfo::id);
  if (held == info.holders.end()) return false;
  detail::LockSpace& space = space_->space();
  const bool plain = info.type == LockType::REENTRANT;
  const FullKey full(space.options().prefix, key);
  Request request;
  request.verb = Verb::release;
  request.key = full.view();
  request.type = plain && space.capabilities().fair ? LockType::FAIR : info.type;
  request.id = *id;
  request.note = held->announced;
  if (space.administer(request) == Outcome::Kind::granted) return true;
  if (info.type != LockType::WRITE) return false;
  request.type = LockType::READ;  // it may have been downgraded since
  return space.administer(request) == Outcome::Kind::granted;
}

std::size_t Locks::revoke(std::string_view key) const {
  detail::LockSpace& space = space_->space();
  const FullKey full(space.options().prefix, key);
  return space.revoke(full.view());
}

bool Locks::force_release(std::string_view key) const {
  const FullKey full(space_->space().options().prefix, key);
  Request request;
  request.verb = Verb::force_release;
  request.key = full.view();
  return space_->space().administer(request) == Outcome::Kind::granted;
}

void Locks::close(std::chrono::milliseconds drain) const { space_->space().close(drain); }

const Options& Locks::options() const noexcept { return space_->space().options(); }

bool Locks::flush(std::chrono::milliseconds patience) const {
  return space_->space().reporter().flush(patience);
}

Clock& Locks::clock() const noexcept { return space_->space().clock(); }

void Locks::publish(const Event& event) const noexcept {
  space_->space().reporter().publish(event);
}

Capabilities Locks::capabilities() const noexcept { return space_->space().capabilities(); }

std::string Locks::describe() const { return space_->space().describe(); }

}  // namespace latchkey::inline v1
