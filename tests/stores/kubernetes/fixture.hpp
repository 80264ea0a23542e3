// Helpers that the tests of the store kubernetes share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/locks.hpp>

#include "api_server.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/kubernetes/client.hpp"

namespace latchkey::tests {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

inline std::unique_ptr<Backend> kubernetes_backend(const std::string& uri,
                                                   const Options& options = {}) {
  using namespace detail::kubernetes;
  return detail::stores::drive_client(
      std::make_unique<KubernetesClient>(KubernetesUri::parse(uri), options), options);
}

inline Locks kubernetes_locks(const std::string& uri, const Options& options = {}) {
  return Locks(kubernetes_backend(uri, options), options);
}

inline testing::Probe kubernetes_probe(const std::string& uri, const Options& options = {}) {
  return testing::Probe(kubernetes_backend(uri, options), options);
}

/// Polls until the condition holds, for thirty seconds at most.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    // sleeps: it asks again what no event tells
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

/// The spec of a Lease that another client has just written.
inline ApiServer::Json spec_of(const std::string& holder, int seconds, int transitions = 5) {
  static std::atomic<int> last{0};
  const std::string micro = std::to_string(100'000 + ++last);
  return {{"holderIdentity", holder},
          {"leaseDurationSeconds", seconds},
          {"leaseTransitions", transitions},
          {"acquireTime", "2026-11-30T10:00:00.000000Z"},
          {"renewTime", "2026-11-30T10:00:00." + micro + "Z"}};
}

/// Why a connection to `uri` is refused.
inline std::string kubernetes_refusal(const std::string& uri) {
  try {
    static_cast<void>(kubernetes_backend(uri));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace latchkey::tests
