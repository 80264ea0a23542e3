// Requests that take several operations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>

#include "stores/driver/outbox.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// One request that is under way.
struct Call {
  Request* request = nullptr;  ///< null: completed
  Sink* sink = nullptr;
};
using CallRef = std::shared_ptr<Call>;

/// The requests under way that no place in a queue has. Each is completed once.
class Calls {
 public:
  explicit Calls(stores::Outbox& outbox) : outbox_(outbox) {}

  [[nodiscard]] CallRef begin(Request& request, Sink& sink) {
    return calls_.emplace_back(std::make_shared<Call>(Call{&request, &sink}));
  }
  void complete(const CallRef& call, Outcome::Kind kind) {
    if (call->request == nullptr) return;
    outbox_.complete(*std::exchange(call->request, nullptr), *call->sink, kind);
    calls_.remove(call);
  }
  void refuse(const CallRef& call, std::string why) {
    if (call->request == nullptr) return;
    outbox_.refuse(*std::exchange(call->request, nullptr), *call->sink, std::move(why));
    calls_.remove(call);
  }
  void link_lost(const std::string& why) {
    for (const CallRef& call : std::exchange(calls_, {})) {
      outbox_.complete_unknown(*std::exchange(call->request, nullptr), *call->sink, why, false);
    }
  }
  void forget() noexcept { calls_.clear(); }

 private:
  stores::Outbox& outbox_;
  std::list<CallRef> calls_;
};

}  // namespace latchkey::inline v1::detail::zookeeper
