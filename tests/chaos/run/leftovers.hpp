// Keys, subscriptions, descriptors and threads that must not be left when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <map>

#include "chaos/deployment/deployment.hpp"
#include "chaos/judge/judge.hpp"
#include "chaos/run/resources.hpp"
#include "chaos/run/worker_pool.hpp"

namespace latchkey::chaos {

/// Looks between two rounds for keys and subscriptions on the servers, and for descriptors and
/// threads of the workers.
class Leftovers {
 public:
  /// In this round. The queues of killed waiters expire by themselves, an hour later:
  /// docs/reliability.md. So do those of which a failover has lost that a waiter left.
  void note_abandoned_places() noexcept { places_abandoned_ = true; }

  void judge(const Deployment& deployment, const WorkerPool& workers, Violations& found);

 private:
  void judge_resources(const WorkerPool& workers, Violations& found);

  struct AtFirst {
    int starts = 0;
    Resources resources;  ///< after its first round
  };
  bool places_abandoned_ = false;
  std::map<std::uint32_t, AtFirst> at_first_;  ///< by the number of the worker
};

}  // namespace latchkey::chaos
