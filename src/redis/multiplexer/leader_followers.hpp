// Chooses the one waiting thread that reads for all of them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

#include "redis/multiplexer/futex_wait_set.hpp"

namespace latchkey::inline v1::detail::redis {

/// A thread that waits in a ConnectionMultiplexer. LeaderFollowers decides which one leads; the
/// state says what the thread itself does. Only calls of LeaderFollowers by the thread itself
/// change its state, so another thread can become or cease to be the leader without a change of
/// state.
///
/// | event             | from                         | to                                  |
/// |-------------------|------------------------------|-------------------------------------|
/// | enter             |                              | entering                            |
/// | try_lead          | entering, following, leading | leading if it leads, else following |
/// | begin_poll        | leading                      | polling                             |
/// | end_poll          | polling                      | leading if it still leads, else     |
/// |                   |                              | following                           |
/// | begin_spin        | following, leading           | spinning                            |
/// | try_lead_spinning | spinning                     | spinning_leader if it leads         |
/// | begin_yield       | spinning, spinning_leader    | spinning                            |
/// | end_spin          | spinning                     | following                           |
/// |                   | spinning_leader              | leading                             |
/// | end_spin_to_sleep | spinning, spinning_leader    | leading if it leads, else following |
/// | leave             | every state                  |                                     |
struct WaitingThread {
  enum class State : std::uint8_t {
    entering,         ///< it has not tried to lead yet
    following,        ///< it waits for its parker, or to become the leader
    leading,          ///< it is the leader and works: it reads, delivers and sends
    polling,          ///< it sleeps in poll(2), or is about to; it is the leader or was before
    spinning,         ///< it yields the processor between two attempts to lead
    spinning_leader,  ///< it spins, and works as the leader until its next yield
  };

  WaitingThread(Parker& own_parker, FutexWaitSet& wait_set) noexcept
      : parker(own_parker), waiter(wait_set) {}

  /// Its last request is under way. Other threads wait for events that may be far away.
  [[nodiscard]] bool awaits_reply(std::uint64_t answered) const noexcept {
    return last_request > answered;
  }
  [[nodiscard]] bool is_spinning() const noexcept {
    return state == State::spinning || state == State::spinning_leader;
  }
  [[nodiscard]] bool is_busy_leading() const noexcept {
    return state == State::leading || state == State::spinning_leader;
  }

  Parker& parker;
  Waiter waiter;
  State state = State::entering;
  /// It stands for an event loop, which polls the descriptors together with others and may be late.
  bool event_loop = false;
  /// Spinning: the last yield let no other thread run, so nobody else needs this processor.
  bool alone = false;
  /// How many requests all threads had submitted after the last one of this thread.
  std::uint64_t last_request = 0;
  /// Polling: the reactor's generation at the time when the descriptors were collected, and when
  /// the thread wakes at the latest.
  std::uint64_t polled_generation = 0;
  Clock::time_point polls_until{};
  /// How many threads that await a reply had entered when this one last tried to lead.
  std::uint64_t seen_arrivals = 0;
  WaitingThread* next = nullptr;      ///< entered before this one
  WaitingThread* previous = nullptr;  ///< entered after this one
};

/// Leader/followers (POSA2) among the threads that wait in a ConnectionMultiplexer: the *leader*
/// sleeps in poll(2), reads, and delivers replies to all threads; *followers* sleep until their own
/// parker is unparked or they become the leader. It does no I/O; its owner's mutex guards it.
///
/// * A thread may spin before it sleeps. Spinning threads take leadership from each other at every
///   yield, so passing it on costs nothing. Only a thread that is alone on its processor keeps it.
/// * A thread that awaits a reply does not wait for a leader that does not: it takes leadership
///   without waking the old leader. Both sleep in poll(2) then, and the old leader notices when it
///   wakes. So a call costs one wake-up although a timer thread waits as well.
/// * A leader that leaves passes leadership to a thread that awaits a reply, the newest first: its
///   reply is the last to arrive, so it leads longest. A leader that leaves because it delivered
///   events to others, and awaits a reply itself, is expected to return and passes nothing.
/// * A thread that sleeps in poll(2) becomes leader without being woken, unless connections have
///   changed since it fell asleep, which it does not poll, or work is due before it wakes.
/// * If no thread awaits a reply but replies or messages are expected, another thread leads at
///   once, also when a request with Request::recall is sent. If nothing is expected, leadership
///   stays vacant: the next caller takes it at no cost.
/// * An event loop counts as a thread that sleeps in poll(2). It leads if no thread awaits a reply,
///   and any thread that does takes over: a loop may be busy with something else. So does the
///   backup leader, once the loop has not come for a period.
/// * One follower, the *backup leader*, wakes up periodically while callers come and go. Once no
///   caller has come for a period, it takes over a leadership that is vacant or held by a spinning
///   thread, and stops watching if another thread leads. So events that the rules above missed are
///   read soon, and an idle process sleeps.
class LeaderFollowers {
 public:
  /// The period of the backup leader.
  static constexpr auto backup_period = std::chrono::milliseconds(5);

  /// The thread takes part until `leave`. `answered` is the number of requests answered so far.
  void enter(WaitingThread& thread, std::uint64_t answered) noexcept;

  /// True: the thread is the leader now.
  bool try_lead(WaitingThread& thread, std::uint64_t answered) noexcept;
  [[nodiscard]] bool is_leader(const WaitingThread& thread) const noexcept {
    return leader_ == &thread;
  }
  /// The thread must not sleep longer than `backup_period`.
  [[nodiscard]] bool watches_as_backup(const WaitingThread& thread) const noexcept {
    return backup_leader_ == &thread && backup_watches_;
  }

  /// The leader sleeps in poll(2) until then, for the descriptors of this generation.
  void begin_poll(WaitingThread& thread, std::uint64_t generation,
                  Clock::time_point until) noexcept;
  /// True: the thread is still the leader, or has become it again.
  bool end_poll(WaitingThread& thread) noexcept;

  /// Until `end_spin` or `end_spin_to_sleep` the thread alternates between a yield and
  /// `try_lead_spinning`.
  void begin_spin(WaitingThread& thread) noexcept;
  /// True: the thread is the leader, at least until its next yield.
  bool try_lead_spinning(WaitingThread& thread) noexcept;
  void begin_yield(WaitingThread& thread) noexcept;
  /// `alone`: no other thread ran during the yield.
  void end_yield(WaitingThread& thread, bool alone) noexcept { thread.alone = alone; }
  /// The thread leaves, or has work to do as the leader.
  void end_spin(WaitingThread& thread) noexcept;
  void end_spin_to_sleep(WaitingThread& thread) noexcept;
  [[nodiscard]] std::uint32_t spinning_threads() const noexcept { return spinning_threads_; }

  struct LeaveContext {
    std::uint64_t answered;
    bool more_expected;             ///< replies or messages are to come
    bool will_return;               ///< the thread delivered events, and its own reply is to come
    std::uint64_t generation;       ///< identifies the descriptors that a leader has to poll
    Clock::time_point work_is_due;  ///< when a leader has something to do besides reading
  };
  /// The thread leaves, and leadership passes on if necessary. The caller carries out the result
  /// after it has released the mutex.
  [[nodiscard]] Parker::Wake leave(WaitingThread& thread, const LeaveContext& context) noexcept;

  /// A request was sent whose thread may not wait for the reply: without a leader, another thread
  /// becomes it. The caller carries out the result after it has released the mutex.
  [[nodiscard]] Parker::Wake fill_vacancy(const LeaveContext& context) noexcept;

  /// Wakes the leader because there is work besides reading.
  void interrupt_leader() noexcept;

  /// In a forked child: the threads were the parent's.
  void forget() noexcept { *this = LeaderFollowers(); }

 private:
  [[nodiscard]] bool takes_over(const WaitingThread& thread, bool quiet,
                                std::uint64_t answered) const noexcept;
  [[nodiscard]] bool has_watching_backup() const noexcept {
    return backup_leader_ != nullptr && backup_watches_;
  }
  void become_leader(WaitingThread& thread) noexcept;
  void become_watching_backup(WaitingThread& thread) noexcept;
  void remove(WaitingThread& thread) noexcept;
  [[nodiscard]] bool is_vacant() const noexcept {
    return leader_ == nullptr && newest_ != nullptr && spinning_threads_ == 0;
  }
  [[nodiscard]] Parker::Wake pass_leadership(const LeaveContext& context) noexcept;
  [[nodiscard]] Parker::Wake promote(WaitingThread& thread) noexcept;

  WaitingThread* newest_ = nullptr;
  WaitingThread* leader_ = nullptr;
  WaitingThread* backup_leader_ = nullptr;
  bool backup_watches_ = false;  ///< the backup leader wakes up periodically
  bool interrupted_ = false;     ///< the next spinning thread to lead has work besides reading
  std::uint32_t spinning_threads_ = 0;
  std::uint64_t arrivals_ = 0;  ///< threads that entered to await a reply, and steps of event loops
};

}  // namespace latchkey::inline v1::detail::redis
