// The first connection of a store's client.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/options.hpp>

#include "stores/driver/driven_backend.hpp"
#include "unit/stores/loopback_client.hpp"

namespace latchkey::detail::stores {
namespace {

using namespace std::chrono_literals;
using tests::LoopbackClient;

TEST(DrivenBackendStart, AFailureIsAnErrorWithItsReason) {
  const auto start = [](bool permanent, bool may_be_absent) -> std::string {
    auto client = std::make_unique<LoopbackClient>("", Options{});
    client->start = StoreClient::Start::failed;
    client->failed = {permanent, "it says no"};
    DrivenBackend backend(std::move(client), Options{});
    try {
      backend.start(may_be_absent);
    } catch (const BackendRefused& error) {
      return std::string("refused ") + error.what();
    } catch (const BackendUnavailable& error) {
      return std::string("unavailable ") + error.what();
    }
    return "started";
  };
  EXPECT_TRUE(start(true, true).starts_with("refused "));
  EXPECT_NE(start(true, true).find("it says no"), std::string::npos);
  EXPECT_TRUE(start(false, false).starts_with("unavailable "));
  EXPECT_EQ(start(false, true), "started");
}

TEST(DrivenBackendStart, SilenceEndsAfterTheCommandTimeout) {
  auto client = std::make_unique<LoopbackClient>("", Options{});
  client->start = StoreClient::Start::connecting;
  Options options;
  options.command_timeout = 50ms;
  DrivenBackend backend(std::move(client), options);
  EXPECT_THROW(backend.start(false), BackendUnavailable);
}

}  // namespace
}  // namespace latchkey::detail::stores
