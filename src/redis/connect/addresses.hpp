// Where a server is: the addresses behind its name.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/file_descriptor.hpp"
#include "redis/failure.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] int family() const noexcept { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT: as the system wants it
  }
};

/// What needs no looking up: the path of a Unix socket, a numeric host. Empty for a name.
[[nodiscard]] std::vector<Address> plain_addresses(const RedisUri& uri);

/// One look-up of a name. The system offers it only as a call that blocks, for seconds where a name
/// server does not answer, and no caller of a lock may wait for that: so the call runs on a thread
/// of its own, which lives as long as the call. It is the one thread that a backend ever starts,
/// and only for a host that is neither numeric nor just connected to.
class Lookup {
 public:
  /// Throws std::system_error where the system gives no thread.
  explicit Lookup(const RedisUri& uri);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  /// The call may still run; what it finds is then dropped.
  ~Lookup() = default;

  /// Readable when the answer is there.
  [[nodiscard]] int fd() const noexcept;
  using Answer = std::variant<std::vector<Address>, Failure>;
  /// Empty: not yet.
  [[nodiscard]] std::optional<Answer> answer();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace latchkey::detail::redis
