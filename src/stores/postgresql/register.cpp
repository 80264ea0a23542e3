// Makes postgresql:// known.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/postgresql.hpp>

#include <memory>
#include <string_view>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/postgresql/client.hpp"

namespace latchkey::inline v1 {

void register_postgresql() {
  detail::register_store("postgresql", [](std::string_view uri, const Options& options) {
    return detail::stores::drive_client(std::make_unique<detail::postgresql::PostgresqlClient>(
                                            detail::postgresql::PostgresqlUri::parse(uri), options),
                                        options);
  });
}

}  // namespace latchkey::inline v1
