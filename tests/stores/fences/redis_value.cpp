// A value in Redis.
#include <hiredis/hiredis.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/fence.hpp>
#include <latchkey/fences/redis.hpp>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {
namespace {

constexpr const char* key = "{order:42}:value";

class RedisValue : public Resource {
 public:
  explicit RedisValue(const std::string& socket)
      : connection_(redisConnectUnix(socket.c_str()), redisFree) {
    if (connection_ == nullptr || connection_->err != 0) {
      throw std::runtime_error("cannot connect to " + socket);
    }
  }

  void prepare() override { run("FLUSHALL"); }
  std::string read() override {
    const redis::ReplyPointer reply = run("GET %s", key);
    if (reply->type == REDIS_REPLY_NIL) return {};
    return {reply->str, static_cast<std::size_t>(reply->len)};
  }
  void write(const std::string& value, const std::optional<Fence>& fence) override {
    if (fence) {
      redis::run_fenced(connection_.get(), *fence, {"SET", key, value});
    } else {
      run("SET %s %s", key, value.c_str());
    }
  }

 private:
  template <class... Words>
  redis::ReplyPointer run(const char* format, const Words*... words) {
    redis::ReplyPointer reply(
        static_cast<redisReply*>(redisCommand(connection_.get(), format, words...)));
    if (reply == nullptr) throw std::runtime_error(connection_->errstr);
    return reply;
  }

  std::unique_ptr<redisContext, void (*)(redisContext*)> connection_;
};

}  // namespace

std::unique_ptr<Resource> open_redis_value(const std::string& where) {
  return std::make_unique<RedisValue>(where);
}

}  // namespace latchkey::tests
