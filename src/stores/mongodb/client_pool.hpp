// The clients of one backend: each is one connection and is used by one thread at a time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mongoc/mongoc.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/at_fork.hpp"
#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "stores/mongodb/uri.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// Starts libmongoc. Idempotent and thread-safe. The library is never ended, because the program
/// may use it, too.
void start_library();

/// Around every use of a client. libmongoc has locks for the whole process that a fork knows
/// nothing of: the child would wait for ever for one that another thread held. So a fork waits
/// until no thread is inside, for command_timeout at most, and keeps others out meanwhile.
class InsideLibrary {
 public:
  InsideLibrary() noexcept;
  InsideLibrary(const InsideLibrary&) = delete;
  InsideLibrary& operator=(const InsideLibrary&) = delete;
  ~InsideLibrary();
};

/// A connection. libmongoc calls such a client single-threaded: it starts no thread.
class Client {
 public:
  Client(const Settings& settings, std::uint64_t generation);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  [[nodiscard]] mongoc_client_t& get() noexcept { return *client_; }
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

  /// For the child after a fork: closes the connection without sending a byte. A TLS connection
  /// would send its end, so its socket stays open.
  static void forget(std::unique_ptr<Client> client, bool tls) noexcept;

 private:
  mongoc_client_t* client_;
  const std::uint64_t generation_;
};

/// Thread-safe; locked during a fork.
class ClientPool final : private ForkParticipant {
 public:
  explicit ClientPool(Settings settings);
  ClientPool(const ClientPool&) = delete;
  ClientPool& operator=(const ClientPool&) = delete;
  ~ClientPool();

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }

  [[nodiscard]] std::unique_ptr<Client> take();
  /// Without memory to keep it, the connection ends.
  void give_back(std::unique_ptr<Client> client) noexcept;
  /// A connection broke: those that are idle now are not used again either.
  void discard(std::unique_ptr<Client> broken) noexcept;
  /// For the child after a fork. The parent's clients that were in use then are leaked.
  void forget_clients() noexcept;

 private:
  void prepare() noexcept override LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void parent() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void child() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }

  const Settings settings_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Client>> idle_ LATCHKEY_GUARDED_BY(mutex_);
  std::uint64_t generation_ LATCHKEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace latchkey::inline v1::detail::mongodb
