// A value in a table of PostgreSQL.
#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/fence.hpp>
#include <latchkey/fences/postgresql.hpp>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {
namespace {

class PostgresqlValue : public Resource {
 public:
  explicit PostgresqlValue(const std::string& where)
      : connection_(PQconnectdb(where.c_str()), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail();
  }

  void prepare() override {
    run(std::string(fence_sql::ddl));
    run("CREATE TABLE IF NOT EXISTS balances (name text PRIMARY KEY, value text NOT NULL)");
    run("INSERT INTO balances VALUES ('account', '') "
        "ON CONFLICT (name) DO UPDATE SET value = ''");
    run("DELETE FROM latchkey_seen_fences");
  }
  std::string read() override {
    const Result result = run("SELECT value FROM balances WHERE name = 'account'");
    return PQgetvalue(result.get(), 0, 0);
  }
  void write(const std::string& value, const std::optional<Fence>& fence) override {
    run("BEGIN");
    try {
      if (fence) postgresql::FenceTable(connection_.get()).admit(*fence);
    } catch (...) {
      run("ROLLBACK");
      throw;
    }
    run("UPDATE balances SET value = '" + value + "' WHERE name = 'account'");
    run("COMMIT");
  }

 private:
  using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

  [[noreturn]] void fail() const { throw std::runtime_error(PQerrorMessage(connection_.get())); }
  Result run(const std::string& statement) {
    Result result(PQexec(connection_.get(), statement.c_str()), PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
    return result;
  }

  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

}  // namespace

std::unique_ptr<Resource> open_postgresql_value(const std::string& where) {
  return std::make_unique<PostgresqlValue>(where);
}

}  // namespace latchkey::tests
