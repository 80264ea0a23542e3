// A fake etcd that serves in a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/etcd.hpp>

#include "backend/registry.hpp"
#include "fake_server.hpp"
#include "stores/etcd/wire/protobuf.hpp"

namespace latchkey::tests {

/// Answers every call but those of watches, to which it says nothing.
inline std::string without_watches(const FakeEtcd::Call& call) {
  if (call.path.ends_with("/Watch")) return etcd_wire::head(call.stream);
  const std::string reply =
      call.path.ends_with("/Status")
          ? detail::etcd::ProtobufWriter().bytes(2, "3.5.9").number(4, 1).take()
      : call.path.ends_with("/LeaseGrant") || call.path.ends_with("KeepAlive")
          ? detail::etcd::ProtobufWriter().number(2, 5).number(3, 45).take()
          : std::string();
  return etcd_wire::head(call.stream) + etcd_wire::message(call.stream, reply) +
         etcd_wire::trailer(call.stream);
}

/// Grants every transaction at `revision`, and answers other calls as `without_watches` does.
inline std::string with_grants(const FakeEtcd::Call& call, std::int64_t revision = 7,
                               const std::string& status = "0") {
  if (!call.path.ends_with("/Txn")) return without_watches(call);
  const std::string header = detail::etcd::ProtobufWriter().number(3, revision).take();
  const std::string granted = detail::etcd::ProtobufWriter().message(1, header).number(2, 1).take();
  return etcd_wire::head(call.stream) + etcd_wire::message(call.stream, granted) +
         etcd_wire::trailer(call.stream, status);
}

/// A server that answers in a thread of its own.
class ServingEtcd {
 public:
  explicit ServingEtcd(FakeEtcd::Answer answer) : server_(std::move(answer)) {}

  [[nodiscard]] testing::Probe connect() const {
    register_etcd();
    const Options options{.command_timeout = std::chrono::seconds(5)};
    return testing::Probe(detail::find_backend_factory("etcd")(server_.uri(), options), options);
  }

 private:
  FakeEtcd server_;
  std::jthread serving_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(server_.work(10));
  }};
};

}  // namespace latchkey::tests
