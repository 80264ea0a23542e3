// How a change of a segment brings records and writes them back. For the .cpp files of SharedTable.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "host/shared_table.hpp"

namespace latchkey::inline v1::detail::host {

template <class Act>
void SharedTable::change(Act&& act) {
  struct Cleared {
    SharedTable& table;
    ~Cleared() {
      table.take_away_all();
      table.closed_.clear();
      table.entries_ = nullptr;
    }
  };
  try {
    session_.change([&](EntryTable& entries) {
      const Cleared cleared{*this};
      entries_ = &entries;
      act(entries);
      if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
      entries.commit();
      open_buckets(entries);
    });
  } catch (...) {
    failure_ = nullptr;
    notes_.clear();
    abandoned_.clear();
    throw;
  }
  if (!notes_.empty() || !abandoned_.empty() || missed_) notify_listener();
}

template <class Act>
void SharedTable::with_numbers(EntryTable& entries, Act&& act) {
  Header& header = session_.layout().header;
  const LockTable::Numbers last{header.last_token.load(), header.last_place.load()};
  locks_.continue_from(last);
  act();
  const LockTable::Numbers next = locks_.numbers();
  if (next.token != last.token) entries.put(header.last_token, next.token);
  if (next.place != last.place) entries.put(header.last_place, next.place);
}

template <class Act>
void SharedTable::with_record(EntryTable& entries, std::string_view key, std::uint64_t hash,
                              Act&& act) {
  brought_count_ = 1;
  bring(entries, brought_[0], key, hash);
  act();
  write_back(entries, brought_[0], nullptr);
}

}  // namespace latchkey::inline v1::detail::host
