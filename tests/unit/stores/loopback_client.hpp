// A store behind a socket: the client of DrivenBackend that its tests drive.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <deque>
#include <memory>
#include <new>
#include <utility>

#include <latchkey/options.hpp>

#include "memory/memory_backend.hpp"
#include "stores/driver/store_client.hpp"

namespace latchkey::tests {

/// Requests are answered by the memory backend; each reply arrives through a descriptor, as those
/// of a server do.
class LoopbackClient final : public detail::stores::StoreClient {
 public:
  LoopbackClient(const std::string& space, const Options& options)
      : memory_(detail::make_memory_backend("memory:" + space, options)) {
    connect();
    outbox_.link(true, {});
  }

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    Capabilities offered = memory_->capabilities();
    offered.pushes = offered.grants = offered.revocation = false;
    return offered;
  }
  [[nodiscard]] std::string describe() const override { return "loopback:"; }
  [[nodiscard]] Start start_state() const noexcept override { return start; }
  [[nodiscard]] const detail::stores::Failure* failure() const noexcept override {
    return start == Start::failed ? &failed : nullptr;
  }

  void submit(std::span<Request* const> requests, Sink& sink) override {
    if (std::exchange(lacks_memory_to_submit, false)) throw std::bad_alloc();
    if (reconnects) connect();
    for (Request* const request : requests) {
      Reply& reply = underway_.emplace_back(request, &sink, Outcome{});
      memory_->answer(*request, reply.outcome, sink);
    }
    if (answers) ::eventfd_write(replies_.get(), 1);
  }

  void send(Clock::time_point /*now*/) override {
    if (std::exchange(lacks_memory_to_send, false)) throw std::bad_alloc();
  }

  void advance(Clock::time_point now) override {
    if (std::exchange(lacks_memory, false)) throw std::bad_alloc();
    if (now >= alarm.load()) {
      alarm = Clock::never();
      ++alarms;
    }
    if (descriptors_.ready(replies_.get()) == 0) return;
    eventfd_t count = 0;
    ::eventfd_read(replies_.get(), &count);
    for (; !underway_.empty(); underway_.pop_front()) {
      Reply& reply = underway_.front();
      outbox_.complete(*reply.request, *reply.sink, std::move(reply.outcome));
    }
  }

  [[nodiscard]] Clock::time_point due() const noexcept override { return alarm; }

  [[nodiscard]] bool awaits_events() const noexcept override { return awaits; }

  void start_over(Clock::time_point /*now*/) noexcept override {
    underway_.clear();
    ++started_over;
  }
  void abandon() noexcept override {
    underway_.clear();
    ++abandoned;
  }

  /// A reply that was held back.
  void answer_now() noexcept { ::eventfd_write(replies_.get(), 1); }

  Start start = Start::up;
  detail::stores::Failure failed{};
  bool answers = true;
  bool awaits = true;
  bool reconnects = false;  ///< whenever something is submitted
  std::atomic<Clock::time_point> alarm = Clock::never();
  std::atomic<int> alarms = 0;
  int abandoned = 0;
  int started_over = 0;
  bool lacks_memory_to_submit = false, lacks_memory_to_send = false,
       lacks_memory = false;  ///< once

 private:
  void connect() {
    if (replies_.valid()) descriptors_.forget(replies_.get());
    replies_ = detail::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    descriptors_.watch(replies_.get(), POLLIN);
  }

  struct Reply {
    Request* request;
    Sink* sink;
    Outcome outcome;
  };
  std::unique_ptr<Backend> memory_;
  detail::FileDescriptor replies_;
  std::deque<Reply> underway_;
};

}  // namespace latchkey::tests
