// The verbs of READ on documents of latchkey's own layout.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "stores/mongodb/failure.hpp"
#include "stores/mongodb/lock_operations.hpp"

namespace latchkey::inline v1::detail::mongodb {

using Kind = Outcome::Kind;

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
