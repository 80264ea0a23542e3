// The queue of one lock, as this process takes part in it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/etcd/place.hpp"
#include "stores/etcd/queue_keys.hpp"
#include "stores/etcd/sessions.hpp"
#include "stores/etcd/watches.hpp"

namespace latchkey::inline v1::detail::etcd {

/// The context that the queues of all locks share.
struct RecipeContext {
  EtcdConnection& link;
  Sessions& sessions;
  Watches& watches;
  stores::Outbox& outbox;
  Clock& clock;
  const std::string prefix;
  const bool watches_holds;  ///< Capabilities::watches
  ExpiryTimers timers{};
  std::vector<std::string> idle{};  ///< names of queues that may have nothing left
};

/// The recipes of Go's concurrency.Mutex and RWMutex: each place is a key under the lock's name
/// with the lease of a session, and waits for the deletion of the last key that was created before
/// it and excludes it (KeyKind). The operations of one lock run one after the other.
class LockQueue {
 public:
  LockQueue(RecipeContext& context, std::string name);
  LockQueue(const LockQueue&) = delete;
  LockQueue& operator=(const LockQueue&) = delete;
  ~LockQueue();

  void submit(Request& request, Sink& sink);
  /// The place of `id` has reached its end. With the id of nobody: tries again what has failed.
  void on_expired(const HoldId& id);
  void on_session_lost(const Session& session);
  void on_link(bool up);
  /// Memory was missing: every request is forgotten, and no call is under way. Keys at etcd stay.
  void start_over(Clock::time_point now) noexcept;
  /// Sets the timers that could not be set for want of memory.
  void restore_timers();
  [[nodiscard]] bool idle() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// In a forked child: nothing is cancelled.
  void forget() noexcept { places_.clear(); }

 private:
  enum class Task : std::uint8_t { request, promote, expire, unmark };
  struct Operation {
    Task task = Task::request;
    Request* request = nullptr;
    Sink* sink = nullptr;
    HoldId id{};
  };
  struct Subscription {
    enum class To : std::uint8_t { releases, grants, turn } to;
    HoldId id;
    Sink* sink;

    bool operator==(const Subscription&) const = default;
  };
  using Then = std::function<void(CallEnd&&, Sessions::Assurance)>;
  using OnDeleted = std::function<void(CallEnd&&, bool existed)>;

  // --- one operation after the other ---
  void push(Task task, const HoldId& id);
  void run();
  void start();
  void start_request();
  void done(Outcome&& outcome);
  void done(Outcome::Kind kind);

  // --- acquire ---
  void acquire();
  void enter(Place& place);
  void on_entered(Place& place, const TransactionReply& reply, bool queues);
  void check_again(Place& place);
  void grant(Place& place);
  void wait(Place& place, const KeyValue* predecessor, std::int64_t revision,
            const KeyValue* holder);
  void fail_acquire(Place& place, const CallEnd& end, Sessions::Assurance assurance);

  // --- holds ---
  void check_hold();
  void become_reader(Place& place);
  [[nodiscard]] std::string replacement(const Place& place) const;
  [[nodiscard]] bool on_replacement(Place& place, const TransactionReply& reply);
  void doubt_key(Place& place) noexcept;
  void watch_hold(Place& place, std::int64_t revision);
  void on_hold_watch(Place& place, std::int64_t revision, const WatchReply& reply);
  void delete_key(const Place& place, OnDeleted on_deleted);
  void end_hold();
  void end_hold_of_another();
  void promote();
  void on_promoted(Place& place, TransactionReply&& reply);
  void expire();

  // --- notifications ---
  void subscribe();
  void unsubscribe();
  void watch_releases(std::int64_t begin, bool completes);
  void on_releases(const WatchReply& reply, bool completes);
  void resume_watches();
  void stop_watching_releases() noexcept {
    if (releases_watch_ != 0) context_.watches.cancel(std::exchange(releases_watch_, 0));
  }
  void fail_subscription(const CallEnd& end);
  [[nodiscard]] static Subscription::To subscribes_to(const Request& request) noexcept;
  void mark(std::string marker, std::int64_t lease);
  void unmark();
  void try_again_later();
  void delete_marker(std::function<void(CallEnd&&)> on_deleted);
  [[nodiscard]] bool has_stale_marker() const noexcept {
    return !marker_.empty() && !has_subscription(Subscription::To::releases);
  }
  /// Whether a grant is told to whoever subscribes to it. Other places try again.
  [[nodiscard]] static bool awaits_grant(const Place& place) noexcept {
    return place.type == LockType::FAIR || place.queues;
  }
  [[nodiscard]] bool is_subscribed(const Place& place) const noexcept;
  [[nodiscard]] bool has_subscription(Subscription::To to) const noexcept;

  // --- places ---
  Place* find(const HoldId& id) noexcept;
  Place& add_place(Session& session);
  void remove(Place& place);
  void set_end(Place& place, Clock::time_point ends);
  void watch_predecessor(Place& place, const std::string& key, std::int64_t revision);
  void stop_watching(Place& place) noexcept;
  /// Runs a transaction and assures the session meanwhile; `then` gets both results.
  void transact(Place& place, std::string transaction, Clock::time_point until,
                Clock::time_point asked, Then then);
  /// A transaction: if the key of the place still exists, it reads the key that it waits for.
  [[nodiscard]] std::string check(const Place& place) const;

  RecipeContext& context_;
  const std::string name_;
  const std::string directory_, directory_end_;  ///< `<prefix><name>/`, and the end of its range
  std::list<Place> places_;
  std::deque<Operation> operations_;
  Operation current_{};
  Place* current_place_ = nullptr;
  bool busy_ = false, running_ = false;
  int sessions_tried_ = 0;
  struct {
    int parts = 0;
    CallEnd end;
    Sessions::Assurance assurance = Sessions::Assurance::given;
    Then then;
  } pending_;
  std::vector<Subscription> subscriptions_;
  Watches::Id releases_watch_ = 0;
  bool watches_releases_ = false;  ///< etcd has confirmed that watch once
  /// The key that shows others that this process waits for releases. It may be there until its
  /// deletion was answered, or its session has ended; empty: it is not there.
  std::string marker_;
  /// When the marker is deleted once more, and watches that have ended are started again.
  ExpiryTimers::iterator retry_timer_ = context_.timers.end();
};

/// The keys that show who waits for a release without a place in the queue.
[[nodiscard]] std::string marker_directory(const std::string& prefix);

}  // namespace latchkey::inline v1::detail::etcd
