// The lock table of a segment.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "host/record_bytes.hpp"
#include "host/session.hpp"
#include "host/thin_locks.hpp"
#include "memory/count_table.hpp"
#include "memory/lock_table.hpp"
#include "memory/revocation_table.hpp"

namespace latchkey::inline v1::detail::host {

/// Applies requests to a segment. The rules are those of the memory backend: a request brings the
/// records of its keys into its tables, which are empty otherwise, and writes back what they are
/// afterwards. An acquire and a release without contention need no record. Before a bucket is read
/// its thin word is closed; at the end of the change it is opened again, if its entries allow that.
///
/// One thing is added: what a process holds ends with the process, unless its time was fixed by
/// `expire`. One thread at a time.
class SharedTable {
 public:
  /// Is told what concerns this process. Called with no lock held.
  class Listener {
   public:
    virtual void notified(std::uint32_t sink, const Notification& notification) = 0;
    /// Notifications were dropped.
    virtual void missed() = 0;
    /// A process has died that held the key.
    virtual void abandoned(const std::string& key, LockType type, std::uint64_t pid) = 0;

   protected:
    ~Listener() = default;
  };

  /// How long a turn lasts (LockTable): a switch from one process to another takes a twentieth of
  /// that.
  static constexpr std::chrono::milliseconds turn{1};

  /// `thin`: of this process.
  SharedTable(Session& session, ThinLocks& thin, Clock& clock, Listener& listener)
      : session_(session),
        thin_(thin),
        clock_(clock),
        listener_(listener),
        locks_(turn),
        brought_(1) {}
  SharedTable(const SharedTable&) = delete;
  SharedTable& operator=(const SharedTable&) = delete;
  ~SharedTable() = default;

  /// `outcome` is newly made. `sink`: the number of the sink that a subscription is for. Throws
  /// what Session::change throws; nothing has changed then.
  void apply(const Request& request, std::uint32_t sink, Outcome& outcome);

  /// When the turn ends for whose end the last request waits: an acquire that is the first in line.
  /// Never: it does not wait for one.
  [[nodiscard]] Clock::time_point turn_ends() const noexcept { return turn_ends_; }
  /// The turn is over: the key is handed over now, if it is free, or else with the next release.
  void end_turn(std::string_view key);

  /// Hands this process's notifications to the listener. False: there were none.
  bool drain();
  /// Ends the holds, places and subscriptions of each process that is dead.
  void reap_the_dead();
  void reap(std::size_t slot, std::uint64_t name);
  /// Ends those of this process, before its slot is freed.
  void leave();
  /// For a slot that was that of a dead process.
  void settle_inheritance();
  /// Gives this process cells for thin holds, if the segment has room for them.
  void make_thin_cells();

 private:
  class SlotSubscriber final : public Subscriber {
   public:
    SlotSubscriber(SharedTable& table, SinkNumber to) noexcept : table_(table), to_(to) {}
    void notify(const Notification& notification) noexcept override {
      table_.post(to_, notification);
    }
    [[nodiscard]] SinkNumber number() const noexcept { return to_; }

   private:
    SharedTable& table_;
    const SinkNumber to_;
  };

  /// A record that a request has brought.
  struct Brought {
    std::string key;
    std::uint64_t hash = 0;
    bool existed = false;
    std::int64_t first_end = 0;
    std::vector<std::byte> value;  ///< as it was
    std::vector<Trace> traces;
  };
  /// A notification for this process, until the change is made.
  struct Note {
    std::uint32_t sink = 0;
    Notification::Kind kind = Notification::Kind::released;
    std::string key{};
    HoldId id{};
    std::uint64_t place = 0, token = 0;
  };
  struct Abandoned {
    std::string key;
    LockType type;
    std::uint64_t pid;
  };

  /// Calls Session::change with `act`, and then the listener.
  template <class Act>
  void change(Act&& act);
  void notify_listener();

  /// True: the request is carried out.
  bool apply_uncontended(EntryTable& entries, const Request& request, std::uint64_t hash,
                         Clock::time_point now);
  void apply_once(const Request& request, std::uint32_t sink, Outcome& outcome);
  void apply_to_locks(EntryTable& entries, const Request& request, std::uint32_t sink,
                      Clock::time_point now, Outcome& outcome);
  void apply_to_latch(EntryTable& entries, const Request& request, std::uint32_t sink,
                      Outcome& outcome);
  void apply_to_revocations(EntryTable& entries, const Request& request, std::uint32_t sink);
  void revoke(EntryTable& entries, const Request& request, Clock::time_point now, Outcome& outcome);
  void list(const Request& request);
  void list_bucket(EntryTable& entries, std::size_t bucket, const Request& request,
                   Clock::time_point now);
  /// Drops what has ended in one bucket.
  void sweep(EntryTable& entries, Clock::time_point now);
  /// Reaps the processes that hold what a busy request waits for, and are dead.
  bool reap_holders();

  // --- thin words ---
  /// Before the locks of a bucket are read or changed.
  void close_bucket(EntryTable& entries, std::size_t bucket);
  void move_to_table(EntryTable& entries, std::size_t bucket, std::uint64_t word);
  /// True: the key had a thin hold that nobody waits for, which has ended. That needs no room.
  bool end_thin_hold(EntryTable& entries, std::string_view key, std::uint64_t hash);
  /// After the commit: opens the closed buckets whose entries allow that.
  void open_buckets(EntryTable& entries);

  // --- records, latches and subscribers that a request brings ---
  template <class Act>
  void with_record(EntryTable& entries, std::string_view key, std::uint64_t hash, Act&& act);
  void bring(EntryTable& entries, Brought& to, std::string_view key, std::uint64_t hash);
  /// `request`: null, or the one that may have made holds and places of this process.
  void write_back(EntryTable& entries, Brought& from, const Request* request);
  void trace_new(const LockRecord& record, Brought& from, const Request* request);
  /// Writes the record to `value_`.
  void encode(const LockRecord& record, std::span<const Trace> traces);
  /// Calls `act`, which applies requests to `locks_`, with the numbers of the segment.
  template <class Act>
  void with_numbers(EntryTable& entries, Act&& act);
  void take_away_all() noexcept;
  /// The count of a latch, and who is told of it; or who is told of revocations.
  CountTable::Latch read_subscribers(EntryTable& entries, EntryTable::Index index);
  /// `latch`: null, or what is left.
  void write_subscribers(EntryTable& entries, EntryKind kind, std::string_view key,
                         const CountTable::Latch* latch);

  // --- processes that are no more ---
  [[nodiscard]] bool reap_in(std::size_t first_bucket, std::size_t slot, std::uint64_t name,
                             std::uint64_t pid);
  void reap_thin_hold(EntryTable& entries, std::size_t bucket, std::uint64_t word,
                      std::uint64_t pid);
  void reap_record(EntryTable& entries, const std::string& key, std::size_t slot,
                   std::uint64_t pid);
  void reap_subscribers(EntryTable& entries, EntryKind kind, const std::string& key,
                        std::size_t slot);
  [[nodiscard]] bool mentions(EntryTable& entries, EntryTable::Index index, std::size_t slot);
  void clear_slot(std::size_t slot, std::uint64_t name, bool free);

  SlotSubscriber& subscriber(SinkNumber number);
  void post(SinkNumber to, const Notification& notification) noexcept;

  Session& session_;
  ThinLocks& thin_;
  Clock& clock_;
  Listener& listener_;
  LockTable locks_;
  CountTable counts_;
  RevocationTable revocations_;
  std::map<SinkNumber, std::unique_ptr<SlotSubscriber>> subscribers_;
  std::vector<Brought> brought_;  ///< at least one, which is used again
  std::size_t brought_count_ = 0;
  std::vector<std::byte> value_;      ///< used again
  std::vector<std::uint32_t> slots_;  ///< of those that a busy request waits for
  std::vector<std::size_t> closed_;   ///< the buckets that the change under way has closed
  Clock::time_point turn_ends_ = Clock::never();
  EntryTable* entries_ = nullptr;  ///< of the change under way
  std::exception_ptr failure_;     ///< a notification could not be posted
  std::vector<Note> notes_;
  std::vector<Abandoned> abandoned_;
  bool missed_ = false;
  std::size_t sweep_ = 0;  ///< the next bucket
};

}  // namespace latchkey::inline v1::detail::host
