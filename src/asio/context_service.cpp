// A service that notifies its parts when an execution context shuts down.
// SPDX-License-Identifier: BSL-1.0
#include "asio/context_service.hpp"

#include <utility>

namespace latchkey::inline v1::detail {

boost::asio::execution_context::id ContextService::id;

void ContextService::add(boost::asio::execution_context& context,
                         const std::shared_ptr<ContextPart>& part) {
  auto& service = boost::asio::use_service<ContextService>(context);
  const ScopedLock lock(service.mutex_);
  std::erase_if(service.parts_, [](const auto& each) { return each.expired(); });
  service.parts_.push_back(part);
}

void ContextService::shutdown() {
  std::vector<std::weak_ptr<ContextPart>> parts;
  {
    const ScopedLock lock(mutex_);
    parts = std::move(parts_);
  }
  for (const auto& each : parts) {
    if (const auto part = each.lock()) part->context_shuts_down();
  }
}

}  // namespace latchkey::inline v1::detail
