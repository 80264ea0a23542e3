// Keys, subscriptions, descriptors and threads that must not be left when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/leftovers.hpp"

#include <poll.h>

#include <string>

namespace latchkey::chaos {
namespace {

/// Polls the server, which cannot report that a key has expired. What `left` finds after 8 s.
template <class Left>
std::string remaining(Left&& left) {
  std::string found = left();
  for (const Nanos end = now() + 8'000 * millisecond; !found.empty() && now() < end;) {
    ::poll(nullptr, 0, 20);
    found = left();
  }
  return found;
}

}  // namespace

void Leftovers::judge_resources(const WorkerPool& workers, Violations& found) {
  for (const std::uint32_t worker : workers.numbers()) {
    AtFirst& first = at_first_[worker];
    const Resources used = workers.resources(worker);
    if (first.starts != workers.starts(worker)) first = {workers.starts(worker), used};
    const std::string left = too_many(used, first.resources);
    if (left.empty()) continue;
    found.push_back(
        {"descriptors or threads are left", "worker " + std::to_string(worker) + ": " + left});
  }
}

void Leftovers::judge(const Deployment& deployment, const WorkerPool& workers, Violations& found) {
  if (const std::string left = remaining([&] { return deployment.keys_left(places_abandoned_); });
      !left.empty()) {
    found.push_back({"keys are left", left});
  }
  places_abandoned_ = false;
  if (const std::string left = remaining([&] { return deployment.subscriptions_left(); });
      !left.empty()) {
    found.push_back({"subscriptions are left", left});
  }
  judge_resources(workers, found);
}

}  // namespace latchkey::chaos
