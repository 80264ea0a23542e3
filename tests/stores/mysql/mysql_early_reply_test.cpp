// A reply that arrives while the request is still sent, as if the thread were interrupted there.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "stores/driver/outbox.hpp"
#include "stores/mysql/client.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace {

/// The calling thread's `send` returns when the reply is there, as for a thread that the scheduler
/// interrupts.
thread_local bool send_awaits_reply = false;

}  // namespace

// Instead of the C library's, also for libmariadb.
extern "C" __attribute__((visibility("default"))) ssize_t send(int descriptor, const void* data,
                                                               size_t size, int flags) {
  using Send = ssize_t (*)(int, const void*, size_t, int);
  static const auto real_send = reinterpret_cast<Send>(::dlsym(RTLD_NEXT, "send"));
  const ssize_t sent = real_send(descriptor, data, size, flags);
  if (send_awaits_reply && sent > 0) {
    pollfd reply{.fd = descriptor, .events = POLLIN, .revents = 0};
    ::poll(&reply, 1, 10'000);
  }
  return sent;
}

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::mysql::MysqlClient;
using detail::mysql::MysqlUri;

class MysqlEarlyReply : public ::testing::Test, public Sink {
 protected:
  MysqlEarlyReply() {
    while (client_.start_state() == detail::stores::StoreClient::Start::connecting) work();
  }
  ~MysqlEarlyReply() override { send_awaits_reply = false; }

  /// The thread that polls returns at once.
  [[nodiscard]] bool is_told() {
    const auto polled = client_.descriptors().polled();
    pollfd events{.fd = polled.descriptor, .events = polled.events, .revents = 0};
    return client_.due() <= Clock::system().now() || ::poll(&events, 1, 0) == 1;
  }
  void work() {
    pollfd events{.fd = client_.descriptors().descriptor(), .events = POLLIN, .revents = 0};
    if (client_.due() > Clock::system().now()) ::poll(&events, 1, 10);
    client_.advance(Clock::system().now());
  }
  std::vector<detail::stores::Delivery> deliveries() {
    std::vector<detail::stores::Delivery> all(16);
    all.resize(client_.outbox().take(all));
    return all;
  }
  void completed(Request& /*request*/, Outcome&& /*outcome*/) noexcept override {}
  void notified(const Notification& /*notification*/) noexcept override {}

  MysqlClient client_{MysqlUri::parse(mysql_server().uri()), Options{}};
};

TEST_F(MysqlEarlyReply, TheThreadThatPollsIsToldThatThereIsWorkNow) {
  Request request;
  request.lease = 1s;
  request.id = {HoldId::new_space(), 1};
  std::vector<Request*> requests{&request};
  for (const bool early : {false, true}) {  // the first one is sent after a sweep
    const std::string key = next_key();
    request.key = key;
    send_awaits_reply = early;
    client_.submit(requests, *this);
    client_.send(Clock::system().now());
    send_awaits_reply = false;
    if (early) {
      EXPECT_TRUE(is_told());
    }
    while (deliveries().empty()) work();
  }
}

}  // namespace
}  // namespace latchkey::tests
