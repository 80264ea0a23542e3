// The leases of etcd that keep the keys of this process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "stores/etcd/connection.hpp"

namespace latchkey::inline v1::detail::etcd {

/// One lease of etcd. It serves any number of locks, each once: two keys of one lock have two
/// leases.
struct Session {
  enum class Stage : std::uint8_t {
    alive,
    retiring,  ///< takes no further key, and is revoked when it has none: a request for a key whose
               ///< reply was lost may still run, and fails then
    lost,      ///< etcd has ended it
  };

  std::int64_t lease = 0;
  std::string hex;  ///< the lease in hexadecimal: the last part of its keys
  Stage stage = Stage::alive;
  std::size_t keys = 0;                 ///< places that use it; markers do not count
  Clock::time_point assured_until{};    ///< etcd does not end it before
  Clock::time_point keep_alive_sent{};  ///< when the last keep-alive was sent
  bool keeping_alive = false;

  /// Whether a key is one of this session.
  [[nodiscard]] bool has(std::string_view key) const noexcept {
    return key.size() > hex.size() && key.ends_with(hex) && key[key.size() - hex.size() - 1] == '/';
  }
};

/// The sessions of one client. They are kept alive every quarter of their timeout by whoever
/// drives.
class Sessions {
 public:
  /// The result of `assure`: the session is alive as long as wished, lost, or there was no answer.
  enum class Assurance : std::uint8_t { given, lost, unknown };
  using OnAssured = std::function<void(Assurance)>;
  /// Gets the session, or null and the end of the call that says why there is none.
  using OnSession = std::function<void(Session*, CallEnd&&)>;
  using Suits = std::function<bool(const Session&)>;

  /// `on_lost`: once for each session that etcd has ended.
  Sessions(EtcdConnection& link, Clock& clock, std::chrono::seconds timeout,
           std::function<void(Session&)> on_lost);

  /// A session that is alive and suits, perhaps a new one. Immediately if there is one.
  void obtain(Suits suits, OnSession on_session);
  /// Keeps the session alive until `until`. Replies to keep-alives sent before `asked` are ignored.
  /// Calls `on_assured` immediately if the result is known.
  void assure(Session& session, Clock::time_point until, Clock::time_point asked,
              OnAssured on_assured);
  /// etcd has said that it has no such lease.
  void lose(Session& session);
  /// The session serves nothing new, and is revoked when its last place has ended.
  void retire(Session& session) noexcept { session.stage = Session::Stage::retiring; }
  /// Retires the session of this key, if it is alive. Needs no memory.
  void retire_of(std::string_view key) noexcept;
  /// One of its places is gone.
  void release(Session& session);

  void advance(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const noexcept;
  void on_link_up();
  /// Forgets who waits, and the calls under way. The sessions stay.
  void start_over() noexcept;
  void forget() noexcept;

 private:
  struct Wish {
    Session* session;
    Clock::time_point until, asked;
    OnAssured on_assured;
  };
  struct Claim {
    Suits suits;
    OnSession on_session;
  };

  Session* find(const Suits& suits);
  void grant();
  void on_granted(CallEnd&& end, Clock::time_point sent);
  void keep_alive(Session& session);
  void on_kept_alive(Session& session, CallEnd&& end);
  void answer_wishes(Session& session, bool answered);
  void drop_unused(Clock::time_point now);
  [[nodiscard]] Clock::time_point keep_alive_at(const Session& session) const noexcept;

  EtcdConnection& link_;
  Clock& clock_;
  const std::chrono::seconds timeout_;
  const std::function<void(Session&)> on_lost_;
  std::list<Session> sessions_;
  std::vector<Claim> claims_;  ///< wait for the grant that is under way
  std::vector<Wish> wishes_;
  bool granting_ = false;
};

}  // namespace latchkey::inline v1::detail::etcd
