// Drives a PostgresqlClient with requests, time, and a server that answers as it should, or with
// rows, errors and notifications of any kind. Every request must end exactly once, and nothing may
// hang, or end the process.
//
// The first byte of the input selects the schema. Each further byte is a move, or decides how the
// server answers.
//
// Covers: src/stores/postgresql/batch.cpp src/stores/postgresql/layout.cpp
// Covers: src/stores/postgresql/native_outcome.cpp src/stores/postgresql/subscriptions.cpp
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/testing/manual_clock.hpp>

#include "fuzz/moves.hpp"
#include "fuzz/store_play.hpp"
#include "stores/postgresql/client.hpp"
#include "stores/postgresql/fake_server.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::fuzz;
using latchkey::Verb;
using latchkey::detail::postgresql::PostgresqlClient;
using latchkey::detail::postgresql::PostgresqlUri;
using latchkey::tests::FakePostgresqlServer;
namespace wire = latchkey::tests::postgresql_wire;

constexpr auto timeout = 2000ms;

/// The server: it knows the shape of each result, and lies as the input says.
class Server {
 public:
  explicit Server(Moves& moves) : moves_(moves) {}

  std::optional<std::string> answer(const FakePostgresqlServer::Asked& asked) {
    is_honest_ = is_of_start(asked) && !rarely(24);
    std::string reply = reply_to(asked);
    if (is_honest_) return reply;
    switch (moves_.below(24)) {
      case 19: return std::nullopt;
      case 20: return std::string(moves_.bytes(1 + moves_.below(12)));
      case 21: reply.resize(moves_.below(reply.size() + 1)); break;
      case 22: reply += reply; break;
      case 23: spoil(reply); break;
      default: break;
    }
    return reply;
  }
  /// A message that a server sends without a request.
  std::string word() {
    if (moves_.below(8) == 0) return wire::error("57P01", "terminating connection");
    static constexpr std::array<std::string_view, 4> waiters{"", "1:1", "1", " "};
    if (moves_.below(4) == 0) {
      static constexpr std::array<const char*, 3> forced{"a", "{a}b", "c"};
      return wire::notification("latchkey_forced", forced[moves_.below(forced.size())]);
    }
    const std::string waiter(waiters[moves_.below(waiters.size())]);
    const std::string payload = waiter + (moves_.below(4) == 0 ? "" : " ") + cell().value_or("a");
    return wire::notification("latchkey", payload.substr(0, payload.find('\0')));
  }

 private:
  bool rarely(std::size_t bound) { return moves_.below(bound) == bound - 1; }
  bool lies(std::size_t bound) { return !is_honest_ && rarely(bound); }
  static bool is_of_start(const FakePostgresqlServer::Asked& asked) noexcept {
    return asked.kind == 'Q' || asked.kind == 'S' || asked.sql.find("LISTEN") == 0 ||
           asked.sql.find("subscribe_all") != std::string::npos;
  }
  void spoil(std::string& reply) {
    if (reply.empty()) return;
    reply[moves_.below(std::min<std::size_t>(reply.size(), 256))] =
        static_cast<char>(moves_.below(256));
  }

  std::string reply_to(const FakePostgresqlServer::Asked& asked) {
    switch (asked.kind) {
      case 'Q': return lies(6) ? error() + wire::ready() : all_of(start(asked.sql)) + wire::ready();
      case 'D':
        if (lies(32)) return error();
        table_ = result_of(asked.sql);
        return wire::described(table_);
      case 'E':
        if (lies(24)) return error();
        if (lies(32)) return wire::message("GHWIsc"[moves_.below(6)], wire::number(0, 3));
        return wire::executed(table_);
      default: return wire::ready();
    }
  }
  std::string error() {
    static constexpr std::array<std::string_view, 8> states{"40001", "40P01", "55P03", "42501",
                                                            "42883", "25006", "XX000", "3F000"};
    return wire::error(std::string(states[moves_.below(states.size())]), "no");
  }
  static std::string all_of(const wire::Table& table) {
    return wire::described(table) + wire::executed(table);
  }
  wire::Table start(std::string_view sql) {
    if (lies(4)) return table(moves_.below(6), moves_.below(3));
    if (sql.find("pg_is_in_recovery") != std::string_view::npos) {
      return {4, {{"77", "f", "1.5", "off"}}};
    }
    if (sql.find("pg_terminate_backend") != std::string_view::npos) return {3, {{"77", "0", ""}}};
    if (sql.find("latchkey.version()") != std::string_view::npos) {
      return {4, {{"1", "t", "t", "t"}}};
    }
    if (sql.find("has_table_privilege") != std::string_view::npos) {
      return {4, {{"t", "0", std::nullopt, "t"}}};
    }
    return {};
  }
  wire::Table result_of(std::string_view sql) {
    if (sql.find("LISTEN") == 0) return {};
    if (lies(16)) return table(moves_.below(8), moves_.below(4));
    if (sql.find("inspect") != std::string_view::npos) return table(6, moves_.below(4));
    if (sql.find("list") != std::string_view::npos) return table(2, moves_.below(4));
    if (sql.find("EXISTS") != std::string_view::npos) return table(3, 1);
    if (sql.find("UPDATE") != std::string_view::npos) return table(1, moves_.below(2));
    return table(1 + (sql.find("set_config") != std::string_view::npos ? 1U : 0U), 1);
  }
  wire::Table table(std::size_t columns, std::size_t rows) {
    wire::Table made{columns, {}};
    made.rows.resize(rows);
    for (auto& row : made.rows) {
      for (std::size_t at = 0; at < columns; ++at) row.push_back(cell());
    }
    return made;
  }
  std::optional<std::string> cell() {
    static constexpr std::array<std::string_view, 29> cells{"t",
                                                            "t",
                                                            "f",
                                                            "1",
                                                            "0",
                                                            "-1",
                                                            "g 1",
                                                            "g 2",
                                                            "g",
                                                            "g x",
                                                            "b 50",
                                                            "b 5 x",
                                                            "b 50 1",
                                                            "b -1",
                                                            "b",
                                                            "b 1 0 x",
                                                            "b 9223372036854775807 a",
                                                            "g 9223372036854775807",
                                                            "o",
                                                            "l",
                                                            "f 3",
                                                            "a",
                                                            "q",
                                                            "s",
                                                            "r",
                                                            "p",
                                                            "w",
                                                            "",
                                                            "9223372036854775807"};
    const std::size_t which = moves_.below(cells.size() + 2);
    if (which < cells.size()) return std::string(cells[which]);
    if (which == cells.size()) return std::nullopt;
    return std::string(moves_.bytes(moves_.below(200)));
  }

  Moves& moves_;
  bool is_honest_ = false;  ///< the current reply is correct
  wire::Table table_;       ///< described last
};

constexpr std::array verbs{
    Verb::acquire,       Verb::acquire,   Verb::release,     Verb::release,
    Verb::renew,         Verb::verify,    Verb::expire,      Verb::downgrade,
    Verb::leave,         Verb::inspect,   Verb::list,        Verb::resize,
    Verb::force_release, Verb::subscribe, Verb::unsubscribe, Verb::acquire_all};

}  // namespace

/// libpq itself forgets some memory if a reply is malformed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpq.so\n"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Moves moves(data, size);
  const bool shedlock = moves.below(3) == 0;
  Server script(moves);
  FakePostgresqlServer server(
      [&](const FakePostgresqlServer::Asked& asked) { return script.answer(asked); });
  latchkey::testing::ManualClock clock;
  PostgresqlClient client(PostgresqlUri::parse(server.uri(shedlock ? "&schema=shedlock" : "")),
                          {.command_timeout = timeout, .clock = &clock});
  StorePlay play(moves, clock, client, timeout, verbs, [&] { return server.work(0); });
  while (!moves.over()) {
    if (moves.below(4) == 0) server.say(script.word());
    play.move();
  }
  play.end();
  return 0;
}
