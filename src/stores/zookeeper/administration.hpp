// Inspects, lists and releases locks, whoever holds them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "stores/zookeeper/calls.hpp"
#include "stores/zookeeper/nodes.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// inspect, list and force_release. Only while the link is up.
class Administration {
 public:
  Administration(Nodes& nodes, Calls& calls) : nodes_(nodes), calls_(calls) {}

  void inspect(const CallRef& call);
  void list(const CallRef& call);
  void force_release(const CallRef& call);

 private:
  struct Walk;
  struct Look;

  void visit(const std::shared_ptr<Walk>& walk);
  void on_folder(const std::shared_ptr<Walk>& walk, const std::string& path, Reply&& reply);
  void finish(Walk& walk);

  Nodes& nodes_;
  Calls& calls_;
};

}  // namespace latchkey::inline v1::detail::zookeeper
