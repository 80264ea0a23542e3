// Locks as one would write them without a thought for speed: what the table is compared with.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

namespace naive {

using latchkey::Clock;
using latchkey::HoldId;
using latchkey::LockType;
using latchkey::Outcome;
using latchkey::Request;
using latchkey::Verb;

struct Entry {
  std::uint64_t id;
  LockType type;  // of a holder
  Clock::time_point ends;
  std::uint64_t token = 0;
};

struct Key {
  std::vector<Entry> holders, queue;
};

inline bool plain(LockType type) { return type != LockType::READ && type != LockType::WRITE; }

/// One key at a time, expired entries removed everywhere before each request.
class Store {
 public:
  struct Answer {
    Outcome::Kind kind;
    std::optional<std::chrono::milliseconds> retry_after{};
  };

  Answer apply(const Request& ask, Clock::time_point now) {
    for (auto& [name, key] : keys_) {
      for (auto* list : {&key.holders, &key.queue}) {
        std::erase_if(*list, [&](const Entry& entry) { return entry.ends <= now; });
      }
    }
    Key& key = keys_[std::string(ask.key)];
    const auto mine = find(key.holders, ask.id.number);
    const auto yes_no = [](bool yes) {
      return Answer{yes ? Outcome::Kind::granted : Outcome::Kind::gone};
    };
    switch (ask.verb) {
      case Verb::acquire: return acquire(key, ask, now);
      case Verb::renew:
        if (mine) mine->ends = std::max(mine->ends, now + ask.lease);
        return yes_no(mine != nullptr);
      case Verb::verify: return yes_no(mine != nullptr);
      case Verb::downgrade:
        if (mine == nullptr || plain(mine->type)) return yes_no(false);
        mine->type = LockType::READ;
        mine->ends = std::max(mine->ends, now + ask.lease);
        return yes_no(true);
      case Verb::release: return yes_no(remove(key.holders, ask.id.number));
      case Verb::leave: {
        const bool queued = remove(key.queue, ask.id.number);
        return yes_no(remove(key.holders, ask.id.number) || queued);
      }
      case Verb::force_release: {
        const bool any = !key.holders.empty();
        key.holders.clear();
        return yes_no(any);
      }
      default: return yes_no(true);
    }
  }

  const Key& key(const std::string& name) { return keys_[name]; }

 private:
  static Entry* find(std::vector<Entry>& list, std::uint64_t id) {
    for (Entry& entry : list) {
      if (entry.id == id) return &entry;
    }
    return nullptr;
  }
  static bool remove(std::vector<Entry>& list, std::uint64_t id) {
    return std::erase_if(list, [&](const Entry& entry) { return entry.id == id; }) > 0;
  }

  static bool compatible(const Entry& holder, const Request& ask) {
    if (holder.id == ask.id.number) {
      return holder.type == ask.type || (plain(holder.type) && plain(ask.type));
    }
    return holder.type == LockType::READ && ask.type == LockType::READ;
  }

  Answer acquire(Key& key, const Request& ask, Clock::time_point now) {
    const auto id = ask.id.number;
    std::vector<Entry> in_the_way;
    for (const Entry& holder : key.holders) {
      if (!compatible(holder, ask)) in_the_way.push_back(holder);
    }
    Entry* const mine = find(key.holders, id);
    const bool again = mine != nullptr && in_the_way.empty();
    if (ask.type == LockType::FAIR && !again) {
      for (const Entry& place : key.queue) {
        if (place.id == id) break;
        in_the_way.push_back(place);
      }
      if (!in_the_way.empty()) {
        if (Entry* place = find(key.queue, id)) {
          place->ends = std::max(place->ends, now + ask.queue_wait);
        } else if (ask.queue_wait.count() > 0) {
          key.queue.push_back({id, ask.type, now + ask.queue_wait});
        }
      }
    }
    if (!in_the_way.empty()) {
      Clock::time_point end{};
      for (const Entry& entry : in_the_way) end = std::max(end, entry.ends);
      // A reader that holds and asks for WRITE is in its own way, and so are the other readers.
      for (const Entry& holder : key.holders) end = std::max(end, holder.ends);
      return {Outcome::Kind::busy, std::chrono::ceil<std::chrono::milliseconds>(end - now)};
    }
    if (again) {
      mine->ends = std::max(mine->ends, now + ask.lease);
    } else {
      key.holders.push_back({id, ask.type, now + ask.lease});
      if (ask.type == LockType::FAIR) remove(key.queue, id);
    }
    return {Outcome::Kind::granted};
  }

  std::map<std::string, Key> keys_;
};

}  // namespace naive
