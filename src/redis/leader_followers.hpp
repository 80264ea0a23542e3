// Which of the driving threads reads for all of them.
#pragma once

#include <cstdint>

#include <latchkey/parker.hpp>

#include "redis/waiter.hpp"

namespace latchkey::detail::redis {

/// One thread inside drive.
struct WaitingThread {
  WaitingThread(Parker& its, FutexWaitSet& wait_set) noexcept : parker(its), waiter(wait_set) {}

  Parker& parker;
  Waiter waiter;
  /// How many requests had been submitted when this thread submitted its last: while that is not
  /// answered, the thread is *eager*; otherwise it waits for something that may be far away.
  std::uint64_t asked = 0;
  [[nodiscard]] bool awaits_reply(std::uint64_t answered) const noexcept {
    return asked > answered;
  }
  bool fresh = true;   ///< it has just come
  bool spins = false;  ///< it looks, yields, looks again (spinning.hpp)
  bool has_spun = false;
  bool alone = false;         ///< it spins, and its yields let nobody run
  bool polls = false;         ///< it sleeps in poll(2), or is about to
  std::uint64_t sockets = 0;  ///< polls: Outlook::sockets as it was when it looked what to poll for
  bool running = false;       ///< it has the role and does something
  bool looks = false;         ///< as the standby: from time to time
  std::uint64_t seen_arrivals = 0;
  WaitingThread* next = nullptr;
  WaitingThread* previous = nullptr;
};

/// One driver at a time has the role of the reader: it sleeps in poll(2), reads, and hands out what
/// came. The others sleep until their own parker is unparked or the role is passed to them. Pure
/// bookkeeping, under a mutex of its owner's.
///
/// * Before it sleeps, a driver may spin. Those who do take the role from each other, turn by turn,
///   so to pass it on costs nothing; only one that is alone on its processor keeps it.
/// * An eager driver does not wait for one that is not: it takes the role from it, without waking
///   it (both sleep in poll(2) then; the one that lost the role finds out when it wakes). So a call
///   costs one wake-up although a timer thread drives, too.
/// * A driver that leaves passes the role to an eager one, the latest first: its answer is the last
///   to come, so it keeps the role longest. A driver that was interrupted by what it delivered to
///   others and still waits for an answer is expected back and passes nothing.
/// * One that sleeps in poll(2) gets the role without being woken, unless connections have come
/// since
///   it fell asleep, for which it does not poll.
/// * Where no eager one is left but something is to come (answers, messages), the role goes to
///   another at once. Where nothing is, it is left lying: the next caller picks it up for nothing.
/// * One sleeper, the *standby*, looks from time to time while callers come and go. Once nobody has
///   come for a while it takes the role if that lies there or is with one that spins, or stops
///   looking if somebody else has it.
///   So whatever the guesses above missed, somebody reads soon, and an idle process sleeps.
class LeaderFollowers {
 public:
  /// How often the standby looks.
  static constexpr auto grace = std::chrono::milliseconds(5);

  void enter(WaitingThread& driver, std::uint64_t answered) noexcept;

  /// Has the driver the role now? `answered` is the number of requests answered so far.
  bool takes_leadership(WaitingThread& driver, std::uint64_t answered) noexcept;
  [[nodiscard]] bool is_leader(const WaitingThread& driver) const noexcept {
    return leader_ == &driver;
  }
  /// Shall the driver sleep no longer than `grace`?
  [[nodiscard]] bool looks(const WaitingThread& driver) const noexcept {
    return backup_leader_ == &driver && driver.looks;
  }

  /// The driver spins. Until `stops_spinning` it yields and takes turns.
  void begins_to_spin(WaitingThread& driver) noexcept;
  /// May the driver look now? It has the role then, at least until it yields.
  bool takes_turn(WaitingThread& driver) noexcept;
  void yields(WaitingThread& driver) noexcept { driver.running = false; }
  /// It leaves, has something to do as the reader, or `sleeps`.
  void stops_spinning(WaitingThread& driver, bool sleeps) noexcept;
  [[nodiscard]] bool somebody_spins() const noexcept { return spin_ > 0; }
  [[nodiscard]] std::uint32_t spinning() const noexcept { return spin_; }

  struct Outlook {
    std::uint64_t answered;
    bool more_to_come;  ///< answers or messages
    bool comes_back;    ///< the driver delivered something, and its own answer is yet to come
    /// Another number after each change of what there is to poll for.
    std::uint64_t sockets = 0;
  };
  /// The driver leaves drive. Passes the role on where that is called for: what is returned is to
  /// be done once the mutex is let go.
  [[nodiscard]] Parker::Wake leave(WaitingThread& driver, const Outlook& outlook) noexcept;

  /// Wakes the reader: there is something else to do than to wait for bytes.
  void call_leader() noexcept;

  /// In a forked child: they were the parent's threads.
  void forget() noexcept { *this = LeaderFollowers(); }

 private:
  /// It has the role and yielded: others may take it.
  static bool has_yielded(const WaitingThread& reader) noexcept {
    return reader.spins && !reader.running;
  }
  [[nodiscard]] bool somebody_looks() const noexcept {
    return backup_leader_ != nullptr && backup_leader_->looks;
  }
  [[nodiscard]] Parker::Wake pass_to(WaitingThread& driver) noexcept;

  WaitingThread* first_ = nullptr;  ///< the one that came last
  WaitingThread* leader_ = nullptr;
  WaitingThread* backup_leader_ = nullptr;
  std::uint64_t arrivals_ = 0;
  std::uint32_t spin_ = 0;
  bool called_ = false;  ///< the reader, while those who spin had the role
};

}  // namespace latchkey::detail::redis
