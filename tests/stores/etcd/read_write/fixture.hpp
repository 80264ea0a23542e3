// A lock for reading and writing at a real etcd, as several processes see it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>

#include "etcd_fixture.hpp"
#include "stores/etcd/queue_keys.hpp"

namespace latchkey::tests {

class EtcdReadWriteTest : public ::testing::Test {
 protected:
  using Kind = Outcome::Kind;
  using Note = Notification::Kind;
  static constexpr std::chrono::seconds patience{5};
  static constexpr std::chrono::milliseconds silence{50};
  static constexpr std::chrono::seconds lease{20};

  /// A process, with the id of its claim. It listens to grants.
  struct Waiter {
    explicit Waiter(const std::string& uri) : probe(etcd_backend(uri), {}), id(probe.fresh_id()) {}

    testing::Probe probe;
    HoldId id;
  };

  [[nodiscard]] std::string uri() const { return server_.uri("session=30s"); }
  /// An acquire that waits, as the coordinator sends it.
  Outcome acquire(Waiter& who, LockType type) {
    Request request;
    request.key = key_;
    request.type = type;
    request.id = who.id;
    request.lease = lease;
    request.queue_wait = std::chrono::seconds(1);
    request.queues = type != LockType::READ;
    if (request.queues) {
      Request listens = request;
      listens.verb = Verb::subscribe;
      listens.id.number = 0;
      who.probe.send(listens);
    }
    return who.probe.send(request);
  }
  /// An acquire that makes one attempt.
  Kind attempt(Waiter& who, LockType type) {
    return who.probe.acquire(key_, type, who.probe.fresh_id(), lease).kind;
  }
  Kind release(Waiter& who, LockType type) {
    return who.probe.send(Verb::release, key_, type, who.id).kind;
  }
  Kind renew(Waiter& who, LockType type) { return who.probe.renew(key_, type, who.id, lease).kind; }
  Kind downgrade(Waiter& who) { return who.probe.downgrade(key_, who.id, lease).kind; }
  /// The kind of the only notification about this claim that arrives.
  ::testing::AssertionResult is_told(Waiter& who, Note kind) {
    const auto notes = who.probe.notes(patience);
    if (notes.size() == 1 && notes[0].kind == kind && notes[0].id == who.id) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << notes.size() << " notifications";
  }
  bool is_told_nothing(Waiter& who) { return who.probe.notes(silence).empty(); }

  [[nodiscard]] std::vector<std::string> keys() const { return server_.keys(key_ + '/'); }
  /// The key of the place that was taken last.
  [[nodiscard]] std::string last_key() const {
    const std::string printed = server_.ctl({"get", "--prefix", key_ + '/', "--keys-only",
                                             "--limit=1", "--order=DESCEND", "--sort-by=CREATE"});
    return printed.substr(0, printed.find('\n'));
  }
  /// The lease of a key, as etcdctl wants it.
  static std::string lease_of(std::string_view key) {
    const std::string last(key.substr(key.rfind('/') + 1));
    const bool is_plain = key.find("/read/") == key.npos && key.find("/write/") == key.npos;
    return is_plain ? last : detail::etcd::hex_of(std::stoll(last));
  }

  EtcdServer& server_ = shared_etcd();
  const std::string key_ = fresh_etcd_key();
};

}  // namespace latchkey::tests
