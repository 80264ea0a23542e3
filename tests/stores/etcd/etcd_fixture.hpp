// Helpers that the tests of etcd share.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>
#include <latchkey/parker.hpp>

#include "etcd_server.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/etcd/client.hpp"

namespace latchkey::tests {

/// One server for the tests that disturb no others; keys are never used twice.
inline EtcdServer& shared_etcd() {
  static EtcdServer running;
  return running;
}

inline std::string fresh_etcd_key() {
  static std::atomic<int> last{0};
  return "key:" + std::to_string(++last);
}

inline std::unique_ptr<Backend> etcd_backend(const std::string& uri, const Options& options = {}) {
  return detail::stores::drive_client(
      std::make_unique<detail::etcd::EtcdClient>(detail::etcd::EtcdUri::parse(uri), options),
      options);
}

inline Locks etcd_locks(const std::string& uri, const Options& options = {}) {
  return Locks(etcd_backend(uri, options), options);
}

/// Submits the request and drives the backend until `sink.done`.
template <class DoneSink>
void run_to_end(Backend& backend, Request& request, DoneSink& sink) {
  Request* const one = &request;
  sink.done = false;
  backend.submit({&one, 1}, sink);
  EXPECT_TRUE(eventually([&] {
    backend.drive(Parker::mine(), Clock::system().now() + std::chrono::milliseconds(5));
    return sink.done;
  }));
}

/// Why a connection to `uri` is refused.
inline std::string etcd_refusal(const std::string& uri) {
  try {
    static_cast<void>(etcd_backend(uri));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

/// Polls until the condition holds, for ten seconds at most.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    // sleeps: it asks again what no event tells
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace latchkey::tests
