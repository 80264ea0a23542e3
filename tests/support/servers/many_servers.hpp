// In-process lock servers that a test disconnects, freezes, slows down and restarts empty.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "memory/lock_table.hpp"

namespace latchkey::tests {

/// The locks of one server, for any number of connections. Thread-safe.
class Store {
 public:
  Outcome apply(const Request& request) {
    const std::lock_guard lock(mutex_);
    return table_->apply(request, Clock::system().now());
  }
  void restart_empty() {
    const std::lock_guard lock(mutex_);
    table_ = std::make_unique<detail::LockTable>();
  }
  [[nodiscard]] bool locked(std::string_view key) {
    LockInfo info;
    Request request;
    request.verb = Verb::inspect;
    request.key = key;
    request.info = &info;
    apply(request);
    return info.locked;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<detail::LockTable> table_ = std::make_unique<detail::LockTable>();
};

/// The state of one client's connection to one server.
enum class ConnectionState : std::uint8_t {
  open,
  down,    ///< every request ends at once with an unknown outcome
  frozen,  ///< requests wait until the connection is open again
  slow,    ///< each reply takes 5 ms
};

/// A backend over a Store. The state of its connection may change at any time.
class Server final : public Backend {
 public:
  Server(Store& store, std::atomic<ConnectionState>& state, std::string name)
      : store_(store), state_(state), name_(std::move(name)) {}

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    Capabilities offered;
    offered.fair = offered.fenced = offered.read_write = offered.in_order = true;
    return offered;
  }
  [[nodiscard]] std::string describe() const override { return name_; }

  void submit(std::span<Request* const> requests, Sink& sink) override {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::system().now();
    for (Request* const request : requests) {
      waiting_.push_back({request, &sink, later(now, std::chrono::milliseconds(5))});
    }
  }

  void drive(Parker& parker, Clock::time_point until) override {
    for (;;) {
      if (deliver()) return;
      const auto now = Clock::system().now();
      if (now >= until) return;
      if (parker.park_until(Clock::system(), std::min(until, later(now, pause)))) return;
    }
  }

 private:
  static constexpr std::chrono::milliseconds pause{1};

  struct Waiting {
    Request* request;
    Sink* sink;
    Clock::time_point slow_until;
  };

  bool deliver() {
    bool any = false;
    for (;;) {
      Waiting next{};
      Outcome outcome;
      {
        const std::lock_guard lock(mutex_);
        const ConnectionState state = state_;
        if (waiting_.empty() || state == ConnectionState::frozen) return any;
        if (state == ConnectionState::slow && Clock::system().now() < waiting_.front().slow_until)
          return any;
        next = waiting_.front();
        waiting_.pop_front();
        if (state == ConnectionState::down) {
          outcome.reason = "connection refused";
        } else {
          outcome = store_.apply(*next.request);
        }
      }
      next.sink->completed(*next.request, std::move(outcome));
      any = true;
    }
  }

  Store& store_;
  std::atomic<ConnectionState>& state_;
  const std::string name_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
};

/// The states of one client's connections to all servers.
template <std::size_t Count>
class ConnectionStates {
 public:
  std::atomic<ConnectionState>& operator[](std::size_t server) { return states_[server]; }

  void set(ConnectionState state) {
    for (auto& each : states_) each = state;
  }
  /// Sets `state` for each server whose bit is set in the mask, and open for the others.
  void set(unsigned mask, ConnectionState state) {
    for (std::size_t at = 0; at < Count; ++at) {
      states_[at] = (mask >> at & 1U) != 0 ? state : ConnectionState::open;
    }
  }
  /// One Server for each store. This object outlives them.
  [[nodiscard]] std::vector<std::unique_ptr<Backend>> connect(std::array<Store, Count>& stores) {
    std::vector<std::unique_ptr<Backend>> servers;
    for (std::size_t at = 0; at < Count; ++at) {
      servers.push_back(
          std::make_unique<Server>(stores[at], states_[at], "server" + std::to_string(at + 1)));
    }
    return servers;
  }

 private:
  std::array<std::atomic<ConnectionState>, Count> states_{};
};

}  // namespace latchkey::tests
