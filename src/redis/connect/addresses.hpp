// The network addresses of a server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/file_descriptor.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] int family() const noexcept { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT: as connect(2) takes it
  }
  friend bool operator==(const Address& one, const Address& other) noexcept {
    return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
  }
};

/// The address of a Unix socket or of a numeric host. Empty for a host name.
[[nodiscard]] std::vector<Address> plain_addresses(const RedisUri& uri);

/// One look-up of a host name, on a thread of its own. getaddrinfo(3) blocks, for seconds if a name
/// server does not answer, and no caller of a lock may wait for that. The thread lives as long as
/// the call. A backend starts no other thread, and this one only for a host that is not numeric and
/// whose addresses are not known or no longer relied on.
class Lookup {
 public:
  using Answer = std::variant<std::vector<Address>, Failure>;
  /// Returns the addresses of a host. May block. Throws std::bad_alloc.
  using Resolver = Answer (*)(const std::string& host, std::uint16_t port);
  /// Calls getaddrinfo(3).
  [[nodiscard]] static Answer resolve(const std::string& host, std::uint16_t port);

  /// Throws std::system_error if no thread can be started.
  explicit Lookup(const RedisUri& uri, Resolver resolver = resolve);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  /// The thread may still run. Its result is then dropped.
  ~Lookup() = default;

  /// Readable once the result is there.
  [[nodiscard]] int fd() const noexcept;
  /// Empty: not yet.
  [[nodiscard]] std::optional<Answer> answer();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace latchkey::inline v1::detail::redis
