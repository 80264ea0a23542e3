// Says whether the promises were kept; trusts neither the coordinator's books nor the store's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "testing/simulator/process.hpp"
#include "testing/simulator/sim_clock.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::sim {

/// One thing that a caller was granted and has not given back.
struct GrantedHold {
  std::uint32_t client = 0;
  std::uint32_t caller = 0;
  std::uint64_t owner = 0;
  RemoteHold* hold = nullptr;
  std::uint64_t number = 0;  ///< of the hold's id
  LockType type = LockType::REENTRANT;
  bool by_lock = false;
  bool watched = false;
  bool kept = false;  ///< of several: the others are still awaited, so its lease is renewed
  bool seen_lost = false;
  bool excused = false;  ///< a fault of the store took it away
  Clock::time_point deadline{};
};

/// What was submitted and answered for one id.
struct AttemptRecord {
  Clock::time_point allowed = Clock::time_point::min();  ///< no deadline may be later
  Clock::duration asked_at{};
  std::uint64_t token = 0;
  bool ended = false;  ///< its release was submitted
};

/// One client, as the judge knows it.
struct Watched {
  const SimClock* clock = nullptr;
  std::vector<AttemptRecord> facts;  ///< by the number of the id
  Clock::duration troubled_at = Clock::duration::min();
  Clock::duration awake_since{};
  std::vector<int> releasing;                ///< by key: releases without an answer
  std::vector<Clock::duration> stuck_since;  ///< by key: the local queue rests without a reason
  bool closing = false;
};

/// One key, as the judge knows it.
struct KeyHistory {
  struct Kept {  ///< hold_for: nobody holds, and nobody else may
    std::uint32_t client;
    std::uint64_t number;
    LockType type;
    Clock::time_point until;  ///< by that client's clock
    bool excused;
  };
  struct Held {
    std::uint32_t client;
    std::uint64_t number;
    bool operator==(const Held&) const noexcept = default;
  };

  std::vector<GrantedHold> grips;
  std::vector<Kept> kept;
  struct Waiting {
    std::uint32_t client;
    std::uint32_t caller;
    Clock::duration since;
  };

  std::vector<Waiting> waiting;
  std::vector<Held> holders;  ///< a good network: who holds by the answers given
  std::vector<Held> queue;    ///< a good network: FAIR, in the order of the first attempts
  Clock::duration fault_at = Clock::duration::min();
  Clock::duration free_since = Clock::duration::min();
  std::uint64_t token = 0;
  std::uint64_t faults = 0;
};

class Judge {
 public:
  Judge(World& world, std::size_t keys) : world_(world), clients(world.plan.clients), books(keys) {
    for (Watched& client : clients) {
      client.releasing.resize(keys);
      client.stuck_since.resize(keys, never);
    }
  }

  // --- what goes to the store and comes back (judge_store.cpp) ---
  void submitted(std::uint32_t client, std::uint32_t key, const Request& request, bool closing);
  void applied(std::uint32_t client, std::uint32_t key, const Request& request,
               const Outcome& outcome);
  void answered(std::uint32_t client, std::uint32_t key, const Request& request,
                const Outcome& outcome);
  /// The store forgot what it had of this key, or its clock jumped forward.
  void fault(std::uint32_t key);

  // --- what callers are told ---
  void granted(std::uint32_t key, GrantedHold grip) {
    KeyHistory& book = books[key];
    const AttemptRecord& its = facts(grip.client, grip.number);
    grip.deadline = grip.hold->deadline_point();
    grip.excused = book.fault_at >= its.asked_at;
    for (const GrantedHold& other : book.grips) {
      const bool same = other.client == grip.client && other.number == grip.number;
      if (same && other.owner != grip.owner) world_.fail("a hold was re-entered by another owner");
      if (same) grip.excused = other.excused;
    }
    for (const GrantedHold& other : book.grips) {
      if (conflict(other, grip) && live(other) && !other.excused && !grip.excused) {
        world_.fail("two hold at the same time: " + name(other) + " and " + name(grip));
      }
    }
    const bool fenced = grip.type == LockType::FENCED && !grip.excused;
    if (fenced && grip.hold->token != its.token) {
      world_.fail("the caller's token is not that of the store");
    }
    if (grip.hold->is_lost(clients[grip.client].clock->now())) {
      world_.fail("granted what is lost already: " + name(grip));
    }
    book.grips.push_back(grip);
  }

  /// After an answer to a call that had a bounded wait. It ends within 50 ms, whatever the store
  /// does; a wait of zero, whose `grace` is longer, as soon as its one attempt may end.
  void waited(std::uint32_t client, Clock::time_point until, milliseconds grace) {
    const Watched& its = clients[client];
    const Clock::duration end = std::max(its.clock->truth_at(until), its.awake_since);
    constexpr milliseconds late{50};
    const milliseconds allowed = grace > late ? grace + late : late;
    if (world_.now > end + allowed) world_.fail("a wait lasted longer than it may");
  }

  // --- around each event of a coordinator ---
  void before(std::uint32_t client, std::uint32_t key) {
    const Clock::time_point now = clients[client].clock->now();
    for (GrantedHold& grip : books[key].grips) {
      if (grip.client == client && grip.hold->is_lost(now)) grip.seen_lost = true;
    }
  }

  void after(std::uint32_t client, std::uint32_t key) {
    const Clock::time_point now = clients[client].clock->now();
    for (GrantedHold& grip : books[key].grips) {
      if (grip.client != client) continue;
      const Clock::time_point deadline = grip.hold->deadline_point();
      if (deadline < grip.deadline) world_.fail("a deadline moved back: " + name(grip));
      if (deadline > facts(client, grip.number).allowed) {
        world_.fail("a deadline is later than the store's answers allow: " + name(grip));
      }
      const bool lost = grip.hold->is_lost(now);
      if (grip.seen_lost && !lost) world_.fail("a lost hold came back: " + name(grip));
      if (lost && (grip.watched || grip.kept) && world_.plan.good && !clients[client].closing) {
        world_.fail("the watchdog lost a hold on a good network: " + name(grip));
      }
      grip.deadline = deadline;
    }
  }

  /// The local queue waits for local holds until their deadline, and for nothing else.
  void queue_moves(std::uint32_t client, std::uint32_t key, bool rests) {
    Watched& its = clients[client];
    Clock::duration& since = its.stuck_since[key];
    const Clock::time_point now = its.clock->now();
    bool reason = !rests || its.releasing[key] > 0;
    for (const GrantedHold& grip : books[key].grips) {
      reason = reason || (grip.client == client && live(grip));
    }
    for (const KeyHistory::Kept& kept : books[key].kept) {
      reason = reason || (kept.client == client && now < kept.until);
    }
    if (rests && reason) since = never;
    if (rests && !reason && since == never) since = world_.now;
    if (!rests && since != never) {
      const Clock::duration from = std::max(since, its.awake_since);
      if (world_.now - from > milliseconds(10)) world_.fail("the local queue waits for nobody");
      since = never;
    }
  }

  /// hold_for, or a thread that ended: the last local hold is gone, the lock is kept until `until`.
  void keeps(std::uint32_t key, const GrantedHold& grip, Clock::time_point until) {
    KeyHistory& book = books[key];
    for (const GrantedHold& other : book.grips) {
      if (other.client == grip.client && other.number == grip.number) return;
    }
    until = std::min(until, grip.hold->deadline_point());
    std::erase_if(book.kept, [&](const KeyHistory::Kept& kept) {
      return kept.until <= clients[kept.client].clock->now();
    });
    if (!live(grip)) return;
    book.kept.push_back({grip.client, grip.number, grip.type, until, grip.excused});
  }

  void closes(std::uint32_t client) {
    clients[client].closing = true;
    for (KeyHistory& book : books) {
      std::erase_if(book.kept, [&](const KeyHistory::Kept& kept) { return kept.client == client; });
    }
  }

  [[nodiscard]] bool live(const GrantedHold& grip) const {
    return !grip.hold->is_lost(clients[grip.client].clock->now());
  }

  [[nodiscard]] AttemptRecord& facts(std::uint32_t client, std::uint64_t number) {
    std::vector<AttemptRecord>& list = clients[client].facts;
    if (number >= list.size()) list.resize(number + 1);
    return list[number];
  }

  /// Another process takes the place of a client that crashed.
  void crashed(std::uint32_t client) {
    for (KeyHistory& book : books) {
      std::erase_if(book.grips, [&](const GrantedHold& grip) { return grip.client == client; });
      std::erase_if(book.kept, [&](const KeyHistory::Kept& kept) { return kept.client == client; });
      clients[client].releasing.assign(books.size(), 0);
      clients[client].stuck_since.assign(books.size(), never);
      std::erase_if(book.waiting, [&](const auto& each) { return each.client == client; });
    }
  }

  void waits(std::uint32_t key, std::uint32_t client, std::uint32_t caller) {
    books[key].waiting.push_back({client, caller, world_.now});
  }
  void waits_no_more(std::uint32_t key, std::uint32_t client, std::uint32_t caller) {
    std::erase_if(books[key].waiting, [&](const KeyHistory::Waiting& each) {
      return each.client == client && each.caller == caller;
    });
  }

  void troubled(std::uint32_t client) {
    clients[client].troubled_at = std::max(clients[client].troubled_at, world_.now);
  }

 private:
  static constexpr Clock::duration never = Clock::duration::min();

  World& world_;

 public:
  std::vector<Watched> clients;
  std::vector<KeyHistory> books;

 private:
  static bool shared(LockType left, LockType right) noexcept {
    return is_shared(left) && is_shared(right);
  }

  [[nodiscard]] static bool conflict(const GrantedHold& left, const GrantedHold& right) noexcept {
    const bool same = left.client == right.client && left.number == right.number;
    return !same && !shared(left.type, right.type);
  }

  [[nodiscard]] static std::string name(const GrantedHold& grip) {
    return "client " + std::to_string(grip.client) + " hold " + std::to_string(grip.number);
  }

  void grant_promptly(KeyHistory& book);
  void grant_in_order(KeyHistory& book, KeyHistory::Held who);
  void given(KeyHistory& book, std::uint32_t client, const Request& request,
             const Outcome& outcome);
};

}  // namespace latchkey::sim
