// The requests of this process about one Lease.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/kubernetes/connection.hpp"
#include "stores/kubernetes/lease.hpp"
#include "stores/kubernetes/lease_watch.hpp"
#include "stores/kubernetes/observed_leases.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// The parts of a client that all of its queues use.
struct LeaseContext {
  ApiConnection& link;
  ObservedLeases& observed;
  const LeaseWatch& watch;
  stores::Outbox& outbox;
  Clock& clock;
  const std::chrono::milliseconds timeout;
};

/// Carries out the requests for one key, one after the other. Each reads the Lease, decides, and
/// writes a version that takes the place of the one that was read, and of no other; if somebody
/// else was faster, it begins anew.
///
/// | stage   | left when                                         | for                      |
/// |---------|---------------------------------------------------|--------------------------|
/// | idle    | a request is submitted                            | reading, or writing if   |
/// |         |                                                   | the key is held          |
/// | reading | the Lease was read                                | idle, writing            |
/// | writing | the API server has taken or refused the version   | idle                     |
/// |         | another version is there (409), or none (404)     | reading                  |
/// | paused  | the API server is overloaded (429); the pause that | reading                  |
/// |         | it asked for is over                              |                          |
/// | any     | there is no answer, or the request is refused     | idle                     |
class LeaseQueue {
 public:
  LeaseQueue(LeaseContext& context, std::string key, std::string name);
  LeaseQueue(const LeaseQueue&) = delete;
  LeaseQueue& operator=(const LeaseQueue&) = delete;

  void submit(Request& request, Sink& sink);
  /// The watch tells of a version of the Lease.
  void on_event(const WatchEvent& event);
  /// The watch has begun anew: what was missed, nobody knows.
  void on_watch_begins();
  void advance(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const noexcept {
    return stage_ == Stage::paused ? resumes_at_ : Clock::never();
  }
  /// Nothing is under way, and nothing is held.
  [[nodiscard]] bool idle() const noexcept { return requests_.empty() && !own_; }
  /// Forgets the requests, and keeps what is held.
  void start_over() noexcept;

 private:
  enum class Stage : std::uint8_t { idle, reading, writing, paused };
  struct Entry {
    Request* request;
    Sink* sink;
    Clock::time_point submitted;
  };
  /// A hold of this process.
  struct Own {
    HoldId id;
    LeaseObject lease;        ///< as it was written last
    Clock::time_point ends;   ///< counted from before that
    Sink* watcher = nullptr;  ///< is told once of a change by somebody else
  };

  void begin();
  void read();
  void on_read(http2::HttpEnd&& end);
  /// `lease`: as it was read; null: there is none.
  void decide(const LeaseObject* lease);
  void acquire(const LeaseObject* lease);
  void renew(const LeaseObject* lease);
  /// Whether the last write of this process does what the renewal asks for.
  [[nodiscard]] bool lasts_long_enough() const;
  void give_up(const LeaseObject* lease, bool is_mine);
  void inspect(const LeaseObject* lease);
  void create(LeaseRecord record);
  void update(const LeaseObject& lease, LeaseRecord record);
  void on_written(http2::HttpEnd&& end, std::string_view verb, const LeaseRecord& record);
  void granted(LeaseObject&& lease);
  [[nodiscard]] Outcome busy(const LeaseRecord& record) const;
  void fail(const http2::HttpEnd& end, std::string_view verb);
  void malformed(const std::string& why, bool never_ran);
  void finish(Outcome&& outcome);
  void finish(Outcome::Kind kind);
  [[nodiscard]] Entry& current() noexcept { return requests_.front(); }
  [[nodiscard]] std::string identity() const { return requests_.front().request->id.text(); }

  LeaseContext& context_;
  const std::string key_, name_;
  std::deque<Entry> requests_;  ///< the first one is under way
  std::optional<Own> own_;
  Stage stage_ = Stage::idle;
  Clock::time_point resumes_at_{};
  int rounds_ = 0;                  ///< how often the request has begun anew
  Clock::time_point written_at_{};  ///< before the write that is under way
  std::uint64_t serial_ = 0;        ///< of the request: an answer to an earlier one is ignored
};

}  // namespace latchkey::inline v1::detail::kubernetes
