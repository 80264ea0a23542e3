// The command ddl: prints the statements that make a store's tables, or the table of the fences.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <latchkey/fences/sql.hpp>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "stores/mysql/ddl.hpp"
#include "stores/postgresql/ddl.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* examples = R"(Examples:
  latchkey ddl postgresql | psql --dbname=locks
  latchkey ddl mysql | mysql locks
  latchkey ddl fences | psql --dbname=shop

fences is the table of the highest fencing tokens, beside your own tables in PostgreSQL, MariaDB,
MySQL or SQLite: docs/fencing.md.

The statements may be run again: they create what is missing, and update functions.)";

struct StoreDdl {
  std::string_view store;
  const std::string_view& text;
};
const std::array<StoreDdl, 3> all_ddl = {{{"fences", fence_sql::ddl},
                                          {"mysql", detail::mysql::ddl},
                                          {"postgresql", detail::postgresql::ddl}}};

int print_ddl(const std::string& store) {
  const auto found = std::ranges::find(all_ddl, std::string_view(store), &StoreDdl::store);
  if (found == all_ddl.end()) {
    std::string known;
    for (const StoreDdl& each : all_ddl) {
      known += (known.empty() ? "" : ", ") + std::string(each.store);
    }
    throw UsageError("ddl '" + store + "': a store without tables; expected one of " + known);
  }
  write_out(found->text);
  return exit_code::success;
}

}  // namespace

void add_ddl(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "ddl", "Print the SQL statements that make a store's tables, or the table of the fences");
  const auto store = std::make_shared<std::string>();
  command->add_option("store", *store, "mysql, postgresql or fences")
      ->required()
      ->type_name("STORE");
  command->footer(examples);
  command->callback([&action, store] { action = [store] { return print_ddl(*store); }; });
}

}  // namespace latchkey::inline v1::cli
