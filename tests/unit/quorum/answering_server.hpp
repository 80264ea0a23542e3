// A server of a quorum that answers when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "quorum/quorum_backend.hpp"

namespace latchkey::detail::quorum {

/// A server that answers a request when the test says so.
class AnsweringServer final : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] std::string describe() const override { return "server"; }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    if (out_of_memory) throw std::bad_alloc();
    // All are accepted or, if this throws, none.
    unanswered_.reserve(std::max(unanswered_.capacity(), unanswered_.size() + requests.size()));
    for (Request* const request : requests) unanswered_.push_back({request, &sink});
    sink_ = &sink;
  }
  /// Only after the first submit.
  void notify(const Notification& notification) { sink_->notified(notification); }
  void drive(Parker& parker, Clock::time_point /*until*/) override {
    ++drives;
    if (on_drive) on_drive(parker);
  }

  /// The next `requests` requests need no memory.
  void reserve(std::size_t requests) { unanswered_.reserve(requests); }

  bool out_of_memory = false;
  int drives = 0;
  std::string name;
  [[nodiscard]] std::string identity() const override { return name; }
  std::function<void(Parker&)> on_drive;

  [[nodiscard]] std::vector<Verb> unanswered() const {
    std::vector<Verb> verbs;
    for (const auto& [request, sink] : unanswered_) verbs.push_back(request->verb);
    return verbs;
  }
  /// Replies to the oldest unanswered request of this verb.
  void reply(Verb verb, Outcome::Kind kind, bool never_ran = false) {
    const auto found =
        std::ranges::find(unanswered_, verb, [](const auto& each) { return each.first->verb; });
    ASSERT_NE(found, unanswered_.end()) << "not asked for: " << to_string(verb);
    const auto [request, sink] = *found;
    unanswered_.erase(found);
    Outcome outcome;
    outcome.kind = kind;
    outcome.never_ran = never_ran;
    sink->completed(*request, std::move(outcome));
  }

 private:
  std::vector<std::pair<Request*, Sink*>> unanswered_;
  Sink* sink_ = nullptr;
};

struct LastOutcome final : Sink {
  void completed(Request& /*request*/, Outcome&& outcome) noexcept override { kind = outcome.kind; }
  void notified(const Notification& /*notification*/) noexcept override {}
  Outcome::Kind kind = Outcome::Kind::unknown;
};

/// A quorum of such servers, which `servers` points to from then on.
inline std::unique_ptr<QuorumBackend> quorum_of(std::array<AnsweringServer*, 3>& servers,
                                                Clock& clock) {
  std::vector<std::unique_ptr<Backend>> all;
  for (AnsweringServer*& server : servers) {
    auto made = std::make_unique<AnsweringServer>();
    server = made.get();
    all.push_back(std::move(made));
  }
  return std::make_unique<QuorumBackend>(std::move(all), clock);
}

}  // namespace latchkey::detail::quorum
