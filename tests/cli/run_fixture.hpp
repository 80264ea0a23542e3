// Fixture of the tests of `latchkey run`: a server, a folder, and the tool.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "support/polling.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

class CliRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(); }
  static void TearDownTestSuite() { delete server_; }
  void SetUp() override { server().client()({"FLUSHALL"}); }

  static RedisServer& server() { return *server_; }
  [[nodiscard]] static std::string uri() { return server_->unix_uri(); }

  /// Starts the tool; its command is a script for /bin/sh. What both print goes to log().
  [[nodiscard]] Process start(const std::vector<std::string>& options,
                              const std::string& script) const {
    return {latchkey_run(uri(), options, script), folder_.file("log")};
  }
  int run(const std::vector<std::string>& options, const std::string& script) const {
    return start(options, script).wait();
  }
  int run(const std::vector<std::string>& words) const {
    return Process(words, folder_.file("log")).wait();
  }
  [[nodiscard]] std::string log() const { return folder_.read("log"); }

  void await_file(const std::string& name) const {
    await(name, [&] { return folder_.has(name) ? std::string() : "not there yet; " + log(); });
  }
  /// Holds `key` until it is released or destroyed.
  class Holder {
   public:
    Holder(const CliRun& test, const std::string& key, const std::string& type)
        : tool_(latchkey_run(uri(), {"-k", key, "-t", type},
                             "touch " + test.folder_.file("held") + "; exec sleep 60"),
                test.folder_.file("holder")) {
      test.await_file("held");
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() { release(); }
    void release() {
      tool_.signal(SIGTERM);
      tool_.wait();
    }

   private:
    Process tool_;
  };

  /// All keys of the server.
  [[nodiscard]] static std::vector<std::string> keys() {
    return server_->client()({"KEYS", "*"}).list();
  }
  static void await_no_key() {
    await("an empty server",
          [] { return keys().empty() ? std::string() : "there is " + keys().front(); });
  }
  /// A process is alive: neither gone nor a zombie.
  [[nodiscard]] static bool alive(pid_t process);

  TemporaryFolder folder_;

 private:
  static inline RedisServer* server_ = nullptr;
};

}  // namespace latchkey::tests
