// Redisson's plain lock, written by hand on hiredis.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

#include "redis_connection.hpp"
#include "redisson_scripts.hpp"

namespace latchkey::bench {

/// The state that all threads of a process share: the subscription to the key's channel. Each of
/// its messages lets one waiting thread try again.
class RedissonChannel {
 public:
  RedissonChannel(std::uint16_t port, const std::string& channel)
      : connection_(port), thread_([this] { read(); }) {
    connection_.send(std::vector<std::string_view>{"SUBSCRIBE", channel});
    connection_.flush();
    subscribed_.acquire();
  }
  RedissonChannel(const RedissonChannel&) = delete;
  RedissonChannel& operator=(const RedissonChannel&) = delete;
  ~RedissonChannel() {
    connection_.send(std::vector<std::string_view>{"UNSUBSCRIBE"});
    connection_.flush();
    thread_.join();
  }

  void wait(std::chrono::milliseconds most) { static_cast<void>(releases_.try_acquire_for(most)); }

 private:
  void read() {
    for (bool first = true;; first = false) {
      const Reply reply = connection_.await();
      const std::string_view kind(reply->element[0]->str, reply->element[0]->len);
      if (kind == "unsubscribe") return;
      first ? subscribed_.release() : releases_.release();
    }
  }

  BlockingConnection connection_;
  std::binary_semaphore subscribed_{0};
  std::counting_semaphore<> releases_{0};
  std::thread thread_;  // the last member: it uses the others
};

/// The lock as one thread uses it.
class RedissonByHand {
 public:
  RedissonByHand(std::uint16_t port, std::string key, std::string owner, RedissonChannel& channel)
      : connection_(port),
        channel_(channel),
        key_(std::move(key)),
        channel_name_("redisson_lock__channel:{" + key_ + "}"),
        latch_("redisson_unlock_latch:{" + key_ + "}:" + owner),
        owner_(std::move(owner)),
        lock_(loaded(redisson_lock)),
        unlock_(loaded(redisson_unlock)) {}

  void lock() {
    for (;;) {
      const Reply reply = connection_.call({"EVALSHA", lock_, "1", key_, "30000", owner_});
      if (reply->type == REDIS_REPLY_NIL) return;
      channel_.wait(std::chrono::milliseconds(reply->integer));
    }
  }
  void unlock() {
    connection_.call({"EVALSHA", unlock_, "3", key_, channel_name_, latch_, "0", "30000", owner_,
                      "publish", "16000"});
    connection_.call({"DEL", latch_});
  }

 private:
  std::string loaded(const char* script) {
    const Reply reply = connection_.call({"SCRIPT", "LOAD", script});
    return {reply->str, reply->len};
  }

  BlockingConnection connection_;
  RedissonChannel& channel_;
  const std::string key_, channel_name_, latch_, owner_;
  const std::string lock_, unlock_;
};

}  // namespace latchkey::bench
