// The requests of administrators about the locks in an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "stores/etcd/lock_queue.hpp"

namespace latchkey::inline v1::detail::etcd {

/// inspect, list and force_release. They read and delete the keys of any process.
class Administration {
 public:
  explicit Administration(RecipeContext& context) : context_(context) {}

  [[nodiscard]] static bool serves(Verb verb) noexcept {
    return verb == Verb::inspect || verb == Verb::list || verb == Verb::force_release;
  }
  void submit(Request& request, Sink& sink);

 private:
  void inspect(Request& request, Sink& sink);
  void list(Request& request, Sink& sink);
  void force_release(Request& request, Sink& sink);
  void end_holds(Request& request, Sink& sink, std::vector<KeyValue> holders, bool any);
  void fail(Request& request, Sink& sink, const CallEnd& end);
  [[nodiscard]] std::string directory_of(const Request& request) const;
  /// The encoded read of the keys of the request's lock, in the order of their creation.
  [[nodiscard]] std::string queue_of(const Request& request) const;

  RecipeContext& context_;
};

}  // namespace latchkey::inline v1::detail::etcd
