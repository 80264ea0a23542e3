// SimpleBackend: the base class for a backend of your own, made of three blocking functions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <latchkey/backend.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Derive from it and write `acquire`, `renew` and `release` for your store. Everything else of
/// latchkey works over it: queues, re-entry, watchdog, LOCKED. Waiters poll, because there are no
/// notifications.
///
///     class SqlLocks final : public latchkey::SimpleBackend {
///      public:
///       explicit SqlLocks(std::string dsn) : database_(std::move(dsn)) {}
///       std::string describe() const override { return "sql:" + database_.name(); }
///
///      protected:
///       // insert or take over a row whose lease has ended; also for its own holder
///       latchkey::Outcome acquire(const latchkey::Request& request) override {
///         const bool mine = database_.run(
///             "INSERT INTO locks (name, owner, ends) VALUES (?, ?, now() + ?) "
///             "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, "
///             "  ends = greatest(locks.ends, excluded.ends) "
///             "WHERE locks.owner = excluded.owner OR locks.ends <= now()",
///             request.key, request.id.text(), request.lease) == 1;
///         return mine ? granted() : busy();
///       }
///       latchkey::Outcome renew(const latchkey::Request& request) override {
///         return granted_if(database_.run(
///             "UPDATE locks SET ends = greatest(ends, now() + ?) "
///             "WHERE name = ? AND owner = ? AND ends > now()",
///             request.lease, request.key, request.id.text()) == 1);
///       }
///       latchkey::Outcome release(const latchkey::Request& request) override {
///         return granted_if(database_.run(
///             "DELETE FROM locks WHERE name = ? AND owner = ? AND ends > now()",
///             request.key, request.id.text()) == 1);
///       }
///
///      private:
///       Database database_;  // a pool: functions for different keys run at once
///     };
///
///     latchkey::Locks locks{std::make_unique<SqlLocks>("bank")};
///
/// **What your functions may rely on.** Requests of one key are attempted in the order of their
/// submission, and never two at once. Requests of different keys run at the same time, on the
/// threads that drive: your functions guard the data that they share. No mutex of latchkey is held
/// during a call. A request and its key do not change until the function returns.
///
/// **What your functions must do.** Make one attempt of bounded duration (Options::command_timeout
/// is a good bound): the calling thread waits for it. Never wait for a busy lock, and never retry.
/// A hold belongs to (key, id), and nobody else ends it before its lease ends; latchkey never uses
/// an id again after its release. The store's own clock measures leases.
///
/// **Exceptions** mean that the result is not known: the outcome is `unknown`, with what() as its
/// text, and the request may have run. `Refused` means that the store rejected the request.
///
/// The contract suite (latchkey/testing/backend_contract.hpp) verifies your backend.
class SimpleBackend : public Backend {
 public:
  /// The store rejects the request: a permission, a wrong type. `reason`: a clause without a full
  /// stop.
  class Refused : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// `clock`: the clock in the Options of the Locks that use this backend.
  explicit SimpleBackend(Clock& clock = Clock::system());
  ~SimpleBackend() override;

  /// The default offers REENTRANT only. Override it if your functions handle Request::type, and
  /// list what they support; `pushes` and `one_step` must keep their defaults.
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }

  void submit(std::span<Request* const> requests, Sink& sink) final;
  void drive(Parker& parker, Clock::time_point until) final;
  void forget_parent() noexcept final;
  [[nodiscard]] std::unique_ptr<LoopDriver> make_loop_driver() final;
  [[nodiscard]] bool attempts_block() const noexcept final { return true; }

 protected:
  /// Grants the key to `id` for `lease`, or returns busy. Repeated by a holder: granted, the lease
  /// starts anew, the fencing token stays.
  virtual Outcome acquire(const Request& request) = 0;
  /// The lease of `id` ends in `lease` from now, but never earlier than before; gone if `id` does
  /// not hold.
  virtual Outcome renew(const Request& request) = 0;
  /// Ends the hold of `id`; gone if `id` did not hold.
  virtual Outcome release(const Request& request) = 0;

  /// Checks whether `id` still holds; changes nothing. The default relies on the lease and returns
  /// granted without a query: a hold that ends early is then not noticed before its lease ends.
  virtual Outcome verify(const Request& request);
  /// `id` gives up an acquire, whatever its outcome. Override it if FAIR has a queue, and if
  /// release distinguishes WRITE from READ: a WRITE may have become a READ by then. The default
  /// calls release.
  virtual Outcome leave(const Request& request);
  /// The WRITE of `id` becomes a READ. Override it if you offer READ and WRITE; the default returns
  /// refused.
  virtual Outcome downgrade(const Request& request);
  /// Fill `*request.info`, append to `*request.names`, end all holds. `list` may ignore
  /// `request.part` and list everything. Override them if you offer `administration`; the defaults
  /// return refused.
  virtual Outcome inspect(const Request& request);
  virtual Outcome list(const Request& request);
  virtual Outcome force_release(const Request& request);

  /// Called in a forked child before anything else: close what the parent uses, without sending a
  /// byte to the store. Holds belong to the parent.
  virtual void forked() noexcept {}

  /// Functions that make outcomes.
  [[nodiscard]] static Outcome granted(std::uint64_t fencing_token = 0);
  [[nodiscard]] static Outcome granted_if(bool held);  ///< gone otherwise
  [[nodiscard]] static Outcome busy(
      std::optional<std::chrono::milliseconds> retry_after = std::nullopt, std::string holder = {});
  [[nodiscard]] static Outcome gone();

 private:
  struct Job;
  struct Lane;
  class Loop;
  class Queue;

  void run(Lane& lane, const Job& job) noexcept;
  Outcome attempt(const Request& request) noexcept;
  Outcome call(const Request& request);

  Clock& clock_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
