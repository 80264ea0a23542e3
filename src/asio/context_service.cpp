// A service that notifies its parts when an execution context shuts down.
// SPDX-License-Identifier: BSL-1.0
#include "asio/context_service.hpp"

#include <utility>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

namespace latchkey::inline v1::detail {

boost::asio::execution_context::id ContextService::id;

// Services shut down in the reverse order of their making, and a strand that shuts down loses what
// another thread posts to it meanwhile. So the strands' service is made before this one: it shuts
// down when no part posts any more.
void ContextService::add(const boost::asio::any_io_executor& executor,
                         const std::shared_ptr<ContextPart>& part) {
  boost::asio::execution_context& context =
      boost::asio::query(executor, boost::asio::execution::context);
  if (!boost::asio::has_service<ContextService>(context)) {
    static_cast<void>(boost::asio::make_strand(executor));
  }
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
