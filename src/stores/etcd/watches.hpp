// The watches of this process in an etcd cluster, on one stream.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <latchkey/clock.hpp>

#include "stores/etcd/connection.hpp"
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {

/// The watches of one client. All are on one stream of the connection, however many keys are
/// awaited: servers and proxies limit the streams of a connection, and a call behind that limit is
/// not sent.
///
/// Watches outlive the stream and the connection: each is made once more on the next one, and
/// reports that by `created`.
class Watches {
 public:
  /// 0: none.
  using Id = std::int64_t;
  using OnReply = std::function<void(const WatchReply&)>;
  enum class Purpose : std::uint8_t {
    wait,  ///< somebody waits for a deletion: created before those of holds
    hold,  ///< a deletion would be a loss
  };

  /// A stream on which etcd has not confirmed a watch after `timeout` is ended.
  Watches(EtcdConnection& link, Clock& clock, std::chrono::milliseconds timeout)
      : link_(link), clock_(clock), timeout_(timeout) {}

  /// Deletions of a key, or of the keys up to `end`, from `revision` on; 0: from now on.
  /// On the next stream it begins anew.
  /// `on_reply` may start and cancel watches. After a reply that says `cancelled` the watch is
  /// gone: etcd has ended it, or the connection has ended before etcd has confirmed it.
  Id start(Purpose purpose, std::string key, std::string end, std::int64_t revision,
           OnReply on_reply);
  /// Ends a watch: its `on_reply` is not called any more.
  void cancel(Id id) noexcept;
  /// Whether there is one that somebody waits for.
  [[nodiscard]] bool awaited() const noexcept { return watches_.size() > of_holds_; }

  void advance(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const noexcept {
    return link_.is_up() ? std::min(opens_at_, unconfirmed_at_) : Clock::never();
  }
  void on_link_up();
  /// No watch is left. Sends nothing.
  void forget() noexcept;

 private:
  struct Watch {
    Purpose purpose;
    std::string key, end;
    std::int64_t revision;
    OnReply on_reply;
    bool confirmed = false;                ///< etcd has created it once
    std::optional<std::int64_t> served{};  ///< etcd's id of it on this stream
  };
  using Found = std::map<Id, Watch>::iterator;

  void open();
  void request_creation(Id id, Purpose purpose);
  void create_next();
  void on_message(std::string_view message);
  void on_created(const WatchReply& reply);
  void on_stream_end();
  void report(Id id, const WatchReply& reply);
  void erase(Found watch) noexcept;

  EtcdConnection& link_;
  Clock& clock_;
  const std::chrono::milliseconds timeout_;
  std::map<Id, Watch> watches_;  ///< in the order in which they were started
  std::size_t of_holds_ = 0;     ///< how many of them
  /// Those whose creation on this stream was not requested yet, and cancelled ones among them.
  std::deque<Id> awaited_to_create_, holds_to_create_;
  Id last_ = 0;
  RequestId stream_ = 0;
  Id creating_ = 0;                              ///< the one whose creation is under way
  std::unordered_map<std::int64_t, Id> served_;  ///< by etcd's ids
  Clock::time_point opens_at_ = Clock::never();  ///< the next stream, after one that has ended
  Clock::time_point unconfirmed_at_ = Clock::never();  ///< when the creation has taken too long
};

}  // namespace latchkey::inline v1::detail::etcd
