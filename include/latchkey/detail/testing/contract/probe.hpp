// A connection to a backend that sends one request at a time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::testing {

/// Sends requests to a backend as a coordinator does, and waits for each outcome. For tests of
/// backends. Not thread-safe.
class Probe final : public Sink {
 public:
  /// A received notification.
  struct Note {
    Notification::Kind kind;
    std::string key;
    HoldId id;
    std::uint64_t place, token;  ///< granted
  };

  Probe(std::unique_ptr<Backend> backend, const Options& options)
      : backend_(std::move(backend)),
        clock_(options.clock != nullptr ? *options.clock : Clock::system()),
        space_(HoldId::new_space()) {
    probes().push_back(this);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() { std::erase(probes(), this); }

  [[nodiscard]] Capabilities offers() const noexcept { return backend_->capabilities(); }
  [[nodiscard]] Backend& backend() noexcept { return *backend_; }

  /// An id that this probe has not returned before.
  [[nodiscard]] HoldId fresh_id() noexcept { return {space_, ++last_number_}; }

  /// Submits the request, drives until it is completed, and returns the outcome.
  Outcome send(Request request) {
    Waiting waiting;
    request.context = &waiting;
    request.sent = clock_.now();
    Request* const one[] = {&request};
    backend_->submit(one, *this);
    while (waiting.completions == 0) drive();
    return std::move(waiting.outcome);
  }

  Outcome acquire(std::string_view key, LockType type, const HoldId& id,
                  std::chrono::milliseconds lease, std::chrono::milliseconds queue_wait = {},
                  std::uint32_t tokens = 1) {
    Request request = make_request(Verb::acquire, key, id, type);
    request.lease = lease;
    request.queue_wait = queue_wait;
    request.tokens = tokens;
    return send(request);
  }
  Outcome renew(std::string_view key, LockType type, const HoldId& id,
                std::chrono::milliseconds lease) {
    Request request = make_request(Verb::renew, key, id, type);
    request.lease = lease;
    return send(request);
  }
  Outcome downgrade(std::string_view key, const HoldId& id, std::chrono::milliseconds lease) {
    Request request = make_request(Verb::downgrade, key, id, LockType::WRITE);
    request.lease = lease;
    return send(request);
  }
  /// For verify, release, leave, subscribe, unsubscribe and force_release.
  Outcome send(Verb verb, std::string_view key, LockType type = LockType::REENTRANT,
               const HoldId& id = {}) {
    return send(make_request(verb, key, id, type));
  }
  LockInfo inspect(std::string_view key) {
    LockInfo info;
    Request request = make_request(Verb::inspect, key, {}, LockType::REENTRANT);
    request.info = &info;
    send(request);
    return info;
  }
  std::vector<std::string> list(std::string_view pattern) {
    std::vector<std::string> names;
    Request request = make_request(Verb::list, pattern, {}, LockType::REENTRANT);
    request.names = &names;
    send(request);
    return names;
  }

  /// Appends the names of one part of a listing.
  Outcome list(std::string_view pattern, ListPart& part, std::vector<std::string>& names) {
    Request request = make_request(Verb::list, pattern, {}, LockType::REENTRANT);
    request.names = &names;
    request.part = &part;
    return send(request);
  }

  /// Returns the notifications that arrived since the last call. If there are none, waits up to
  /// `patience` (real time) for the first one.
  std::vector<Note> notes(std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    const auto end = std::chrono::steady_clock::now() + patience;
    do {
      backend_->drive(Parker::mine(), later(clock_.now(), std::chrono::milliseconds(0)));
    } while (notes_.empty() && std::chrono::steady_clock::now() < end);
    return std::exchange(notes_, {});
  }

  void drive() { backend_->drive(Parker::mine(), later(clock_.now(), std::chrono::seconds(10))); }

  /// Drives the probes of this thread for `time`, in real time, as the threads of their processes
  /// would, if the holds of one live as long as a session. False: none do.
  static bool drive_sessions(std::chrono::milliseconds time) {
    const auto lives_by_session = [](const Probe* probe) {
      return probe->offers().lifetime == Capabilities::Lifetime::per_session;
    };
    if (std::none_of(probes().begin(), probes().end(), lives_by_session)) return false;
    return drive_all(time);
  }
  /// Drives the probes of this thread for `time`, in real time. False: there are none.
  static bool drive_all(std::chrono::milliseconds time) {
    if (probes().empty()) return false;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      for (Probe* const probe : probes()) {
        probe->backend_->drive(Parker::mine(),
                               later(probe->clock_.now(), std::chrono::milliseconds(2)));
      }
    }
    return true;
  }

 private:
  struct Waiting {
    Outcome outcome;
    int completions = 0;
  };

  /// Those of this thread.
  static std::vector<Probe*>& probes() {
    static thread_local std::vector<Probe*> all;
    return all;
  }

  static Request make_request(Verb verb, std::string_view key, const HoldId& id, LockType type) {
    Request request;
    request.verb = verb;
    request.key = key;
    request.id = id;
    request.type = type;
    return request;
  }

  void completed(Request& request, Outcome&& outcome) noexcept override {
    auto& waiting = *static_cast<Waiting*>(request.context);
    waiting.outcome = std::move(outcome);
    ++waiting.completions;
  }
  void notified(const Notification& notification) noexcept override {
    notes_.push_back({notification.kind, std::string(notification.key), notification.id,
                      notification.place, notification.token});
  }

  std::unique_ptr<Backend> backend_;
  Clock& clock_;
  std::array<std::uint64_t, 2> space_;
  std::uint64_t last_number_ = 0;
  std::vector<Note> notes_;
};

}  // namespace latchkey::inline v1::testing
