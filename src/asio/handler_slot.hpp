// The handler of an operation, and its cancellation slot.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <boost/asio/cancellation_type.hpp>

#include "asio/operation.hpp"

namespace latchkey::inline v1::detail {

template <class Signature>
class HandlerSlot {
 public:
  explicit HandlerSlot(AnyHandler<Signature>&& handler) noexcept : handler_(std::move(handler)) {}

  /// All three cancellation types end the operation. Before it is started: the slot belongs to the
  /// handler's executor.
  void connect(Operation& operation) {
    auto slot = handler_.get_cancellation_slot();
    if (slot.is_connected()) slot.template emplace<Cancel>(operation);
  }

  /// The operation has ended, or its context has: the slot refers to it no longer.
  [[nodiscard]] AnyHandler<Signature> take() noexcept {
    auto slot = handler_.get_cancellation_slot();
    if (slot.is_connected()) slot.clear();
    return std::move(handler_);
  }

 private:
  struct Cancel {
    explicit Cancel(Operation& operation) noexcept : reference(operation.share()) {}
    void operator()(boost::asio::cancellation_type type) const noexcept {
      if (type != boost::asio::cancellation_type::none) (*reference).cancel();
    }
    Operation::Reference reference;
  };

  AnyHandler<Signature> handler_;
};

}  // namespace latchkey::inline v1::detail
