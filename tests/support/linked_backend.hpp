// A FailingBackend with a connection that a test breaks and restores.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "support/failing_backend.hpp"

namespace latchkey::tests {

/// Forwards to a FailingBackend. The test calls notify() to report a lost or restored connection.
class LinkedBackend final : public Backend {
 public:
  explicit LinkedBackend(Faults& faults, std::vector<Connection> connections)
      : inner_(faults), connections_(std::move(connections)) {}

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return inner_.capabilities();
  }
  [[nodiscard]] std::string describe() const override { return "linked"; }
  [[nodiscard]] std::vector<Connection> connections() const override { return connections_; }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    sink_ = &sink;
    inner_.submit(requests, sink);
  }
  void drive(Parker& parker, Clock::time_point until) override { inner_.drive(parker, until); }

  void notify(Notification::Kind kind, std::string_view server = {}, std::string_view why = {}) {
    sink_.load()->notified({.kind = kind, .key = {}, .id = {}, .server = server, .text = why});
  }

 private:
  FailingBackend inner_;
  std::vector<Connection> connections_;
  std::atomic<Sink*> sink_ = nullptr;  ///< the last submit's sink; the timer thread submits, too
};

}  // namespace latchkey::tests
