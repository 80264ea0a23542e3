// Registers the scheme postgresql://.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/postgresql.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/postgresql/client.hpp"

namespace latchkey::inline v1 {

void register_postgresql() {
  using detail::postgresql::PostgresqlClient, detail::postgresql::PostgresqlUri;
  detail::register_store("postgresql",
                         &detail::stores::connect_client<PostgresqlClient, PostgresqlUri>);
}

}  // namespace latchkey::inline v1
