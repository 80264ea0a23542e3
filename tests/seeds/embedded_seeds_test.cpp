// The locker's scenarios on the backends that need no server.
#include <memory>
#include <utility>

#include "seeds/locker.hpp"
#include "unit/backend/toy_backend.hpp"

namespace latchkey::tests {
namespace {

Locks toy_locks(Options options) {
  auto store = std::make_shared<toy::Store>(Clock::system());
  return Locks(std::make_unique<toy::ToyBackend>(std::move(store)), std::move(options));
}

INSTANTIATE_TEST_SUITE_P(Embedded, Locker,
                         ::testing::Values(Place{"memory",
                                                 [](Options options) {
                                                   return Locks::connect("memory:", options);
                                                 }},
                                           Place{"named_memory",
                                                 [](Options options) {
                                                   return Locks::connect("memory:seeds", options);
                                                 }},
                                           Place{"simple", &toy_locks, false}),
                         [](const auto& place) { return std::string(place.param.name); });

}  // namespace
}  // namespace latchkey::tests
