// Threads with a connection each pay into one account, in three ways that lose no payment.
//
//     transactions --database "host=/run/postgresql dbname=accounts"
//
// The locks of the third way are in memory, which is enough for the threads of one process:
// --backend names another place.
#include <latchkey/latchkey.hpp>
#include <latchkey/postgresql.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <future>
#include <string>
#include <vector>

#include "transactions/accounts.hpp"

namespace {

constexpr int threads = 4;
constexpr int payments = 50;

struct Way {
  const char* name;
  long (Accounts::*deposit)(const std::string& id, long cents);
};
constexpr Way ways[] = {
    {"row lock", &Accounts::deposit_with_row_lock},
    {"transaction lock", &Accounts::deposit_with_transaction_lock},
    {"lock around a transaction", &Accounts::deposit_with_lock},
};

/// The sum that the account has afterwards.
long pay(const std::string& database, const Way& way) {
  Database db(database);
  Accounts accounts(db);
  accounts.write("example", 0);
  std::vector<std::future<void>> payers;
  for (int thread = 0; thread < threads; ++thread) {
    payers.push_back(std::async(std::launch::async, [&database, &way] {
      Database own(database);
      Accounts mine(own);
      for (int payment = 0; payment < payments; ++payment) (mine.*way.deposit)("example", 1);
    }));
  }
  for (std::future<void>& payer : payers) payer.get();
  return accounts.read("example");
}

}  // namespace

int main(int argc, char** argv) {
  std::string database, backend = "memory:";
  CLI::App app("Threads pay into one account of a PostgreSQL database.");
  app.add_option("--database", database, "connection string of libpq")->required();
  app.add_option("--backend", backend, "where the locks are");
  CLI11_PARSE(app, argc, argv);
  try {
    latchkey::register_postgresql();
    latchkey::install(latchkey::Locks::connect(backend));
    Database db(database);
    Accounts::create(db);
    bool right = true;
    for (const Way& way : ways) {
      const long sum = pay(database, way);
      fmt::print("{:<26} {} of {} payments are there\n", way.name, sum, threads * payments);
      right = right && sum == threads * payments;
    }
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
