// The hand-written alternative to latchkey that the benchmarks compare with.
#pragma once

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace latchkey::bench {

/// Finds or inserts a timed mutex under one mutex, waits at most 3 s, unlocks, erases when unused.
class MutexMap {
 public:
  template <class Body>
  auto with(const std::string& key, Body&& body) {
    Entry& entry = enter(key);
    if (!entry.mutex.try_lock_for(std::chrono::seconds(3))) {
      leave(key, entry);
      throw std::runtime_error("timeout");
    }
    struct Exit {
      MutexMap& map;
      const std::string& key;
      Entry& entry;
      ~Exit() {
        entry.mutex.unlock();
        map.leave(key, entry);
      }
    } exit{*this, key, entry};
    return body();
  }

 private:
  struct Entry {
    std::timed_mutex mutex;
    int users = 0;
  };

  Entry& enter(const std::string& key) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    ++entry.users;
    return entry;
  }
  void leave(const std::string& key, Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (--entry.users == 0) entries_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace latchkey::bench
