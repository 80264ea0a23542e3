// The conversation with one Redis server, without socket, thread, mutex or clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/command_buffer.hpp"
#include "redis/failure.hpp"
#include "redis/handshake.hpp"
#include "redis/pending.hpp"
#include "redis/reply_reader.hpp"
#include "redis/ring_queue.hpp"
#include "redis/script_call.hpp"
#include "redis/subscriptions.hpp"

namespace latchkey::detail::redis {

/// Something for a sink. Made once and filled again and again: its texts keep their memory.
struct Delivery {
  Sink* sink = nullptr;
  Request* request = nullptr;  ///< null: a notification
  Outcome outcome{};
  Notification::Kind kind = Notification::Kind::released;
  std::string key{};
  HoldId id{};

  /// Calls the sink.
  void hand_over() noexcept;
};

/// Requests in, commands out; replies in, outcomes out; over one connection after the other.
///
/// | stage      | what there is                           | what brings it on                |
/// |------------|-----------------------------------------|----------------------------------|
/// | down       | no connection; requests wait for one    | wants_connection, then connecting|
/// | connecting | a connection that is not there yet      | connected                        |
/// | greeting   | the handshake                           | received, until it has settled   |
/// | up         | requests go out, answers come in        |                                  |
///
/// `failed` leads back to down from everywhere: every request whose last byte was sent ends as
/// unknown, for it may have run; one that was not sent whole did not run, and waits for the next
/// connection, in its place. All have a deadline at which they end as unknown, wherever they are.
/// An answer that comes later is read and dropped: in its place in the order, so what was sent
/// after it is not confused with it.
class Link {
 public:
  struct Settings {
    Handshake::Login login;
    /// How long a command, or a way to a connection that has settled, may take.
    std::chrono::milliseconds timeout = std::chrono::seconds(2);
    WireSettings wire{};
    std::uint64_t seed = 0;  ///< of the jitter between attempts to connect
  };
  enum class Stage : std::uint8_t { down, connecting, greeting, up };
  using TimePoint = Clock::time_point;

  /// Throws std::bad_alloc.
  explicit Link(Settings settings);

  // --- requests ---
  /// All of them or, where it throws std::bad_alloc, none.
  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now);

  // --- the connection ---
  [[nodiscard]] bool wants_connection(TimePoint now) const noexcept {
    return stage_ == Stage::down && now >= retry_at_;
  }
  void connecting(TimePoint now) noexcept;
  void connected() noexcept;
  void received(std::span<const char> bytes, TimePoint now) noexcept;
  /// No connection any more, or none to be had.
  void failed(Failure failure, TimePoint now) noexcept;
  /// Not empty: the connection must be closed, and `failed` be called with this.
  [[nodiscard]] const std::optional<Failure>& trouble() const noexcept { return trouble_; }

  // --- bytes to be sent ---
  /// They stay where they are until `sent` or `failed` is called, whatever is submitted meanwhile.
  [[nodiscard]] std::string_view to_send() noexcept;
  [[nodiscard]] bool anything_to_send() const noexcept;
  void sent(std::size_t count) noexcept;
  /// The server has something to do: what was sent and is not answered.
  [[nodiscard]] bool is_working() const noexcept {
    return written_ > 0 && pending_[0].end <= sent_end_;
  }
  /// Bytes of requests that wait to be sent.
  [[nodiscard]] std::size_t unsent() const noexcept { return queued_.bytes().size(); }

  // --- time ---
  void tick(TimePoint now) noexcept;
  /// When the next tick is due.
  [[nodiscard]] TimePoint due() const noexcept;

  // --- what sinks are to be told ---
  /// False: nothing now.
  bool next(Delivery& delivery) noexcept;

  // --- questions ---
  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] std::size_t unanswered() const noexcept { return pending_.size(); }
  /// `next` has something, whatever the server does.
  [[nodiscard]] bool has_news() const noexcept { return !ended_.empty() || !notes_.empty(); }
  /// The connection carried an answer.
  [[nodiscard]] bool was_answered() const noexcept { return handshake_.answered_anything(); }
  [[nodiscard]] bool listens() const noexcept { return !subscriptions_.empty(); }
  /// What speaks against the server, as a clause; empty: nothing.
  [[nodiscard]] const std::string& warning() const noexcept { return handshake_.warning(); }
  [[nodiscard]] bool may_kill() const noexcept { return handshake_.may_kill().value_or(false); }
  /// Why there is no connection; null: there is one, or none was tried.
  [[nodiscard]] const Failure* last_failure() const noexcept {
    return stage_ != Stage::up && last_failure_ ? &*last_failure_ : nullptr;
  }

  /// In a forked child: everything is the parent's.
  void forget() noexcept;

 private:
  /// A request that ends without an answer.
  struct Ended {
    Request* request;
    Sink* sink;
    Outcome::Kind kind;
    std::string text;
  };
  struct Note {
    Sink* sink;
    Notification::Kind kind;
    std::string key;
    HoldId id;
  };

  // requests (link.cpp)
  void write(Pending& pending) noexcept;
  void write_all() noexcept;
  void end(Pending& pending, Outcome::Kind kind, std::string_view text) noexcept;
  void tell_all(Notification::Kind kind) noexcept;

  // the connection (link_connection.cpp)
  void drop_what_was_sent(std::string_view why) noexcept;
  [[nodiscard]] Clock::duration pause(std::uint32_t attempts, bool wanted) noexcept;
  void end_overdue(TimePoint now) noexcept;
  void pop() noexcept;
  void drop_answerless() noexcept;
  [[nodiscard]] TimePoint dead_at() const noexcept;

  // answers (link_answers.cpp)
  bool next_told(Delivery& delivery) noexcept;
  bool answered_front(const redisReply& reply, Delivery& delivery);
  bool channels_answered(const redisReply& reply, Pending& pending, Delivery& delivery);
  bool script_answered(const redisReply& reply, Pending& pending, Delivery& delivery);
  void ask_again(Pending& pending, Pending::Ask ask, std::uint64_t cursor);
  [[nodiscard]] bool overtaken(const Pending& pending) const noexcept;
  void greet(const redisReply& reply);
  void hear(const redisReply& push);

  const Settings settings_;
  std::minstd_rand chance_;
  Stage stage_ = Stage::down;
  Handshake handshake_;
  ReplyReader reader_;
  Subscriptions subscriptions_;
  std::vector<Sink*> sinks_;  ///< all that ever submitted; one, as a rule

  // Of `pending_` the first `written_` are commands in the stream, the others wait for a
  // connection.
  RingQueue<Pending> pending_;
  std::size_t written_ = 0;
  std::size_t first_live_ = 0;  ///< before it are only such as were told "unknown"
  bool note_owed_ = false;      ///< the next answer is that to a note, which nobody waits for

  // The stream of the requests' bytes, counted since the beginning; the handshake's do not count.
  CommandBuffer greeting_, queued_, leaving_;
  bool leaving_greeting_ = false;
  std::uint64_t queued_end_ = 0;
  std::uint64_t sent_end_ = 0;

  TimePoint retry_at_{};      ///< down
  TimePoint settle_until_{};  ///< connecting and greeting
  TimePoint up_since_{};      ///< up
  TimePoint heard_at_{};      ///< up: when the last bytes came
  std::uint32_t attempts_ = 0;
  bool was_up_ = false;
  std::optional<Failure> trouble_, last_failure_;

  RingQueue<Ended> ended_;
  RingQueue<Note> notes_;
};

}  // namespace latchkey::detail::redis
