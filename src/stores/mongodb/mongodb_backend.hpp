// Locks in a collection of latchkey's own layout.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/simple_backend.hpp>

#include <atomic>
#include <string>

#include "stores/mongodb/client_pool.hpp"
#include "stores/mongodb/commands.hpp"
#include "stores/mongodb/failure.hpp"
#include "stores/mongodb/lock_operations.hpp"
#include "stores/mongodb/uri.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// The parts that both layouts share: the clients, failures, fork.
class MongoBackend : public SimpleBackend {
 public:
  MongoBackend(Settings settings, Clock& clock);

  [[nodiscard]] std::string describe() const override { return pool_.settings().description; }

  /// Why the server could not be used when the Locks were made.
  [[nodiscard]] std::string warning() const override { return warning_; }

  /// Throws BackendRefused and, unless `may_be_absent`, BackendUnavailable. A server that was
  /// absent is checked before the first request that it answers.
  void start(bool may_be_absent);

 protected:
  /// Calls `work(commands)`, which returns an Answer, and makes its outcome.
  template <class Work>
  [[nodiscard]] Outcome attempt(Work&& work);
  [[nodiscard]] static Outcome outcome_of(Answer&& answer);
  [[nodiscard]] ClientPool& pool() noexcept { return pool_; }

  /// Called after the server was found good, perhaps by several threads.
  virtual void clean_up(Commands& /*commands*/) {}

  void forked() noexcept override { pool_.forget_clients(); }

 private:
  /// Checks that the server can keep locks, until it was found good once.
  void check(Commands& commands);

  ClientPool pool_;
  std::string warning_;
  std::atomic<bool> checked_ = false;
};

/// REENTRANT, READ, WRITE and FENCED on documents as in lock_document.hpp.
class DocumentBackend final : public MongoBackend {
 public:
  using MongoBackend::MongoBackend;

  [[nodiscard]] Capabilities capabilities() const noexcept override;

 protected:
  void clean_up(Commands& commands) override { remove_ended_holds(commands); }
  Outcome acquire(const Request& request) override;
  Outcome renew(const Request& request) override;
  Outcome verify(const Request& request) override;
  Outcome downgrade(const Request& request) override;
  Outcome release(const Request& request) override;
  Outcome leave(const Request& request) override;
  Outcome inspect(const Request& request) override;
  Outcome list(const Request& request) override;
  Outcome force_release(const Request& request) override;
};

template <class Work>
Outcome MongoBackend::attempt(Work&& work) {
  bool begun = false;
  try {
    Commands commands(pool_);
    check(commands);
    begun = true;
    return outcome_of(work(commands));
  } catch (const NoAnswer& failure) {
    Outcome outcome;
    outcome.reason = failure.what();
    outcome.never_ran = !begun || !failure.may_have_run();
    return outcome;
  } catch (const Rejected& failure) {
    throw Refused(failure.what());
  }
}

}  // namespace latchkey::inline v1::detail::mongodb
