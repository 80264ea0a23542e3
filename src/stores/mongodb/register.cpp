// Registers the scheme mongodb.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/mongodb.hpp>

#include <memory>
#include <string_view>
#include <utility>

#include <latchkey/clock.hpp>
#include <latchkey/options.hpp>

#include "backend/registry.hpp"
#include "stores/mongodb/mongodb_backend.hpp"
#include "stores/mongodb/shedlock_backend.hpp"
#include "stores/mongodb/uri.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::mongodb::MongoBackend;

std::unique_ptr<Backend> make_mongodb(std::string_view uri, const Options& options) {
  auto settings = detail::mongodb::parse_uri(uri, options.command_timeout);
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  std::unique_ptr<MongoBackend> backend;
  if (settings.schema == detail::LockSchema::shedlock) {
    backend = std::make_unique<detail::mongodb::ShedLockBackend>(std::move(settings), clock);
  } else {
    backend = std::make_unique<detail::mongodb::DocumentBackend>(std::move(settings), clock);
  }
  backend->start(options.startup == Startup::allow_down);
  return backend;
}

}  // namespace

void register_mongodb() { detail::register_store("mongodb", &make_mongodb); }

}  // namespace latchkey::inline v1
