// One value in a store, behind a guard of latchkey, which the late writer writes.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/fence.hpp>

namespace latchkey::tests {

/// A service has answered 412, which stands for its FenceRejected.
struct RejectedByService : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One value in a real store. Each object has a connection of its own. All members throw
/// std::runtime_error or latchkey::Error if the store fails.
class Resource {
 public:
  Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual ~Resource() = default;

  /// Makes what the store needs before the first read.
  virtual void prepare() {}
  virtual std::string read() = 0;
  /// Replaces the value: under the fence, if there is one, and unchecked otherwise. Throws
  /// FenceRejected or RejectedByService.
  virtual void write(const std::string& value, const std::optional<Fence>& fence) = 0;
};

// `where`: a connection string of libpq.
std::unique_ptr<Resource> open_postgresql_value(const std::string& where);
// `where`: the path of the server's Unix socket.
std::unique_ptr<Resource> open_mysql_value(const std::string& where);
std::unique_ptr<Resource> open_redis_value(const std::string& where);
// `where`: the path of the file.
std::unique_ptr<Resource> open_file_value(const std::string& where);
// `where`: the port of a service on 127.0.0.1, and a path.
std::unique_ptr<Resource> open_http_value(const std::string& where);

/// `kind`: the word between open_ and _value. Throws std::runtime_error for any other.
std::unique_ptr<Resource> open_resource(const std::string& kind, const std::string& where);

}  // namespace latchkey::tests
