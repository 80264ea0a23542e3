// The program of docs/stores/kubernetes.md.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/kubernetes.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

std::atomic<std::uint64_t> billed{0};

void bill_next(std::uint64_t term) {
  billed = term;
  // sleeps: a job of the page's program
  std::this_thread::sleep_for(5ms);
}

// The program of the page needs a pod: it is compiled here.
[[maybe_unused]] void lead_in_a_pod() {
  latchkey::register_kubernetes();
  const latchkey::Locks locks = latchkey::Locks::connect("k8s://billing");
  const latchkey::Leader leader =
      locks.leader("billing-leader", [](const std::stop_token& stop, std::uint64_t term) {
        while (!stop.stop_requested()) bill_next(term);
      });
}

TEST(KubernetesPage, ItsProgramIsElectedOnAServerThatTheUriNames) {
  ApiServer server;
  latchkey::register_kubernetes();
  const latchkey::Locks locks = latchkey::Locks::connect(server.uri());
  const latchkey::Leader leader =
      locks.leader("billing-leader", [](const std::stop_token& stop, std::uint64_t term) {
        while (!stop.stop_requested()) bill_next(term);
      });
  EXPECT_TRUE(eventually([&] { return billed > 0; }));
  EXPECT_EQ(server.lease("billing-leader")["spec"]["leaseTransitions"], leader.term());
}

}  // namespace
}  // namespace latchkey::tests
