// The clients of one backend: each is one connection and is used by one thread at a time.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/client_pool.hpp"

#include <pthread.h>

#include <mutex>
#include <new>
#include <utility>

#include "core/never_destroyed.hpp"

namespace latchkey::inline v1::detail::mongodb {

namespace {

/// Threads inside libmongoc hold it together, and a fork alone, before those that come later. It is
/// taken after the mutexes of the pools.
class LibraryGate final : private ForkParticipant {
 public:
  static LibraryGate& the() {
    static NeverDestroyed<LibraryGate> gate;
    return gate.get();
  }
  void enter() noexcept { ::pthread_rwlock_rdlock(&lock_); }
  void leave() noexcept { ::pthread_rwlock_unlock(&lock_); }

 private:
  friend class NeverDestroyed<LibraryGate>;
  LibraryGate() { register_fork_participant(ForkLevel::core, *this); }

  void prepare() noexcept override { ::pthread_rwlock_wrlock(&lock_); }
  void parent() noexcept override { ::pthread_rwlock_unlock(&lock_); }
  // Those who wait for it are threads of the parent.
  void child() noexcept override { lock_ = unused; }

  static constexpr pthread_rwlock_t unused = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  pthread_rwlock_t lock_ = unused;
};

mongoc_client_t* make_client(const Settings& settings) {
  const InsideLibrary inside;
  return ::mongoc_client_new_from_uri(settings.uri.get());
}

}  // namespace

void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    static_cast<void>(LibraryGate::the());
    ::mongoc_init();
  });
}

InsideLibrary::InsideLibrary() noexcept { LibraryGate::the().enter(); }

InsideLibrary::~InsideLibrary() { LibraryGate::the().leave(); }

Client::Client(const Settings& settings, std::uint64_t generation)
    : client_(make_client(settings)), generation_(generation) {
  if (client_ == nullptr) throw std::bad_alloc();
  ::mongoc_client_set_error_api(client_, MONGOC_ERROR_API_VERSION_2);
}

// After a reset libmongoc sends no endSessions, which would wait for a server that does not answer,
// and which would be the parent's in a forked child. The server ends sessions by itself.
Client::~Client() {
  const InsideLibrary inside;
  ::mongoc_client_reset(client_);
  ::mongoc_client_destroy(client_);
}

void Client::forget(std::unique_ptr<Client> client, bool tls) noexcept {
  if (tls) static_cast<void>(client.release());
}

ClientPool::ClientPool(Settings settings) : settings_(std::move(settings)) {
  register_fork_participant(ForkLevel::backend, *this);
}

ClientPool::~ClientPool() { unregister_fork_participant(*this); }

std::unique_ptr<Client> ClientPool::take() {
  std::uint64_t generation = 0;
  {
    const ScopedLock lock(mutex_);
    if (!idle_.empty()) {
      auto client = std::move(idle_.back());
      idle_.pop_back();
      return client;
    }
    generation = generation_;
  }
  return std::make_unique<Client>(settings_, generation);
}

void ClientPool::give_back(std::unique_ptr<Client> client) noexcept {
  const ScopedLock lock(mutex_);
  if (client->generation() != generation_) return;
  try {
    idle_.push_back(std::move(client));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void ClientPool::discard(std::unique_ptr<Client> broken) noexcept {
  std::vector<std::unique_ptr<Client>> all;
  {
    const ScopedLock lock(mutex_);
    if (broken->generation() == generation_) {
      ++generation_;
      all.swap(idle_);
    }
  }
}

void ClientPool::forget_clients() noexcept {
  const ScopedLock lock(mutex_);
  ++generation_;
  for (auto& client : idle_) Client::forget(std::move(client), settings_.tls);
  idle_.clear();
}

}  // namespace latchkey::inline v1::detail::mongodb
