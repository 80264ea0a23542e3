// The resources by their names.
#include <memory>
#include <stdexcept>
#include <string>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {

std::unique_ptr<Resource> open_resource(const std::string& kind, const std::string& where) {
  if (kind == "file") return open_file_value(where);
  if (kind == "redis") return open_redis_value(where);
#ifdef LATCHKEY_FENCES_HTTP
  if (kind == "http") return open_http_value(where);
#endif
#ifdef LATCHKEY_FENCES_MYSQL
  if (kind == "mysql") return open_mysql_value(where);
#endif
#ifdef LATCHKEY_FENCES_POSTGRESQL
  if (kind == "postgresql") return open_postgresql_value(where);
#endif
  throw std::runtime_error("no resource '" + kind + "' in this program");
}

}  // namespace latchkey::tests
