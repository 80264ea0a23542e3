// Drives a MysqlClient with requests, time, and a server that answers as it should, or with
// anything else. Every request must end exactly once, and nothing may hang, or end the process.
//
// The first byte of the input selects the schema. Each further byte is a move, or decides how the
// server answers.
//
// Covers: src/stores/mysql/batch.cpp src/stores/mysql/handshake.cpp src/stores/mysql/layout.cpp
// Covers: src/stores/mysql/client.cpp src/stores/mysql/connection.cpp
// Covers: src/stores/mysql/native_layout.cpp src/stores/mysql/native_outcome.cpp
// Covers: src/stores/mysql/session_settings.cpp src/stores/mysql/shedlock_layout.cpp
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/testing/manual_clock.hpp>

#include "fuzz/moves.hpp"
#include "fuzz/store_play.hpp"
#include "stores/mysql/client.hpp"
#include "stores/mysql/fake_server.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::fuzz;
using latchkey::Verb;
using latchkey::detail::mysql::MysqlClient;
using latchkey::detail::mysql::MysqlUri;
using latchkey::tests::FakeMysqlServer;
namespace wire = latchkey::tests::mysql_wire;
using Table = std::vector<std::vector<std::string>>;

constexpr auto timeout = 2000ms;

/// The session's settings after the handshake has set them.
Table settings_table() {
  return {{"autocommit", "ON"},
          {"completion_type", "NO_CHAIN"},
          {"innodb_lock_wait_timeout", "1"},
          {"lock_wait_timeout", "1"},
          {"sql_mode", "STRICT_ALL_TABLES"},
          {"sql_safe_updates", "ON"},
          {"sql_select_limit", "18446744073709551615"},
          {"tx_isolation", "READ-COMMITTED"},
          {"tx_read_only", "OFF"},
          {"unique_checks", "ON"}};
}

/// The server: it knows how many results a text has, and lies as the input says.
class Server {
 public:
  /// One with latchkey's procedures, one that belongs to a cluster, and one without procedures.
  enum class Kind : std::uint8_t { usual, common, cluster, empty };

  explicit Server(Moves& moves) : moves_(moves), kind_(static_cast<Kind>(moves.below(4))) {}

  std::optional<std::string> answer(std::size_t index, unsigned char sequence,
                                    const std::string& body) {
    auto next = static_cast<unsigned char>(sequence + 1);
    if (index == 0) return log_in(next);
    if (body.empty() || body.front() != 3) return std::nullopt;
    const std::string_view text = std::string_view(body).substr(1);
    is_honest_ = is_of_handshake(text) && !rarely(16);
    std::string reply = replies(next, text);
    if (is_honest_) return reply;
    switch (moves_.below(24)) {
      case 19: return std::nullopt;
      case 20: return wire::packet(1, std::string(moves_.bytes(1 + moves_.below(12))));
      case 21: reply.resize(moves_.below(reply.size() + 1)); break;
      case 22: reply += reply; break;
      case 23: spoil(reply); break;
      default: break;
    }
    return reply;
  }

 private:
  bool rarely(std::size_t bound) { return moves_.below(bound) == bound - 1; }
  bool lies(std::size_t bound) { return !is_honest_ && rarely(bound); }
  static bool is_of_handshake(std::string_view text) noexcept {
    return text.starts_with("SET SESSION TRANSACTION") || text.starts_with("SELECT GET_LOCK") ||
           text.starts_with("CALL latchkey_schema") || text.starts_with("SELECT DATA_TYPE");
  }

  static constexpr std::array<unsigned, 6> login_codes{1045, 1044, 1049, 1130, 5010, 9999};
  static constexpr std::array<unsigned, 24> codes{1213, 1205, 1969, 1305, 1142, 1290, 1317, 1094,
                                                  1095, 1146, 1235, 9999, 1044, 1049, 1130, 1227,
                                                  1054, 1267, 1292, 1300, 1364, 1366, 1406, 1143};

  std::optional<std::string> log_in(unsigned char& next) {
    switch (moves_.below(32)) {
      case 28: return wire::error(next, login_codes[moves_.below(login_codes.size())], "no");
      case 29: return std::nullopt;
      case 30: return wire::packet(next, '\xfe' + std::string("mysql_clear_password") + '\0');
      case 31: return wire::packet(next, std::string(moves_.bytes(1 + moves_.below(8))));
      default: return wire::ok(next, false);
    }
  }
  void spoil(std::string& reply) {
    if (reply.empty()) return;
    reply[moves_.below(std::min<std::size_t>(reply.size(), 256))] =
        static_cast<char>(moves_.below(256));
  }

  std::string replies(unsigned char& next, std::string_view text) {
    std::string all;
    if (text.find("CREATE ") != std::string_view::npos) {
      if (rarely(48)) return wire::error(next, rarely(2) ? 1304 : 1142, "no");
      is_created_ = true;
      return wire::ok(next, false);
    }
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(';'), text.size());
      const std::string_view one = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const bool more = !text.empty();
      if (kind_ == Kind::cluster && one.starts_with("SELECT GET_LOCK")) {
        return all += wire::error(next, 1235, "no GET_LOCK in a cluster");
      }
      if (kind_ == Kind::empty && !is_created_ && one.starts_with("CALL latchkey_schema")) {
        return all += wire::error(next, 1305, "no such procedure");
      }
      if (lies(20)) {
        static constexpr std::array<const char*, 4> texts{"no", "no", "latchkey_give_token",
                                                          "latchkey_acquire_permits"};
        return all += wire::error(next, codes[moves_.below(codes.size())],
                                  texts[moves_.below(texts.size())]);
      }
      all += result_of(next, one, more);
      if (lies(40)) break;  // and the rest is missing
    }
    return all;
  }

  std::string result_of(unsigned char& next, std::string_view one, bool more) {
    if (lies(24)) return wire::ok(next, more, moves_.below(3));
    if (lies(24)) return table(next, 1 + moves_.below(6), moves_.below(4), more);
    if (one.starts_with("SHOW SESSION")) return wire::result(next, 2, settings_table(), more);
    if (one.starts_with("SHOW GLOBAL")) {
      if (kind_ != Kind::cluster) return table(next, 2, moves_.below(2), more);
      return wire::result(next, 2, {{"wsrep_node_name", rarely(4) ? "n2" : "n1"}}, more);
    }
    if (one.starts_with("SELECT CONNECTION_ID")) {
      const char* const version = rarely(32) ? "10.3.2-MariaDB" : "10.11.2-MariaDB";
      return wire::result(next, 3, {{"5", version, rarely(32) ? "1" : "0"}}, more);
    }
    if (one.starts_with("SELECT GET_LOCK")) {
      static constexpr std::array<std::string_view, 4> owned{"1", "1", "1", "0"};
      return wire::result(next, 2, {{std::string(owned[moves_.below(4)]), "7"}}, more);
    }
    if (one.starts_with("CALL latchkey_schema")) return called(next, {{"1"}}, more);
    if (one.starts_with("SELECT DATA_TYPE")) return wire::result(next, 1, {{"1"}}, more);
    if (one.starts_with("SELECT locked_by")) {
      return is_honest_ ? wire::result(next, 3, {{"1", "9", "x"}}, more) : table(next, 3, 1, more);
    }
    if (one.starts_with("SELECT")) return table(next, 1, 1, more);
    if (one.starts_with("CALL latchkey_inspect")) return call(next, 4, moves_.below(5), more);
    if (one.starts_with("CALL latchkey_list")) return call(next, 2, moves_.below(5), more);
    if (one.starts_with("CALL latchkey_acquire")) return call(next, 5, 1, more);
    if (one.starts_with("CALL")) return call(next, 1, 1, more);
    if (one.find("RETURNING name,owner") != std::string_view::npos) return table(next, 3, 2, more);
    if (one.find("RETURNING") != std::string_view::npos) return table(next, 1, 2, more);
    return wire::ok(next, more, one.starts_with("SET") ? 0 : moves_.below(2));
  }

  std::string cell() {
    static constexpr std::array<std::string_view, 14> cells{"0",
                                                            "0",
                                                            "1",
                                                            "2",
                                                            "3",
                                                            "4",
                                                            "6",
                                                            "7",
                                                            "a",
                                                            "{a}b",
                                                            "",
                                                            "-1",
                                                            "9223372036854775807",
                                                            "-9223372036854775808"};
    const std::size_t which = moves_.below(cells.size() + 1);
    return which < cells.size() ? std::string(cells[which])
                                : std::string(moves_.bytes(moves_.below(300)));
  }
  std::string table(unsigned char& next, std::size_t columns, std::size_t rows, bool more) {
    Table made(rows, std::vector<std::string>(columns));
    for (auto& row : made) {
      for (auto& each : row) each = cell();
    }
    return wire::result(next, columns, made, more);
  }
  /// A CALL returns rows, and then its end.
  std::string call(unsigned char& next, std::size_t columns, std::size_t rows, bool more) {
    std::string all = table(next, columns, rows, true);
    return all += wire::ok(next, more);
  }
  static std::string called(unsigned char& next, const Table& rows, bool more) {
    std::string all = wire::result(next, rows.front().size(), rows, true);
    return all += wire::ok(next, more);
  }

  Moves& moves_;
  const Kind kind_;
  bool is_created_ = false;  ///< a statement of latchkey's DDL was run
  bool is_honest_ = false;   ///< the current reply is correct
};

constexpr std::array verbs{Verb::acquire,      Verb::acquire, Verb::release, Verb::release,
                           Verb::renew,        Verb::verify,  Verb::expire,  Verb::downgrade,
                           Verb::leave,        Verb::inspect, Verb::list,    Verb::resize,
                           Verb::force_release};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Moves moves(data, size);
  const bool shedlock = moves.below(3) == 0;
  Server script(moves);
  FakeMysqlServer server([&](std::size_t index, unsigned char sequence, const std::string& body) {
    return script.answer(index, sequence, body);
  });
  latchkey::testing::ManualClock clock;
  MysqlClient client(MysqlUri::parse("mysql://app:p@" + server.address() +
                                     "/app?create=" + (shedlock ? "no&schema=shedlock" : "yes")),
                     {.command_timeout = timeout, .clock = &clock});
  StorePlay play(moves, clock, client, timeout, verbs, [&] { return server.work(0); });
  while (!moves.over()) play.move();
  play.end();
  return 0;
}
