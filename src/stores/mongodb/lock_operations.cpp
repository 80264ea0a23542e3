// The verbs on documents of latchkey's own layout.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/lock_operations.hpp"

#include <algorithm>
#include <utility>

#include "stores/mongodb/failure.hpp"

namespace latchkey::inline v1::detail::mongodb {

using Kind = Outcome::Kind;

namespace {

/// The smallest fencing token of a moment: microseconds since 1970.
constexpr std::int64_t first_token(Date now) noexcept { return now.milliseconds * 1'000; }

/// {$unset: …} of the fields of an exclusive hold.
Bson without_holder() { return doc("owner", "", "type", "", "since", "", "lease", ""); }

Bson without_holds() {
  Bson fields = without_holder();
  append_fields(fields, "readers", "", "writer", "");
  return fields;
}

}  // namespace

std::optional<LockDocument> LockOperation::read() { return read(doc("_id", key_)); }

std::optional<LockDocument> LockOperation::read_own() {
  return read(doc("_id", key_, "owner", owner_));
}

std::optional<LockDocument> LockOperation::read(const Bson& filter) {
  auto found = commands_.find(filter);
  if (!found) return std::nullopt;
  LockDocument document(std::move(*found));
  if (document.wrong_field.empty()) return document;
  throw Rejected("the key's document has no '" + std::string(document.wrong_field) +
                 "' that latchkey has written; delete it once nobody holds the lock");
}

Bson LockOperation::free_key() const {
  return doc("_id", key_, "owner", absent(), "readers", absent());
}

Bson LockOperation::grant(std::optional<std::int64_t> fence, bool replaces_readers) const {
  Bson fields = doc("owner", owner_, "type", to_string(request_.type), "lease", lease());
  if (fence) fields.append("fence", *fence);
  Bson update = doc("$set", fields, "$currentDate", doc("since", true));
  if (replaces_readers) update.append("$unset", doc("readers", "", "writer", ""));
  return update;
}

Answer LockOperation::granted(const Bson& after) const {
  Answer answer{.kind = Kind::granted};
  if (fenced()) {
    const std::int64_t last = integer_at(after.get(), "fence").value_or(0);
    if (last < request_.tokens) commands_.reject_reply();
    answer.token = static_cast<std::uint64_t>(last);
  }
  return answer;
}

// The usual case: nobody holds the key. One command; two for FENCED, whose tokens are times.
std::optional<Answer> LockOperation::try_free_key() {
  Bson filter = free_key();
  std::optional<std::int64_t> fence;
  if (fenced()) {
    const std::int64_t first = first_token(commands_.now());
    fence = first + request_.tokens - 1;
    filter.append("$or",
                  std::vector<Bson>{doc("fence", absent()), doc("fence", doc("$lt", first))});
  }
  const Modified result = commands_.modify_or_insert(filter, grant(fence, false));
  if (!result.after) return std::nullopt;
  return granted(*result.after);
}

Answer LockOperation::acquire() {
  if (is_shared(request_.type)) return acquire_read();
  for (int round = 0; round < most_rounds; ++round) {
    if (auto answer = try_free_key()) return std::move(*answer);
    const auto document = read();
    if (!document) continue;
    const Date now = commands_.now();
    const bool mine = document->holder && document->holder->owner == owner_;
    if (!mine && document->held(now)) return busy(*document, now);
    if (auto answer = take_over(*document, now)) return std::move(*answer);
  }
  return {.kind = Kind::busy, .retry_after = std::chrono::milliseconds(1)};
}

// One's own hold, or one whose lease has ended, or a free key whose fence is ahead of the clock.
std::optional<Answer> LockOperation::take_over(const LockDocument& document, Date now) {
  const bool mine = document.holder && document.holder->owner == owner_;
  std::optional<std::int64_t> fence;
  if (fenced() && !mine) {
    const std::int64_t last = document.fence.value_or(0);
    fence = std::max(last + request_.tokens, first_token(now) + request_.tokens - 1);
  }
  const Modified result =
      commands_.modify(document.unchanged(key_), grant(fence, document.readers.has_value()));
  if (!result.after) return std::nullopt;
  return granted(*result.after);
}

Answer LockOperation::busy(const LockDocument& document, Date now) {
  Answer answer{.kind = Kind::busy};
  answer.retry_after = mongodb::retry_after(document.ends(), now);
  if (document.holder) {
    answer.holder = document.holder->owner;
  } else if (request_.type == LockType::WRITE && request_.queue_wait.count() > 0) {
    announce_writer(document, now);
  }
  return answer;
}

Answer LockOperation::renew() {
  if (is_shared(request_.type)) return renew_read();
  for (int round = 0; round < most_rounds; ++round) {
    const auto found = read_own();
    if (!found) return {};
    const LockDocument& document = *found;
    const Date now = commands_.now();
    if (ended(document.ends(), now)) return {};
    if (document.ends() > in(now, request_.lease)) return {.kind = Kind::granted};
    const Modified result =
        commands_.modify(document.unchanged(key_),
                         doc("$set", doc("lease", lease()), "$currentDate", doc("since", true)));
    if (result.after) return {.kind = Kind::granted};
  }
  throw NoAnswer("too many clients change this lock at once", false);
}

Answer LockOperation::verify() {
  if (is_shared(request_.type)) return verify_read();
  const auto found = read_own();
  if (!found || ended(found->ends(), commands_.now())) return {};
  return {.kind = Kind::granted};
}

bool LockOperation::remove_holds(const Bson& filter) {
  Bson without_fence(filter.get());
  without_fence.append("fence", absent());
  if (!fenced() && commands_.remove(without_fence)) return true;
  if (commands_.modify(filter, doc("$unset", without_holds())).after) return true;
  return fenced() && commands_.remove(without_fence);
}

Answer LockOperation::release() {
  if (is_shared(request_.type)) return release_read();
  const bool held = remove_holds(doc("_id", key_, "owner", owner_));
  return {.kind = held ? Kind::granted : Kind::gone};
}

Answer LockOperation::downgrade() {
  for (int round = 0; round < most_rounds; ++round) {
    const auto found = read_own();
    if (!found) return {};
    const LockDocument& document = *found;
    const Date now = commands_.now();
    if (ended(document.ends(), now)) return {};
    const Reader reader{owner_, std::max(document.ends(), in(now, request_.lease))};
    const Modified result = commands_.modify(
        document.unchanged(key_),
        doc("$set", doc("readers", documents_of({reader})), "$unset", without_holder()));
    if (result.after) return {.kind = Kind::granted};
  }
  throw NoAnswer("too many clients change this lock at once", false);
}

Answer LockOperation::force_release() {
  for (int round = 0; round < most_rounds; ++round) {
    const auto document = read();
    if (!document || (!document->holder && !document->readers)) return {};
    const bool held = document->held(commands_.now());
    if (remove_holds(document->unchanged(key_))) {
      return {.kind = held ? Kind::granted : Kind::gone};
    }
  }
  throw NoAnswer("too many clients change this lock at once", false);
}

void LockOperation::remove_ended(const LockDocument& document) {
  static_cast<void>(remove_holds(document.unchanged(key_)));
}

void remove_ended_holds(Commands& commands) {
  constexpr std::int64_t most = 1'000;
  const Date now = commands.now();
  const Bson granted_before =
      doc("$or", std::vector<Bson>{doc("since", doc("$lt", now)), doc("readers", present())});
  for (const Bson& each : commands.find_all(granted_before, most)) {
    const LockDocument document(each);
    const auto key = key_of(each.get());
    if (!key || document.held(now)) continue;  // unreadable ones stay
    Request request;
    request.key = *key;
    LockOperation(commands, request).remove_ended(document);
  }
}

// The usual case: nobody holds the key.
std::optional<Answer> LockOperation::try_first_read() {
  const Reader reader{owner_, in(commands_.now(), request_.lease)};
  const Modified result =
      commands_.modify_or_insert(free_key(), doc("$set", doc("readers", documents_of({reader}))));
  if (!result.after) return std::nullopt;
  return Answer{.kind = Kind::granted};
}

Answer LockOperation::acquire_read() {
  for (int round = 0; round < most_rounds; ++round) {
    const auto document = read();
    if (!document || (!document->holder && !document->readers)) {
      if (auto answer = try_first_read()) return std::move(*answer);
      continue;
    }
    const Date now = commands_.now();
    if (document->holder && document->held(now)) return busy(*document, now);
    if (auto answer = join_readers(*document, now)) return std::move(*answer);
  }
  return {.kind = Kind::busy, .retry_after = std::chrono::milliseconds(1)};
}

// Readers whose lease has ended are dropped, and so is a WRITE whose lease has ended.
std::optional<Answer> LockOperation::join_readers(const LockDocument& document, Date now) {
  const bool joined = document.find_reader(owner_) != nullptr;
  if (document.writer && *document.writer > now && !joined && document.held(now)) {
    return Answer{.kind = Kind::busy, .retry_after = retry_after(*document.writer, now)};
  }
  std::vector<Reader> readers;
  for (const Reader& each : document.readers.value_or(std::vector<Reader>{})) {
    if (each.owner != owner_ && !ended(each.ends, now)) readers.push_back(each);
  }
  readers.push_back({owner_, in(now, request_.lease)});
  if (!replace_readers(document, readers)) return std::nullopt;
  return Answer{.kind = Kind::granted};
}

bool LockOperation::replace_readers(const LockDocument& document,
                                    const std::vector<Reader>& readers) {
  Bson update = doc("$set", doc("readers", documents_of(readers)));
  if (document.holder) {
    update.append("$unset", doc("owner", "", "type", "", "since", "", "lease", ""));
  }
  return commands_.modify(document.unchanged(key_), update).after.has_value();
}

// New READs stay out until then. Those that hold are not touched.
void LockOperation::announce_writer(const LockDocument& document, Date now) {
  const Date until = in(now, request_.queue_wait);
  if (document.writer && *document.writer >= until) return;
  static_cast<void>(commands_.modify(document.unchanged(key_), doc("$set", doc("writer", until))));
}

Answer LockOperation::renew_read() {
  for (int round = 0; round < most_rounds; ++round) {
    const auto document = read();
    const Reader* const mine = document ? document->find_reader(owner_) : nullptr;
    if (mine == nullptr) return {};
    const Date now = commands_.now();
    if (ended(mine->ends, now)) return {};
    const Date until = in(now, request_.lease);
    if (mine->ends >= until) return {.kind = Kind::granted};
    std::vector<Reader> readers = *document->readers;
    for (Reader& each : readers) {
      if (each.owner == owner_) each.ends = until;
    }
    std::erase_if(readers, [&](const Reader& each) { return ended(each.ends, now); });
    if (replace_readers(*document, readers)) return {.kind = Kind::granted};
  }
  throw NoAnswer("too many clients change this lock at once", false);
}

Answer LockOperation::verify_read() {
  const auto document = read();
  const Reader* const mine = document ? document->find_reader(owner_) : nullptr;
  if (mine == nullptr || ended(mine->ends, commands_.now())) return {};
  return {.kind = Kind::granted};
}

// The last reader deletes the document in the same step: no empty document is left.
Answer LockOperation::release_read() {
  for (int round = 0; round < most_rounds; ++round) {
    const auto document = read();
    if (!document || document->find_reader(owner_) == nullptr) return {};
    std::vector<Reader> others = *document->readers;
    std::erase_if(others, [&](const Reader& each) { return each.owner == owner_; });
    const bool done = others.empty() ? remove_holds(document->unchanged(key_))
                                     : replace_readers(*document, others);
    if (done) return {.kind = Kind::granted};
  }
  throw NoAnswer("too many clients change this lock at once", false);
}

}  // namespace latchkey::inline v1::detail::mongodb
