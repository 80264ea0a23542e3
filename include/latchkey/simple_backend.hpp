// A backend made of three blocking functions: the page for a store of your own.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <latchkey/backend.hpp>

namespace latchkey {

/// Derive from it, write `acquire`, `renew` and `release` for your store, and everything else of
/// latchkey works over it: queues, re-entry, watchdog, LOCKED. Waiters poll, since nobody tells
/// them.
///
///     class SqlLocks final : public latchkey::SimpleBackend {
///      public:
///       explicit SqlLocks(std::string dsn) : database_(std::move(dsn)) {}
///       std::string describe() const override { return "sql:" + database_.name(); }
///
///      protected:
///       // insert or take over a row whose lease has ended; also for its own holder
///       latchkey::Outcome acquire(const latchkey::Request& ask) override {
///         const bool mine = database_.run(
///             "INSERT INTO locks (name, owner, ends) VALUES (?, ?, now() + ?) "
///             "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, "
///             "  ends = greatest(locks.ends, excluded.ends) "
///             "WHERE locks.owner = excluded.owner OR locks.ends <= now()",
///             ask.key, ask.id.text(), ask.lease) == 1;
///         return mine ? granted() : busy();
///       }
///       latchkey::Outcome renew(const latchkey::Request& ask) override {
///         return granted_if(database_.run(
///             "UPDATE locks SET ends = greatest(ends, now() + ?) "
///             "WHERE name = ? AND owner = ? AND ends > now()",
///             ask.lease, ask.key, ask.id.text()) == 1);
///       }
///       latchkey::Outcome release(const latchkey::Request& ask) override {
///         return granted_if(database_.run(
///             "DELETE FROM locks WHERE name = ? AND owner = ? AND ends > now()",
///             ask.key, ask.id.text()) == 1);
///       }
///
///      private:
///       Database database_;  // a pool: functions for different keys run at once
///     };
///
///     latchkey::Locks locks{std::make_unique<SqlLocks>("bank")};
///
/// **What your functions may rely on.** Requests of one key are attempted in the order of their
/// submission, and never two at once. Those of different keys run at once, on whichever threads
/// drive: what they share, you guard. No mutex of latchkey is held meanwhile. A request and its key
/// stay as they are until the function returns.
///
/// **What they must do.** One attempt, bounded in time (Options::command_timeout is a good bound):
/// the calling thread waits for it. Never wait for a busy lock, and never retry. A hold belongs to
/// (key, id) and nobody else ends it before its lease; latchkey never uses an id again after its
/// release. Time is the store's own.
///
/// **Exceptions** mean that nobody can tell: the outcome is `unknown`, with what() as its text, and
/// the request may have run. `Refused` means that the store has said no.
///
/// The contract suite (latchkey/testing/backend_contract.hpp) says whether you got it right.
class SimpleBackend : public Backend {
 public:
  /// The store says no: a permission, a wrong type. `reason`: a clause without a full stop.
  class Refused : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// `clock`: that of the Options of the Locks over it.
  explicit SimpleBackend(Clock& clock = Clock::system());
  ~SimpleBackend() override;

  /// REENTRANT only. Override it where your functions look at Request::type, and name what they
  /// can do; `pushes` and `one_step` stay as they are.
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }

  void submit(std::span<Request* const> requests, Sink& sink) final;
  void drive(Parker& parker, Clock::time_point until) final;
  void forget_parent() noexcept final;

 protected:
  /// Grants the key to `id` for `lease`, or says busy. Asked again by a holder: granted, its lease
  /// starts anew, its fencing token stays.
  virtual Outcome acquire(const Request& request) = 0;
  /// The lease of `id` ends in `lease` from now, but never earlier than it did before; gone where
  /// `id` does not hold.
  virtual Outcome renew(const Request& request) = 0;
  /// `id` holds no longer; gone where it did not.
  virtual Outcome release(const Request& request) = 0;

  /// Does `id` still hold? Changes nothing. The default believes the lease and says granted without
  /// asking: what ends a hold early is then not noticed before its lease ends.
  virtual Outcome verify(const Request& request);
  /// `id` gives up an acquire, whatever came of it. Write it where FAIR has a queue, and where
  /// release tells WRITE from READ: a WRITE that is left may be a READ by then. The default
  /// releases.
  virtual Outcome leave(const Request& request);
  /// The WRITE of `id` becomes a READ. Write it where READ and WRITE are offered; the default
  /// refuses.
  virtual Outcome downgrade(const Request& request);
  /// Fill `*request.info`, append to `*request.names`, end all holds. Write them where
  /// `administration` is offered; the defaults refuse.
  virtual Outcome inspect(const Request& request);
  virtual Outcome list(const Request& request);
  virtual Outcome force_release(const Request& request);

  /// In a forked child, before anything else is called: close what the parent uses, without a byte
  /// to the store. Holds are the parent's.
  virtual void forked() noexcept {}

  /// Outcomes in words.
  [[nodiscard]] static Outcome granted(std::uint64_t fencing_token = 0);
  [[nodiscard]] static Outcome granted_if(bool held);  ///< gone otherwise
  [[nodiscard]] static Outcome busy(
      std::optional<std::chrono::milliseconds> retry_after = std::nullopt, std::string holder = {});
  [[nodiscard]] static Outcome gone();

 private:
  class Queue;

  Outcome attempt(const Request& request) noexcept;
  Outcome call(const Request& request);

  Clock& clock_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace latchkey
