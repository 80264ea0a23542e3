// Deployments of Redis.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/deployment/deployment.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::chaos {

/// The base of all deployments of Redis. They offer every lock type unless they override `offers`.
class RedisDeployment : public Deployment {
 public:
  /// The servers; never empty. Links of workers lead to the first one.
  [[nodiscard]] virtual std::vector<const tests::RedisServer*> servers() const = 0;

  [[nodiscard]] std::uint16_t link_port() const override { return servers().front()->port(); }
  [[nodiscard]] bool offers(LockType /*type*/) const noexcept override { return true; }
  [[nodiscard]] std::uint64_t first_token() const override { return first_token_; }
  [[nodiscard]] unsigned excuses(const PlannedFault& fault) const override;
  [[nodiscard]] std::string keys_left(bool abandoned) const override;
  [[nodiscard]] std::string subscriptions_left() const override;
  void save_logs(const std::filesystem::path& folder) const override;

 protected:
  /// Throws std::runtime_error with the error of the server.
  static void send(const tests::RedisServer& server, std::initializer_list<std::string_view> words);
  /// The part of a fault that is the same on every server. Nothing, if there is no such part.
  void begin_on(const tests::RedisServer& server, const PlannedFault& fault);
  void end_on(const tests::RedisServer& server, const PlannedFault& fault);

  /// Whether queues of FAIR stay although nobody waits.
  [[nodiscard]] virtual bool leaves_fair_queues() const noexcept { return false; }

 private:
  static void permit(const tests::RedisServer& server, const PlannedFault& fault, std::string rule);
  static void set_all(const tests::RedisServer& server, bool usual);
  void subscribe_to_all(const tests::RedisServer& server);

  const std::uint64_t first_token_ = token_of_now();  // tokens are microseconds since 1970
  /// They read no message. In the time of a fault the server keeps these for them.
  std::vector<tests::RedisClient> subscribers_;
};

}  // namespace latchkey::chaos
