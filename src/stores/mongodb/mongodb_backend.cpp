// Locks in a collection of latchkey's own layout.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/mongodb_backend.hpp"

#include <utility>

#include <latchkey/error.hpp>

#include "core/text/glob.hpp"

namespace latchkey::inline v1::detail::mongodb {
namespace {

HolderInfo holder_info(const std::string& owner, Date ends, Date now) {
  HolderInfo info;
  info.id = owner;
  info.left = std::chrono::milliseconds(ends.milliseconds - now.milliseconds);
  return info;
}

void fill_in(LockInfo& info, const LockDocument& document, Date now) {
  if (document.fence) info.fencing_token = static_cast<std::uint64_t>(*document.fence);
  info.locked = document.held(now);
  if (!info.locked || !document.wrong_field.empty()) return;
  if (document.holder) {
    info.type =
        document.holder->type == to_string(LockType::WRITE) ? LockType::WRITE : LockType::REENTRANT;
    info.holders.push_back(holder_info(document.holder->owner, document.holder->ends(), now));
    return;
  }
  info.type = LockType::READ;
  for (const Reader& reader : *document.readers) {
    if (!ended(reader.ends, now)) {
      info.holders.push_back(holder_info(reader.owner, reader.ends, now));
    }
  }
}

}  // namespace

MongoBackend::MongoBackend(Settings settings, Clock& clock)
    : SimpleBackend(clock), pool_(std::move(settings)) {}

void MongoBackend::start(bool may_be_absent) {
  LockSite site{.key = {}, .backend = describe()};
  try {
    Commands commands(pool_);
    check(commands);
  } catch (const NoAnswer& failure) {
    if (!may_be_absent) throw BackendUnavailable(std::move(site), failure.what());
    warning_ = failure.what();
  } catch (const Rejected& failure) {
    throw BackendRefused(std::move(site), failure.what());
  }
}

// Several threads may do this at the same time: it changes nothing but what has ended.
void MongoBackend::check(Commands& commands) {
  if (checked_.load(std::memory_order_relaxed)) return;
  commands.check_server();
  clean_up(commands);
  checked_.store(true, std::memory_order_relaxed);
}

Outcome MongoBackend::outcome_of(Answer&& answer) {
  Outcome outcome;
  outcome.kind = answer.kind;
  outcome.token = answer.token;
  outcome.retry_after = answer.retry_after;
  outcome.holder = std::move(answer.holder);
  return outcome;
}

Capabilities DocumentBackend::capabilities() const noexcept {
  Capabilities offered;
  offered.read_write = offered.fenced = offered.tokens = offered.administration = true;
  return offered;
}

Outcome DocumentBackend::acquire(const Request& request) {
  return attempt([&](Commands& commands) { return LockOperation(commands, request).acquire(); });
}

Outcome DocumentBackend::renew(const Request& request) {
  return attempt([&](Commands& commands) { return LockOperation(commands, request).renew(); });
}

Outcome DocumentBackend::verify(const Request& request) {
  return attempt([&](Commands& commands) { return LockOperation(commands, request).verify(); });
}

Outcome DocumentBackend::downgrade(const Request& request) {
  return attempt([&](Commands& commands) { return LockOperation(commands, request).downgrade(); });
}

Outcome DocumentBackend::release(const Request& request) {
  return attempt([&](Commands& commands) { return LockOperation(commands, request).release(); });
}

Outcome DocumentBackend::leave(const Request& request) {
  Outcome outcome = release(request);
  if (request.type != LockType::WRITE || outcome.kind != Outcome::Kind::gone) return outcome;
  return attempt(
      [&](Commands& commands) { return LockOperation(commands, request).release_read(); });
}

Outcome DocumentBackend::inspect(const Request& request) {
  return attempt([&](Commands& commands) {
    request.info->key = request.key;
    if (auto found = commands.find(doc("_id", Key{request.key}))) {
      fill_in(*request.info, LockDocument(std::move(*found)), commands.now());
    }
    return Answer{.kind = Outcome::Kind::granted};
  });
}

Outcome DocumentBackend::list(const Request& request) {
  return attempt([&](Commands& commands) {
    const auto documents = commands.find_all(
        doc("$or", std::vector<Bson>{doc("owner", present()), doc("readers", present())}));
    const Date now = commands.now();
    for (const Bson& each : documents) {
      const auto key = key_of(each.get());
      if (key && glob_matches(request.key, *key) && LockDocument(each).held(now)) {
        request.names->push_back(*key);
      }
    }
    return Answer{.kind = Outcome::Kind::granted};
  });
}

Outcome DocumentBackend::force_release(const Request& request) {
  return attempt(
      [&](Commands& commands) { return LockOperation(commands, request).force_release(); });
}

}  // namespace latchkey::inline v1::detail::mongodb
