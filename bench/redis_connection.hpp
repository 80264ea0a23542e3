// Plain hiredis.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::bench {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// One connection of one thread, which waits for each reply.
class BlockingConnection {
 public:
  explicit BlockingConnection(std::uint16_t port) : context_(redisConnect("127.0.0.1", port)) {
    if (context_ == nullptr || context_->err != 0) throw std::runtime_error("no connection");
    redisEnableKeepAlive(context_.get());
  }

  void send(const std::string& formatted) {
    redisAppendFormattedCommand(context_.get(), formatted.data(), formatted.size());
  }
  Reply await() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) throw std::runtime_error("no reply");
    return Reply(static_cast<redisReply*>(reply));
  }
  void await_number() {
    if (await()->type != REDIS_REPLY_INTEGER) throw std::runtime_error("a cycle was refused");
  }
  void expect_number(const std::string& formatted) {
    send(formatted);
    await_number();
  }

  void send(const std::vector<std::string_view>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(),
                           sizes.data());
  }
  Reply call(const std::vector<std::string_view>& words) {
    send(words);
    return await();
  }

  /// Sends what `send` has queued, without waiting for a reply.
  void flush() {
    for (int done = 0; done == 0;) {
      if (redisBufferWrite(context_.get(), &done) != REDIS_OK) throw std::runtime_error("no write");
    }
  }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace latchkey::bench
