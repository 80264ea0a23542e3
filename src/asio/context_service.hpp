// A service that notifies its parts when an execution context shuts down.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

class ContextPart {
 public:
  /// On the thread that destroys the context. No thread runs it any more.
  virtual void context_shuts_down() noexcept = 0;

 protected:
  ~ContextPart() = default;
};

/// Belongs to one execution context, and tells its parts that it shuts down.
class ContextService final : public boost::asio::execution_context::service {
 public:
  using key_type = ContextService;
  static boost::asio::execution_context::id id;

  explicit ContextService(boost::asio::execution_context& context) : service(context) {}

  /// To the context of `executor`, on a thread that may use it.
  static void add(const boost::asio::any_io_executor& executor,
                  const std::shared_ptr<ContextPart>& part);

 private:
  void shutdown() override;

  Mutex mutex_;
  std::vector<std::weak_ptr<ContextPart>> parts_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail
