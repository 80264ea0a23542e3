// The simplest implementation of the locks. The tests compare the lock table with it.
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
  LockType type;  // only for a holder
  Clock::time_point ends;
  std::uint64_t token = 0;
};

struct Key {
  std::vector<Entry> holders, queue;
  Clock::time_point kept_for_writer{};  // later than now: a WRITE keeps new READs out
};

inline bool plain(LockType type) { return type != LockType::READ && type != LockType::WRITE; }
inline bool same_family(LockType one, LockType other) {
  return one == other || (plain(one) && plain(other));
}

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
    const auto any = find(key.holders, ask.id.number);
    const auto mine = any != nullptr && same_family(any->type, ask.type) ? any : nullptr;
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
        if (any == nullptr || plain(any->type)) return yes_no(false);
        any->type = LockType::READ;
        any->ends = std::max(any->ends, now + ask.lease);
        return yes_no(true);
      case Verb::expire:
        if (mine) mine->ends = std::min(mine->ends, now + ask.lease);
        return yes_no(mine != nullptr);
      case Verb::release: {
        const bool released = mine != nullptr && remove(key.holders, ask.id.number);
        if (released && ask.type == LockType::FAIR) call_first(key, now);
        return yes_no(released);
      }
      case Verb::leave: {
        const bool first = !key.queue.empty() && key.queue.front().id == ask.id.number;
        const bool queued = remove(key.queue, ask.id.number);
        const bool downgraded =
            any != nullptr && ask.type == LockType::WRITE && any->type == LockType::READ;
        const bool held = mine != nullptr || downgraded;
        const bool released = held && remove(key.holders, ask.id.number);
        if ((first || released) && ask.type == LockType::FAIR) call_first(key, now);
        return yes_no(released || queued);
      }
      case Verb::force_release: {
        const bool locked = !key.holders.empty();
        const bool was_plain = locked && plain(key.holders.front().type);
        key.holders.clear();
        if (was_plain) call_first(key, now);
        return yes_no(locked);
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
      return same_family(holder.type, ask.type);
    }
    return holder.type == LockType::READ && ask.type == LockType::READ;
  }

  // The first two waiters retry when the holder or the waiter ahead may have ended, or sooner.
  static std::chrono::milliseconds retry_of(const Key& key, std::size_t before,
                                            Clock::time_point again, Clock::time_point now) {
    Clock::time_point end{};
    for (const Entry& holder : key.holders) end = std::max(end, holder.ends);
    if (key.holders.empty()) end = key.queue.front().ends;
    if (before < 2) again = std::min(again, end);
    return std::chrono::ceil<std::chrono::milliseconds>(again - now);
  }

  static void call_first(Key& key, Clock::time_point now) {
    if (!key.holders.empty() || key.queue.empty()) return;
    Clock::time_point& ends = key.queue.front().ends;
    ends = std::min<Clock::time_point>(ends, now + std::chrono::seconds(5));
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
      if (!key.queue.empty() && key.queue.front().id != id) call_first(key, now);
      std::size_t before = 0;
      for (const Entry& place : key.queue) {
        if (place.id == id) break;
        in_the_way.push_back(place);
        ++before;
      }
      const bool queues = find(key.queue, id) != nullptr || ask.queue_wait.count() > 0;
      if (!in_the_way.empty() && queues) {
        if (Entry* place = find(key.queue, id)) {
          place->ends = std::max(place->ends, now + ask.queue_wait);
        } else {
          key.queue.push_back({id, ask.type, now + ask.queue_wait});
        }
        const auto pace = now + std::chrono::seconds(before < 2 ? 1 : 2);
        return {Outcome::Kind::busy, retry_of(key, before, pace, now)};
      }
    }
    const bool read = ask.type == LockType::READ;
    if (in_the_way.empty() && !again && read && key.kept_for_writer > now) {
      return {Outcome::Kind::busy,
              std::chrono::ceil<std::chrono::milliseconds>(key.kept_for_writer - now)};
    }
    if (!in_the_way.empty()) {
      Clock::time_point end{};
      for (const Entry& entry : in_the_way) end = std::max(end, entry.ends);
      // All readers block a WRITE, also a reader that requests it itself.
      for (const Entry& holder : key.holders) end = std::max(end, holder.ends);
      const bool by_reads = !key.holders.empty() && key.holders.front().type == LockType::READ;
      if (ask.type == LockType::WRITE && by_reads && ask.queue_wait.count() > 0) {
        key.kept_for_writer =
            std::max<Clock::time_point>(key.kept_for_writer, now + ask.queue_wait);
      }
      return {Outcome::Kind::busy, std::chrono::ceil<std::chrono::milliseconds>(end - now)};
    }
    if (again) {
      mine->ends = std::max(mine->ends, now + ask.lease);
    } else {
      key.holders.push_back({id, ask.type, now + ask.lease});
      if (ask.type == LockType::FAIR) remove(key.queue, id);
      if (ask.type == LockType::WRITE) key.kept_for_writer = {};
    }
    return {Outcome::Kind::granted};
  }

  std::map<std::string, Key> keys_;
};

}  // namespace naive
