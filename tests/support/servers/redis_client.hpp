// A minimal Redis client: one command, one reply.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::tests {

/// A reply of the server.
class Reply {
 public:
  explicit Reply(redisReply* reply) : reply_(reply) {}

  [[nodiscard]] const redisReply& raw() const { return *reply_; }
  [[nodiscard]] bool is_nil() const { return reply_->type == REDIS_REPLY_NIL; }
  [[nodiscard]] bool is_error() const { return reply_->type == REDIS_REPLY_ERROR; }
  [[nodiscard]] bool is_array() const { return reply_->type == REDIS_REPLY_ARRAY; }
  /// 0 if the reply is not an integer.
  [[nodiscard]] long long integer() const { return reply_->integer; }
  /// The text of a string, status or error, an integer in decimal, otherwise "".
  [[nodiscard]] std::string text() const;
  /// The texts of an array's elements; nested arrays are flattened.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply_;
};

/// One blocking connection, which uses RESP2 until HELLO 3. All members throw std::runtime_error if
/// the connection fails or nothing arrives for 10 s.
class RedisClient {
 public:
  static RedisClient unix_socket(const std::string& path);
  static RedisClient tcp(const std::string& host, std::uint16_t port);

  Reply operator()(std::initializer_list<std::string_view> words);
  /// Sends a command that is already encoded.
  Reply send(std::string_view command);
  /// How often the server has run `command`, in the spelling of INFO commandstats.
  long long calls(std::string_view command);
  /// The next message, such as a push. Empty if none arrives in time.
  std::optional<Reply> receive(std::chrono::milliseconds patience);

 private:
  explicit RedisClient(redisContext* context);
  void set_patience(std::chrono::milliseconds patience);

  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace latchkey::tests
