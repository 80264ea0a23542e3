// A server of a store other than Redis.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include <latchkey/capabilities.hpp>
#include <latchkey/locks.hpp>

#include "chaos/deployment/deployment.hpp"
#include "chaos/deployment/stores/stores.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

/// A store replies later than Redis. Waiters ask every quarter of their lease, so on a busy machine
/// the last attempt of a wait of a second often has no reply when the wait ends.
inline constexpr Nanos store_reply = 1'100 * millisecond;

/// The settings with which sessions of workers begin.
enum class SessionDefaults : std::uint8_t { usual, disturbing };

/// A server that keeps its data when it is killed, behind a fault proxy for each worker. `Server`
/// is the class with which the tests of the store start one.
template <class Server>
class StoreDeployment : public Deployment {
 public:
  struct Store {
    std::string before_port, after_port;  ///< the parts of the URI around the port
    Limits limits{};
    /// Whether tokens are microseconds since 1970, or count from that time on; else from 0.
    bool tokens_are_times = true;
    /// Names what the server has although nobody calls; empty: nothing. `abandoned`: a killed
    /// waiter's place in the queue of FAIR may be left, which ends by itself.
    std::function<std::string(Server&, bool abandoned)> keys_left;
    /// Sets what a session begins with to what disturbs, or to what it was, and ends all sessions.
    /// Empty: a session of this store has no settings.
    std::function<void(Server&, SessionDefaults)> set_sessions{};
  };

  explicit StoreDeployment(Store store)
      : store_(std::move(store)), first_token_(store_.tokens_are_times ? token_of_now() : 0) {
    register_stores();
    offers_ = Locks::connect(uri(server_.port()), {.watchdog = watchdog_period}).capabilities();
  }

  [[nodiscard]] std::uint16_t link_port() const override { return server_.port(); }
  [[nodiscard]] std::string uri(std::uint16_t port) const override {
    return store_.before_port + std::to_string(port) + store_.after_port;
  }
  [[nodiscard]] bool has(FaultKind kind) const noexcept override {
    using enum FaultKind;
    switch (kind) {
      case server_stop_short:
      case server_stop_long:
      case server_kill:
      case forced_release: return true;
      case server_shutdown: return shuts_down;
      case session_settings: return static_cast<bool>(store_.set_sessions);
      default: return is_of_client(kind) || is_of_link(kind);
    }
  }
  [[nodiscard]] bool offers(LockType type) const noexcept override { return offers_.offers(type); }
  [[nodiscard]] Limits limits() const override { return store_.limits; }
  [[nodiscard]] std::uint64_t first_token() const override { return first_token_; }

  void begin(const PlannedFault& fault) override {
    using enum FaultKind;
    switch (fault.kind) {
      case server_stop_short:
      case server_stop_long: return server_.stop();
      case server_kill: return server_.kill();
      case server_shutdown:
        if constexpr (shuts_down) server_.shut_down();
        return;
      case session_settings: return store_.set_sessions(server_, SessionDefaults::disturbing);
      case forced_release: return force_release(uri(server_.port()), fault);
      default: return;
    }
  }
  void end(const PlannedFault& fault) override {
    using enum FaultKind;
    switch (fault.kind) {
      case server_stop_short:
      case server_stop_long: return server_.resume();
      case server_kill:
      case server_shutdown: return server_.start();
      case session_settings: return store_.set_sessions(server_, SessionDefaults::usual);
      default: return;
    }
  }

  [[nodiscard]] std::string keys_left(bool abandoned) const override {
    return store_.keys_left(server_, abandoned);
  }
  void save_logs(const std::filesystem::path& folder) const override {
    std::error_code ignored;
    std::filesystem::copy_file(server_.log(), folder / "server.log", ignored);
  }

 protected:
  [[nodiscard]] const Server& server() const noexcept { return server_; }

 private:
  static constexpr bool shuts_down = requires(Server& server) { server.shut_down(); };

  const Store store_;
  const std::uint64_t first_token_;  // read before the server is started
  mutable Server server_;
  Capabilities offers_;
};

}  // namespace latchkey::chaos
