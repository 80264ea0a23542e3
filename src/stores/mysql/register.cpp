// Registers the scheme mysql://.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/mysql.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/mysql/client.hpp"

namespace latchkey::inline v1 {

void register_mysql() {
  using namespace detail;
  register_store("mysql", &stores::connect_client<mysql::MysqlClient, mysql::MysqlUri>);
}

}  // namespace latchkey::inline v1
