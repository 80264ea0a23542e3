// Lists the Leases of a namespace.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <string>

#include <latchkey/backend.hpp>

#include "stores/kubernetes/lease_queue.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// The listings of one client: all Leases of the namespace that seem to be held, whoever made them.
class LeaseListing {
 public:
  explicit LeaseListing(LeaseContext& context) : context_(context) {}

  void submit(Request& request, Sink& sink);

 private:
  /// `token`: where the part begins; empty: the first one.
  void read(Request& request, Sink& sink, const std::string& token);
  void on_read(Request& request, Sink& sink, http2::HttpEnd&& end);

  LeaseContext& context_;
};

}  // namespace latchkey::inline v1::detail::kubernetes
