// A FerretDB server that belongs to one test.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#include "stores/mongodb/client_pool.hpp"
#include "support/process.hpp"

namespace latchkey::tests {

/// Starts FerretDB on a free port of 127.0.0.1, with its data in a temporary folder. It replies to
/// commands when the constructor returns. The destructor kills it by its id and deletes the folder.
class FerretServer {
 public:
  FerretServer();
  FerretServer(const FerretServer&) = delete;
  FerretServer& operator=(const FerretServer&) = delete;
  ~FerretServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }
  /// mongodb://127.0.0.1:port/locks, then `options`, such as "?schema=shedlock".
  [[nodiscard]] std::string uri(const std::string& options = {}) const;

  void stop();    ///< SIGSTOP
  void resume();  ///< SIGCONT
  void kill();    ///< SIGKILL; returns when it has ended
  void start();   ///< again, after kill: same port and data

 private:
  [[nodiscard]] bool answers() const;

  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

/// Why there is no FerretDB. Empty: there is one.
[[nodiscard]] std::string no_ferretdb();

/// The server that tests share unless they disturb it. Ends with the process.
[[nodiscard]] FerretServer& shared_ferretdb();

/// Keys are never used twice.
[[nodiscard]] std::string next_key(const std::string& shape);

/// By the registered factory. Throws what it throws.
[[nodiscard]] std::unique_ptr<Backend> connect_mongodb(const std::string& uri,
                                                       const Options& options = {});

/// The commands of the tests themselves, on the collection that `uri` names.
class Shell {
 public:
  explicit Shell(const std::string& uri);

  [[nodiscard]] detail::mongodb::ClientPool& operator*() { return pool_; }
  /// How many documents the collection has.
  [[nodiscard]] std::size_t count();

 private:
  detail::mongodb::ClientPool pool_;
};

}  // namespace latchkey::tests

/// At the begin of a test: skips it, with the reason, if there is no FerretDB.
#define NEEDS_FERRETDB() \
  if (!::latchkey::tests::no_ferretdb().empty()) GTEST_SKIP() << ::latchkey::tests::no_ferretdb()
