// A connection to PostgreSQL, for the examples of transactions: what a service already has.
#pragma once

#include <libpq-fe.h>

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

class Database {
 public:
  /// `parameters`: a connection string of libpq. Throws std::runtime_error.
  explicit Database(const std::string& parameters)
      : connection_(::PQconnectdb(parameters.c_str()), ::PQfinish) {
    if (::PQstatus(connection()) != CONNECTION_OK) {
      throw std::runtime_error(::PQerrorMessage(connection()));
    }
  }

  [[nodiscard]] PGconn* connection() const noexcept { return connection_.get(); }

  /// Runs a statement with the parameters $1, $2, … Returns the first cell; empty: there is none.
  /// Throws std::runtime_error.
  std::string run(const std::string& sql, std::initializer_list<std::string> parameters = {}) {
    std::vector<const char*> values;
    for (const std::string& each : parameters) values.push_back(each.c_str());
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        ::PQexecParams(connection(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                       values.data(), nullptr, nullptr, 0),
        ::PQclear);
    const ExecStatusType status = ::PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      throw std::runtime_error(::PQerrorMessage(connection()));
    }
    tag_ = ::PQcmdStatus(result.get());
    return ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
  }

  /// The server's tag of the last statement: "COMMIT", "UPDATE 1".
  [[nodiscard]] const std::string& tag() const noexcept { return tag_; }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
  std::string tag_;
};
