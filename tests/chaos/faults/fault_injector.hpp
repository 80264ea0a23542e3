// Begins and ends faults on real processes, connections and servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "chaos/faults/fault_plan.hpp"
#include "chaos/run/worker_pool.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::chaos {

/// All calls come from the thread that started the server and the workers, because these end with
/// that thread.
class FaultInjector {
 public:
  FaultInjector(tests::RedisServer& server, WorkerPool& workers);

  void begin(const PlannedFault& fault);
  void end(const PlannedFault& fault);

 private:
  void begin_at_worker(const PlannedFault& fault);
  void end_at_worker(const PlannedFault& fault);
  void begin_at_link(const PlannedFault& fault, tests::FaultProxy& link);
  void end_at_link(const PlannedFault& fault, tests::FaultProxy& link);
  void begin_at_server(const PlannedFault& fault);
  void end_at_server(const PlannedFault& fault);
  void send(std::initializer_list<std::string_view> words);
  void force_release(int key);
  void permit(const PlannedFault& fault, bool permitted);
  void run_busy_script(int length_ms);

  tests::RedisServer& server_;
  WorkerPool& workers_;
  std::jthread busy_script_;
};

}  // namespace latchkey::chaos
