// The network addresses of a store's hosts.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/connection/failure.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::stores {

/// Whether no look-up is needed: a numeric address, or the path of a Unix socket.
[[nodiscard]] bool is_plain_host(const std::string& host) noexcept;

/// One look-up of host names, on a thread of its own: getaddrinfo(3), which client libraries would
/// call themselves, blocks for seconds if a name server does not answer. The thread ends when all
/// hosts are looked up.
class HostLookup {
 public:
  struct Address {
    UriEndpoint endpoint;
    std::string number;  ///< the numeric address; as the host if that is plain
  };
  using Answer = std::variant<std::vector<Address>, ConnectionFailure>;

  /// Throws std::bad_alloc. That no thread can be started is an answer.
  explicit HostLookup(std::vector<UriEndpoint> hosts);
  HostLookup(const HostLookup&) = delete;
  HostLookup& operator=(const HostLookup&) = delete;
  /// The thread may still run. Its result is then dropped.
  ~HostLookup() = default;

  /// Readable once the answer is there.
  [[nodiscard]] int descriptor() const noexcept;
  /// Returns the answer once. Empty: it is not there yet, or was returned before.
  [[nodiscard]] std::optional<Answer> answer();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace latchkey::inline v1::detail::stores
