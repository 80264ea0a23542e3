// A value in a table of MariaDB.
#include <latchkey/fences/mysql.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/fence.hpp>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {
namespace {

class MysqlValue : public Resource {
 public:
  explicit MysqlValue(const std::string& socket) : connection_(mysql_init(nullptr), mysql_close) {
    if (mysql_real_connect(connection_.get(), "localhost", "owner", "owner", "app", 0,
                           socket.c_str(), 0) == nullptr) {
      fail();
    }
  }

  void prepare() override {
    run(std::string(fence_sql::ddl));
    run("CREATE TABLE IF NOT EXISTS balances (name VARCHAR(20) PRIMARY KEY, "
        "value VARCHAR(20) NOT NULL) ENGINE = InnoDB");
    run("REPLACE INTO balances VALUES ('account', '')");
    run("DELETE FROM latchkey_seen_fences");
  }
  std::string read() override {
    run("SELECT value FROM balances WHERE name = 'account'");
    const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> rows(
        mysql_store_result(connection_.get()), mysql_free_result);
    return mysql_fetch_row(rows.get())[0];
  }
  void write(const std::string& value, const std::optional<Fence>& fence) override {
    run("START TRANSACTION");
    try {
      if (fence) mysql::FenceTable(connection_.get()).admit(*fence);
    } catch (...) {
      run("ROLLBACK");
      throw;
    }
    run("UPDATE balances SET value = '" + value + "' WHERE name = 'account'");
    run("COMMIT");
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(mysql_error(connection_.get())); }
  void run(const std::string& statement) {
    if (mysql_real_query(connection_.get(), statement.data(), statement.size()) != 0) fail();
  }

  std::unique_ptr<MYSQL, void (*)(MYSQL*)> connection_;
};

}  // namespace

std::unique_ptr<Resource> open_mysql_value(const std::string& where) {
  return std::make_unique<MysqlValue>(where);
}

}  // namespace latchkey::tests
