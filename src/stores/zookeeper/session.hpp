// One session with a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <zookeeper/zookeeper.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/clock.hpp>

#include "stores/zookeeper/reply_check.hpp"
#include "stores/zookeeper/uri.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// The reply to one operation.
struct Reply {
  int code = ZOK;
  std::string path;                   ///< create: with the number that the server appended
  std::int64_t created = 0;           ///< create, exists, get: czxid
  std::vector<std::string> children;  ///< children
  std::string data;                   ///< get
};
using Handler = std::function<void(Reply&&)>;

/// An event of a watched node, which is watched no longer then.
enum class NodeEvent : std::uint8_t {
  deleted,
  changed,  ///< its data or its children, or it was made
};

/// Drives one handle of libzookeeper_st, which keeps the session over several connections. Waits
/// only in the constructor, which resolves the servers' names, and in the destructor, which ends
/// the session: for 1.5 s if the server does not answer.
///
/// The library reports the operations of a lost connection when the next one is up. `drop` is
/// earlier: what it drops is not reported.
class Session {
 public:
  enum class State : std::uint8_t { connecting, connected, expired, refused };
  using OnNodeEvent = std::function<void(std::string_view path, NodeEvent event)>;

  /// `on_event`: a watched node changed. Throws std::runtime_error with a clause if no server's
  /// name can be resolved.
  Session(const ZooKeeperUri& uri, OnNodeEvent on_event);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // --- driving ---
  [[nodiscard]] State state() const noexcept;
  /// The descriptor that the library uses; -1: none.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Reads and writes. `events`: those of poll(2). Calls handlers. Throws std::bad_alloc if a reply
  /// could not be handled; the connection ends then.
  void process(short events);
  /// Returns the events of poll(2) to wait for, and sets `wait` to how long at most: the library
  /// then connects or pings.
  short interest(std::chrono::microseconds& wait);
  /// How many connections, and attempts to connect, have ended.
  [[nodiscard]] unsigned ended() const noexcept { return ended_; }
  /// The error number of the one that ended last; 0: the server closed it, EBADMSG: a message of
  /// the server could not be read.
  [[nodiscard]] int last_error() const noexcept { return last_error_; }
  /// Ends the connection, not the session.
  void break_connection() noexcept;
  /// Handlers of operations under way are not called.
  void drop() noexcept;
  /// In a forked child, before the destructor: nothing is sent to the server.
  void leave_to_parent() noexcept;
  [[nodiscard]] bool has_operations() const noexcept { return !operations_.empty(); }
  /// When the oldest operation under way was sent.
  [[nodiscard]] Clock::time_point oldest() const noexcept { return operations_.front()->sent; }
  void set_now(Clock::time_point now) noexcept { now_ = now; }
  /// When the last operation was sent.
  [[nodiscard]] Clock::time_point last_sent() const noexcept { return last_sent_; }
  /// The network receives the operations since the last call together.
  void send_out() noexcept;

  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept;
  [[nodiscard]] clientid_t id() const noexcept;

  // --- operations, which run in the order of the calls ---
  enum class Mode : std::uint8_t { sequence, ephemeral, container };
  void create(const std::string& path, std::string_view data, Mode mode, Handler handler);
  void remove(const std::string& path, Handler handler);
  void exists(const std::string& path, bool watch, Handler handler);
  void get(const std::string& path, Handler handler);
  void children(const std::string& path, bool watch, Handler handler);
  /// Deletes one node and makes another one, in one step.
  void replace(const std::string& path, const std::string& by, std::string_view data,
               Handler handler);
  /// Later reads see everything that was written before, by other connections too.
  void sync(const std::string& path, Handler handler);
  /// A server that is cut off from the leader answers reads from what it knows, for syncLimit
  /// ticks. The replies to operations after this one come only if the server has reached the
  /// leader, and the leader still had this session. `majority`: by a write that changes nothing,
  /// which needs a majority of the servers; a leader that has lost its majority answers a sync as
  /// long.
  enum class Reach : std::uint8_t { none, leader, majority };
  /// Once for all operations that the network receives together.
  void reach_leader(const std::string& path, Reach reach);

 private:
  /// Arguments and results of operations in one step. The library uses them until it reports them.
  struct Transaction {
    std::string path, by, data;
    std::vector<char> made;
    zoo_op_t steps[2];
    zoo_op_result_t results[2];
  };
  struct Operation {
    Session* session;  ///< null: it was dropped
    ReplyShape shape;
    Handler handler;
    Clock::time_point sent;
    std::unique_ptr<Transaction> transaction{};
  };

  void fail(int error) noexcept;
  /// Whether the library may read the next message, or the rest of one.
  enum class Next : std::uint8_t { readable, incomplete, malformed };
  [[nodiscard]] Next next_message();
  void await_bytes(std::size_t count) noexcept;
  void cork(bool on) noexcept;
  Operation* begin(ReplyShape shape, Handler handler,
                   std::unique_ptr<Transaction> transaction = nullptr);
  void write_nothing(const std::string& path);
  void sent(Operation* operation, int code) noexcept;
  /// `fill(reply)` reads what the library passes, if the operation has succeeded.
  template <class Fill>
  static void finish(const void* data, int code, Fill&& fill) noexcept;
  static void on_event(zhandle_t* handle, int type, int state, const char* path,
                       void* context) noexcept;
  [[nodiscard]] const ACL_vector* acl() const noexcept;

  zhandle_t* handle_ = nullptr;
  const bool open_;
  const OnNodeEvent on_event_;
  int descriptor_ = -1;
  int last_error_ = 0;
  unsigned ended_ = 0;
  Clock::time_point now_{}, last_sent_{};
  bool is_corked_ = false;
  Reach reached_ = Reach::none;    ///< by the operations since the last `send_out`
  bool is_malformed_ = false;      ///< the connection ends because of a message
  std::size_t awaited_bytes_ = 1;  ///< the descriptor is ready once it has as many
  std::size_t peeked_bytes_ = 0;   ///< how much of an incomplete message was seen last
  unsigned long completed_ = 0;    ///< operations
  /// `completed_` while the library reads a long message in parts.
  std::optional<unsigned long> long_message_{};
  bool is_broken_ = false;             ///< memory was missing for a reply
  std::deque<Operation*> operations_;  ///< under way, the oldest first
};

}  // namespace latchkey::inline v1::detail::zookeeper
