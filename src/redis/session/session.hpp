// The conversation with one Redis server, without socket, thread, mutex or clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/cluster/slots.hpp"
#include "redis/failure.hpp"
#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/reply_reader.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/session/delivery.hpp"
#include "redis/session/handshake.hpp"
#include "redis/session/in_flight_command.hpp"
#include "redis/session/ring_queue.hpp"
#include "redis/session/session_records.hpp"
#include "redis/session/subscriptions.hpp"

namespace latchkey::detail::redis {

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
/// connection, in its place. All have a deadline at which they end as unknown, wherever they are;
/// while the connection is known to be down, questions (requests.hpp) end after 250 ms, and at once
/// where nothing listens at the address or what does has refused us.
/// An answer that comes later is read and dropped, in its place in the order.
class Session {
 public:
  struct Settings {
    Handshake::Login login;
    /// How long a command, or a way to a connection that has settled, may take.
    std::chrono::milliseconds timeout = std::chrono::seconds(2);
    ChannelSettings wire{};
    std::uint64_t seed = 0;  ///< of the jitter between attempts to connect
    /// How many replicas must confirm a grant, a renewal and a downgrade; 0: nobody is asked.
    int min_replicas = 0;
    RedisUri::Endpoint place{};  ///< in a cluster: where this node is
  };
  enum class Stage : std::uint8_t { down, connecting, greeting, up };
  using TimePoint = Clock::time_point;

  /// Throws std::bad_alloc.
  explicit Session(Settings settings);

  // --- requests ---
  /// All of them or, where it throws std::bad_alloc, none.
  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now);
  /// The next `count` requests of the sink need no memory. Throws std::bad_alloc.
  void make_room(std::size_t count, Sink& sink);
  /// One that another node sent here, or that waited for another. `asking`: for this once.
  void submit_again(const QueuedRequest& request, bool asking, TimePoint now);

  // --- of a cluster ---
  /// Asks which node has which keys, where there is a connection.
  void ask_slots(TimePoint now);
  /// Takes the requests out of a link that has no connection of which `moves(*request)` is true.
  template <class Moves>
  [[nodiscard]] std::vector<QueuedRequest> take_unsent(Moves&& moves);
  /// Each channel to `link_of(name)`, unless that is this link, or null.
  template <class LinkOf>
  void move_channels(LinkOf&& link_of, TimePoint now);
  /// Who asked `old`, which serves nobody any more, may have lost something.
  void inherit(const Session& old);
  /// Something is asked and not answered, for a while already.
  [[nodiscard]] bool is_silent(TimePoint now) const noexcept { return now >= silent_at(); }
  [[nodiscard]] TimePoint silent_at() const noexcept;
  /// The connection shall end.
  void retire() noexcept;
  /// Whether keys are here. Nobody is told of the loss of a node that has none.
  void serves(bool serves) noexcept;

  // --- the connection ---
  [[nodiscard]] bool wants_connection(TimePoint now) const noexcept {
    return stage_ == Stage::down && now >= retry_at_;
  }
  /// Somebody waits for one: the next attempt is made soon.
  void want(TimePoint now) noexcept;
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
  [[nodiscard]] bool is_working() const noexcept;
  /// Bytes that the server has before it, behind the command that it works on.
  [[nodiscard]] std::size_t backlog() const noexcept;
  /// Bytes that wait to be sent.
  [[nodiscard]] std::size_t unsent() const noexcept;

  // --- time ---
  void tick(TimePoint now) noexcept;
  /// When the next tick is due.
  [[nodiscard]] TimePoint due() const noexcept;

  // --- what sinks are to be told ---
  /// False: nothing now.
  bool next(Delivery& delivery) noexcept;

  // --- questions ---
  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] std::size_t unanswered() const noexcept {
    return pending_.size() + unconfirmed_.size();
  }
  /// `next` has something, whatever the server does.
  [[nodiscard]] bool has_news() const noexcept { return !ended_.empty() || !notes_.empty(); }
  /// The connection carried an answer.
  [[nodiscard]] bool was_answered() const noexcept { return handshake_.answered_anything(); }
  [[nodiscard]] bool listens() const noexcept { return !subscriptions_.empty(); }
  /// Which node of a cluster it is; empty: there is one server.
  [[nodiscard]] const std::string& server() const noexcept { return server_; }
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
  using Ended = SessionRecords::Ended;
  using UnconfirmedGrant = SessionRecords::UnconfirmedGrant;
  using UnreplicatedRelease = SessionRecords::UnreplicatedRelease;
  using Note = SessionRecords::Note;

  // requests (link.cpp)
  void enqueue(const QueuedRequest& request, bool asking) noexcept;
  void hurry(TimePoint now) noexcept;
  void write(InFlightCommand& pending) noexcept;
  void write_ask(InFlightCommand& pending);
  void write_all() noexcept;
  void end(InFlightCommand& pending, Outcome::Kind kind, std::string_view text,
           bool never_ran = false) noexcept;
  void end(Request* request, Sink* sink, Outcome::Kind kind, std::string_view text,
           bool never_ran = false) noexcept;
  void tell_all(Notification::Kind kind, std::string_view why = {}) noexcept;

  // without a connection (link_waiting.cpp)
  [[nodiscard]] TimePoint end_of(const InFlightCommand& pending) const noexcept;
  void end_waiting(TimePoint now) noexcept;
  void end_questions() noexcept;
  void end_unsent(InFlightCommand& pending) noexcept;

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
  bool channels_answered(const redisReply& reply, InFlightCommand& pending, Delivery& delivery);
  bool script_answered(const redisReply& reply, InFlightCommand& pending, Delivery& delivery);
  void channels_refused(const InFlightCommand& pending);
  void ask_again(InFlightCommand& pending, InFlightCommand::Ask ask, std::uint64_t cursor);
  [[nodiscard]] bool overtaken(const InFlightCommand& pending) const noexcept;
  void greet(const redisReply& reply);
  void hear(const redisReply& push);
  void dropped(const std::string& channel);
  void tell_released(const std::vector<Subscriptions::Listener>& listeners);

  // replicas (link_replicas.cpp)
  [[nodiscard]] bool wants_replicas(Verb verb) const noexcept;
  void ask_replicas();
  void replicas_answered(const redisReply& reply);
  void settle(const UnconfirmedGrant& one, std::string_view why) noexcept;
  void give_up_unconfirmed(std::string_view why, TimePoint overdue_at) noexcept;
  void keep_in_mind(const Request& release);
  void release_once_more();

  // one node of several, and the link's own questions (link_cluster.cpp)
  void joined_cluster();
  bool redirected_by(std::string_view error, InFlightCommand& pending, Delivery& delivery);
  bool own_answered(const redisReply& reply, InFlightCommand& pending, Delivery& delivery);
  bool own_channel_answered(const redisReply& reply, InFlightCommand& pending, Delivery& delivery);
  void ask_own(InFlightCommand::Ask ask, Verb verb, std::string_view channel, TimePoint now,
               const Request* release = nullptr);
  void take_in(Subscriptions::Channel channel, TimePoint now);
  void leave(const std::vector<Subscriptions::Channel>& channels, TimePoint now);
  void ask_what_is_due(TimePoint now);
  void ask_once_more(const std::string& channel);
  [[nodiscard]] TimePoint unanswered_channels_due() const noexcept;
  [[nodiscard]] TimePoint ping_at() const noexcept;

  const Settings settings_;
  std::minstd_rand chance_;
  Stage stage_ = Stage::down;
  Handshake handshake_;
  ReplyReader reader_;
  Subscriptions subscriptions_;
  const std::string server_;  ///< which node of a cluster it is; empty: there is one server
  bool serves_ = true;
  std::vector<Sink*> sinks_;  ///< all that ever submitted; one, as a rule

  // Of `pending_` the first `written_` are commands in the stream, the others wait for a
  // connection.
  RingQueue<InFlightCommand> pending_;
  std::size_t written_ = 0;
  std::size_t first_live_ = 0;  ///< before it are only such as were told "unknown"
  bool note_owed_ = false;      ///< the next answer is that to a note, which nobody waits for
  std::vector<UnconfirmedGrant> unconfirmed_;
  bool replicas_wanted_ = false;   ///< by something that no WAIT is behind
  bool replicas_asked_ = false;    ///< a WAIT is under way
  bool replicas_missing_ = false;  ///< the last one was in vain
  TimePoint long_wait_at_{};       ///< then: when one may last its whole time again
  std::chrono::milliseconds replica_wait_{};
  std::deque<UnreplicatedRelease> unreplicated_releases_;
  std::vector<std::string> unanswered_channels_;  ///< channels to be asked for, or left, once more
  TimePoint unanswered_channels_at_{};
  ChannelSettings wire_;

  // The stream of the requests' bytes, counted since the beginning; the handshake's do not count.
  CommandBuffer greeting_, queued_, leaving_;
  bool leaving_greeting_ = false;
  std::uint64_t queued_end_ = 0;
  std::uint64_t sent_end_ = 0;

  TimePoint retry_at_{};                    ///< down
  TimePoint failed_at_{};                   ///< the last attempt, or the connection
  TimePoint down_since_{};                  ///< where there is a last failure
  TimePoint wanted_until_{};                ///< somebody asked in vain lately, and may ask again
  TimePoint waiting_due_ = Clock::never();  ///< not up: no request ends before this
  TimePoint settle_until_{};                ///< connecting and greeting
  TimePoint up_since_{};                    ///< up
  TimePoint heard_at_{};                    ///< up: when the last bytes came
  std::uint32_t attempts_ = 0;
  bool was_up_ = false;
  TimePoint now_{};  ///< as far as it was told
  std::optional<Failure> trouble_, last_failure_;

  RingQueue<Ended> ended_;
  RingQueue<Note> notes_;
};

}  // namespace latchkey::detail::redis
