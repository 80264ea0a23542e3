// A store of the user's, reached through the user's backends.
// SPDX-License-Identifier: BSL-1.0
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <latchkey/parker.hpp>

#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/scenario.hpp"

namespace latchkey::inline v1::sim {
namespace {

/// One connection. It drives each request to its end as soon as it is submitted.
class Connection final : private Sink {
 public:
  Connection(std::unique_ptr<Backend> backend, detail::Subscriber* subscriber)
      : backend_(std::move(backend)), subscriber_(subscriber) {
    if (backend_ == nullptr) throw std::invalid_argument("SimulatedStore::connect returned null");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  [[nodiscard]] Capabilities offers() const noexcept { return backend_->capabilities(); }

  Outcome apply(const Request& request, Clock& clock) {
    Request copy = request;
    copy.sent = clock.now();
    copy.context = this;
    copy.next = nullptr;
    Outcome outcome;
    if (backend_->answer(copy, outcome, *this)) return outcome;
    Request* const one[] = {&copy};
    open_ = &copy;
    backend_->submit(one, *this);
    constexpr int most_drives = 1'000;
    for (int drive = 0; open_ != nullptr; ++drive) {
      if (drive == most_drives) {
        throw std::logic_error(std::string("the backend does not complete a request: ") +
                               std::string(to_string(request.verb)));
      }
      backend_->drive(Parker::mine(), clock.now());
    }
    return std::move(outcome_);
  }

  /// Delivers the notifications that have arrived.
  void receive(Clock& clock) { backend_->drive(Parker::mine(), clock.now()); }

 private:
  void completed(Request& request, Outcome&& outcome) noexcept override {
    if (&request != open_) return;
    open_ = nullptr;
    outcome_ = std::move(outcome);
  }
  void notified(const Notification& notification) noexcept override {
    const bool of_a_key = notification.kind != Notification::Kind::link_up &&
                          notification.kind != Notification::Kind::link_down &&
                          notification.kind != Notification::Kind::warning;
    if (subscriber_ != nullptr && of_a_key) subscriber_->notify(notification);
  }

  std::unique_ptr<Backend> backend_;
  detail::Subscriber* subscriber_;
  Request* open_ = nullptr;
  Outcome outcome_;
};

class BackendStore final : public Store {
 public:
  BackendStore(const Clock::duration& truth, const testing::MakeStore& make)
      : Store(truth), store_(make(clock())) {
    if (store_ == nullptr) throw std::invalid_argument("the MakeStore function returned null");
    offered_ = connection_of(nullptr).offers();
  }

  [[nodiscard]] Capabilities offers() const noexcept override { return offered_; }

  Outcome apply(const Request& request, detail::Subscriber* subscriber) override {
    Outcome outcome = connection_of(subscriber).apply(request, clock());
    if (offered_.pushes) {
      for (auto& [each, connection] : connections_) connection->receive(clock());
    }
    return outcome;
  }

  void unsubscribe(const detail::Subscriber& subscriber) noexcept override {
    connections_.erase(const_cast<detail::Subscriber*>(&subscriber));
  }

  void restart() override {
    connections_.clear();
    store_->restart();
  }

  // An exclusive acquire by a new id is granted only if the key is free.
  [[nodiscard]] std::size_t left(const std::vector<std::string>& keys) override {
    std::size_t count = 0;
    for (const std::string& key : keys) {
      Request request;
      request.key = key;
      request.type = offered_.reentrant ? LockType::REENTRANT : LockType::WRITE;
      request.id = {{~std::uint64_t{0}, ~std::uint64_t{0}}, ++probes_};
      request.lease = std::chrono::milliseconds(10);
      const bool free = apply(request, nullptr).kind == Outcome::Kind::granted;
      if (!free && !(offered_.permits && all_permits_available(request))) ++count;
      request.verb = Verb::release;
      (void)apply(request, nullptr);
    }
    return count;
  }

 private:
  /// The key is a semaphore, which stays until somebody deletes it.
  bool all_permits_available(Request request) {
    request.type = LockType::PERMIT;
    request.permits = {Scenario::permits, Scenario::permits};
    const bool all = apply(request, nullptr).kind == Outcome::Kind::granted;
    request.verb = Verb::force_release;
    (void)apply(request, nullptr);
    return all;
  }

  Connection& connection_of(detail::Subscriber* subscriber) {
    auto& connection = connections_[subscriber];
    if (connection == nullptr) {
      connection = std::make_unique<Connection>(store_->connect(), subscriber);
    }
    return *connection;
  }

  std::unique_ptr<testing::SimulatedStore> store_;
  Capabilities offered_;
  std::map<detail::Subscriber*, std::unique_ptr<Connection>>
      connections_;  // destroyed before store_
  std::uint64_t probes_ = 0;
};

}  // namespace

std::unique_ptr<Store> make_backend_store(const Clock::duration& truth,
                                          const testing::MakeStore& make) {
  return std::make_unique<BackendStore>(truth, make);
}

}  // namespace latchkey::inline v1::sim
