// A pooler before the shared server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "shared_server.hpp"
#include "support/process.hpp"

namespace latchkey::tests {

/// pgbouncer before the shared server.
class Pooler {
 public:
  explicit Pooler(const std::string& mode) : port_(PostgresqlServer::free_port()) {
    std::ofstream(file("users")) << "\"plain\" \"plain\"\n";
    std::ofstream(file("pgbouncer.ini"))
        << "[databases]\nlocks = host=127.0.0.1 port=" << shared_server().port()
        << " dbname=locks\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
        << "\nunix_socket_dir =\nauth_type = plain\nauth_file = " << file("users")
        << "\npool_mode = " << mode << '\n';
    for (const char* const name : {"users", "pgbouncer.ini"}) {
      std::filesystem::permissions(file(name), std::filesystem::perms::others_read,
                                   std::filesystem::perm_options::add);
    }
    process_ = std::make_unique<Process>(
        PostgresqlServer::unprivileged({"/usr/sbin/pgbouncer", file("pgbouncer.ini")}),
        file("pgbouncer.log"));
    await_answer();
  }
  [[nodiscard]] Sql sql() const {
    return Sql("host=127.0.0.1 user=plain password=plain dbname=locks port=" +
               std::to_string(port_));
  }
  [[nodiscard]] std::string uri(const std::string& options = {}) const {
    return "postgresql://plain:plain@127.0.0.1:" + std::to_string(port_) + "/locks" + options;
  }

 private:
  static std::string file(const std::string& name) { return shared_server().folder() / name; }
  void await_answer() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      try {
        static_cast<void>(sql());
        return;
      } catch (const std::runtime_error&) {
        if (process_->ended() || std::chrono::steady_clock::now() > end) throw;
        ::poll(nullptr, 0, 5);
      }
    }
  }

  std::uint16_t port_;
  std::unique_ptr<Process> process_;
};

inline bool has_pgbouncer() { return ::access("/usr/sbin/pgbouncer", X_OK) == 0; }

}  // namespace latchkey::tests
