// Registers the scheme mysql://.
// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <string_view>

#include <latchkey/mysql.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/mysql/client.hpp"

namespace latchkey::inline v1 {
namespace {

std::unique_ptr<Backend> make_mysql_backend(std::string_view uri, const Options& options) {
  return detail::stores::drive_client(
      std::make_unique<detail::mysql::MysqlClient>(detail::mysql::MysqlUri::parse(uri), options),
      options);
}

}  // namespace

void register_mysql() { detail::register_store("mysql", &make_mysql_backend); }

}  // namespace latchkey::inline v1
