// The listings of a segment's keys, and the keys that have ended.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "host/shared_table_change.hpp"
#include "memory/awaited_names.hpp"

namespace latchkey::inline v1::detail::host {

void SharedTable::list_bucket(EntryTable& entries, std::size_t bucket, const Request& request,
                              Clock::time_point now) {
  std::vector<std::string> keys;
  if (ThinWord::is_held(entries.thin_word(bucket))) close_bucket(entries, bucket);
  entries.for_bucket(bucket, [&](EntryTable::Index index) {
    if (entries.head(index).kind != static_cast<std::uint32_t>(EntryKind::lock)) return;
    keys.push_back(entries.key(index));
  });
  for (const std::string& key : keys) {
    with_record(entries, key, hash_key(key), [&] {
      Outcome outcome;
      locks_.apply(request, 0, now, nullptr, outcome);
    });
  }
  if (request.part != nullptr) request.part->examined += keys.size();
  if (!keys.empty()) entries.commit();
}

// Others come in between: a listing is no snapshot.
void SharedTable::list(const Request& request) {
  constexpr std::size_t at_a_time = 256;
  ListPart* const part = request.part;
  const auto first = static_cast<std::ptrdiff_t>(request.names->size());
  std::size_t bucket = part != nullptr ? part->cursor.position : 0;
  if (part != nullptr) part->examined = 0;
  const auto goes_on = [&] {
    return bucket < bucket_count &&
           (part == nullptr || part->awaited || part->examined < part->budget);
  };
  while (goes_on()) {
    change([&](EntryTable& entries) {
      const Clock::time_point now = clock_.now();
      for (std::size_t done = 0; done < at_a_time && goes_on(); ++done) {
        list_bucket(entries, bucket++, request, now);
      }
    });
  }
  if (part == nullptr) {
    std::sort(request.names->begin() + first, request.names->end());
    return;
  }
  part->cursor.position = bucket < bucket_count ? bucket : 0;
  part->total = part->awaited ? part->waiters.size() : session_.layout().header.entries.load();
  if (part->awaited) keep_most_awaited(*request.names, *part);
}

void SharedTable::sweep(EntryTable& entries, Clock::time_point now) {
  std::vector<std::string> ended;
  entries.for_bucket(sweep_++ % bucket_count, [&](EntryTable::Index index) {
    const EntryHead& its = entries.head(index);
    const bool is_lock = its.kind == static_cast<std::uint32_t>(EntryKind::lock);
    if (is_lock && its.first_end <= ticks(now)) ended.push_back(entries.key(index));
  });
  Request none;
  none.verb = Verb::verify;
  for (const std::string& key : ended) {
    none.key = key;
    const std::uint64_t hash = hash_key(key);
    with_record(entries, key, hash, [&] {
      Outcome outcome;
      locks_.apply(none, hash, now, nullptr, outcome);
    });
  }
}

}  // namespace latchkey::inline v1::detail::host
