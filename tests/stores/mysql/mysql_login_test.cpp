// Which server a connection leads to, what it says there before and while it logs in, and who else
// can use it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mysql.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/connect_options.hpp"
#include "stores/mysql/fake_server.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "support/process.hpp"
#include "support/servers/certificates.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// Why there is no connection, by any error.
std::string start_error_of(const std::string& uri, std::chrono::milliseconds timeout = 1s) {
  try {
    static_cast<void>(make_mysql(uri, {.command_timeout = timeout}));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

std::string connection_error(const std::string& uri) { return start_error_of(uri, 20s); }

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "latchkey-login-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Certificates, and the server that has one of them.
struct Encrypted {
  explicit Encrypted(const std::string& names = "DNS:localhost")
      : certificates(folder.path(), names) {}

  Folder folder;
  Certificates certificates;
  MysqlServer server{{"--ssl-ca=" + certificates.authority, "--ssl-cert=" + certificates.server,
                      "--ssl-key=" + certificates.server_key}};

  [[nodiscard]] std::string uri(const std::string& host, const std::string& options) const {
    return "mysql://locks:se%3Acr%40t@" + host + ":" + std::to_string(server.port()) + "/app?" +
           options;
  }
  static Encrypted& instance() {
    static Encrypted one;
    return one;
  }
};

std::string ca(const std::string& file) { return "tls_ca=" + file; }

std::string with_client(const Certificates& certificates) {
  return "tls_cert=" + certificates.client + "&tls_key=" + certificates.client_key;
}

/// A server without TLS that asks the client to log in by another plugin.
class Impostor {
 public:
  explicit Impostor(const std::string& plugin)
      : server_([this, plugin](std::size_t index, unsigned char sequence,
                               const std::string& body) -> std::optional<std::string> {
          if (index > 0) {
            heard_ += body;
            return std::nullopt;
          }
          const auto next = static_cast<unsigned char>(sequence + 1);
          return mysql_wire::packet(next, '\xfe' + plugin + '\0');
        }),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) server_.work(20);
        }) {}

  [[nodiscard]] std::string address() const { return server_.address(); }
  /// Ends the server.
  [[nodiscard]] const std::string& heard() {
    thread_.request_stop();
    thread_.join();
    return heard_;
  }

 private:
  std::string heard_;
  FakeMysqlServer server_;
  std::jthread thread_;
};

/// The test that another process runs, with variables that the client library reads when it begins.
TEST(MysqlLogin, DISABLED_TheKeyIsHeldAtTheServerOfTheUri) {
  register_mysql();
  const Locks locks = Locks::connect(std::getenv("LATCHKEY_TEST_URI"));
  EXPECT_FALSE(locks.lock(std::getenv("LATCHKEY_TEST_KEY")).try_acquire());
}

void expect_that_another_process_finds_it_held(std::vector<std::string> variables) {
  const Folder folder;
  register_mysql();
  const std::string key = next_key();
  const Locks locks = Locks::connect(mysql_server().uri());
  const Hold hold = locks.lock(key).acquire(0ms, 60s);
  std::vector<std::string> words{"env", "LATCHKEY_TEST_KEY=" + key};
  std::ranges::move(variables, std::back_inserter(words));
  words.push_back(std::filesystem::read_symlink("/proc/self/exe"));
  words.emplace_back("--gtest_also_run_disabled_tests");
  words.emplace_back("--gtest_filter=MysqlLogin.DISABLED_TheKeyIsHeldAtTheServerOfTheUri");
  EXPECT_NO_THROW(run(words, folder.path() / "log"));
}

// The client library took the Unix socket of the system for `localhost`, and ignored the port.
TEST(MysqlLogin, LocalhostWithAPortIsTheServerAtThatPort) {
  const MysqlServer other;
  const std::string port = std::to_string(mysql_server().port());
  expect_that_another_process_finds_it_held(
      {"MYSQL_UNIX_PORT=" + other.socket(),
       "LATCHKEY_TEST_URI=mysql://locks:se%3Acr%40t@localhost:" + port + "/app"});
}

TEST(MysqlLogin, NoVariableAndNoFileDecidesWhereAConnectionLeads) {
  const Folder folder;
  std::ofstream(folder.path() / ".my.cnf") << "[client]\nhost=192.0.2.1\nport=1\nuser=nobody\n";
  expect_that_another_process_finds_it_held(
      {"HOME=" + folder.path().string(), "MYSQL_HOME=" + folder.path().string(),
       "MYSQL_HOST=192.0.2.1", "MYSQL_TCP_PORT=1", "MYSQL_UNIX_PORT=/nowhere", "MYSQL_PWD=wrong",
       "USER=nobody", "LATCHKEY_TEST_URI=" + mysql_server().uri()});
}

TEST(MysqlLogin, AUriWithoutAUserIsThatOfTheProcessNotOfTheEnvironment) {
  ::setenv("USER", "somebody-else", 1);
  auto uri = detail::mysql::MysqlUri::parse("mysql://127.0.0.1/app");
  MYSQL* const mysql = mysql_init(nullptr);
  EXPECT_EQ(detail::mysql::set_options(mysql, uri).number, 0U);
  EXPECT_EQ(uri.user, ::getpwuid(::geteuid())->pw_name);
  mysql_close(mysql);
}

TEST(MysqlLogin, AUriNamesOneHost) {
  for (const std::string host : {"a,b", "127.0.0.1%2Cb", "aurora%3A%2F%2Fa", "host=a", "a%3Bb"}) {
    EXPECT_TRUE(says(start_error_of("mysql://" + host + "/app"), "name or the address of one host"))
        << host;
  }
}

TEST(MysqlLogin, AServerWithoutTlsIsRefusedIfTheUriAsksForTls) {
  const Certificates& files = Encrypted::instance().certificates;
  for (const std::string& options : {ca(files.authority), with_client(files)}) {
    const std::string said = start_error_of(mysql_server().uri() + "?" + options);
    EXPECT_TRUE(says(said, "does not support it")) << said;
  }
}

TEST(MysqlLogin, TheServersCertificateIsVerifiedWhateverFilesTheUriHas) {
  const Encrypted& one = Encrypted::instance();
  const Certificates& files = one.certificates;
  EXPECT_EQ(connection_error(one.uri("localhost", ca(files.authority))), "no error");
  EXPECT_EQ(connection_error(one.uri("localhost", ca(files.authority) + "&" + with_client(files))),
            "no error");
  for (const std::string& options : {ca(files.other_authority), with_client(files)}) {
    const std::string said = start_error_of(one.uri("localhost", options));
    EXPECT_TRUE(says(said, "certificate")) << said;
  }
}

TEST(MysqlLogin, ACertificateOfAnotherHostIsRefused) {
  const Encrypted elsewhere("DNS:elsewhere");
  const std::string options = ca(elsewhere.certificates.authority);
  const std::string said = start_error_of(elsewhere.uri("localhost", options));
  EXPECT_TRUE(says(said, "certificate") || says(said, "Hostname verification failed")) << said;
}

TEST(MysqlLogin, NoVariableSwitchesTheVerificationOff) {
  const Encrypted& one = Encrypted::instance();
  ::setenv("MARIADB_TLS_DISABLE_PEER_VERIFICATION", "1", 1);
  const std::string said =
      start_error_of(one.uri("localhost", ca(one.certificates.other_authority)));
  ::unsetenv("MARIADB_TLS_DISABLE_PEER_VERIFICATION");
  EXPECT_TRUE(says(said, "MARIADB_TLS_DISABLE_PEER_VERIFICATION switches off")) << said;
}

TEST(MysqlLogin, TlsIsOfVersion12AtLeast) {
  const Encrypted& one = Encrypted::instance();
  auto uri = detail::mysql::MysqlUri::parse(one.uri("localhost", ca(one.certificates.authority)));
  MYSQL* const mysql = mysql_init(nullptr);
  EXPECT_EQ(detail::mysql::set_options(mysql, uri).number, 0U);
  const char* versions = nullptr;
  mysql_get_option(mysql, MARIADB_OPT_TLS_VERSION, &versions);
  EXPECT_STREQ(versions, "TLSv1.2,TLSv1.3");
  mysql_close(mysql);
}

TEST(MysqlLogin, AFileThatCannotBeReadIsNamed) {
  const Certificates& files = Encrypted::instance().certificates;
  const std::string uri = mysql_server().uri();
  for (const std::string& options : {"tls_ca=/nowhere/x.pem&" + with_client(files),
                                     "tls_cert=/nowhere/x.pem&tls_key=" + files.client_key,
                                     "tls_cert=" + files.client + "&tls_key=/nowhere/x.pem"}) {
    const std::string said = start_error_of(uri + "?" + options);
    EXPECT_TRUE(says(said, "the file '/nowhere/x.pem' of the option 'tls_")) << said;
    EXPECT_TRUE(says(said, "cannot be read: No such file or directory")) << said;
  }
}

TEST(MysqlLogin, ARenewedCertificateIsReadByTheNextConnection) {
  const Encrypted& one = Encrypted::instance();
  const Folder folder;
  const std::filesystem::path file = folder.path() / "ca.pem";
  std::filesystem::copy_file(one.certificates.authority, file);
  register_mysql();
  const Locks locks = Locks::connect(one.uri("localhost", ca(file)), {.command_timeout = 1s});
  EXPECT_TRUE(locks.lock("k").try_acquire());
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(one.certificates.other_authority, file, replace);
  EXPECT_GT(one.server.disconnect_users(), 0);
  EXPECT_THROW(
      for (int attempt = 0; attempt < 3;
           ++attempt) { static_cast<void>(locks.lock("k").try_acquire()); },
      BackendUnavailable);
  std::filesystem::copy_file(one.certificates.authority, file, replace);
  await("the connection", [&] {
    try {
      return locks.lock("k").try_acquire(0ms) ? "" : "busy";
    } catch (const BackendUnavailable& error) {
      return "unavailable";
    }
  });
}

// The client library sent it to whoever asked.
TEST(MysqlLogin, ThePasswordIsNotSentInTheClearWithoutTls) {
  for (const std::string plugin : {"mysql_clear_password", "dialog"}) {
    Impostor impostor(plugin);
    const std::string said = start_error_of("mysql://app:hunter2@" + impostor.address() + "/app");
    EXPECT_TRUE(says(said, "password in the clear")) << said;
    EXPECT_FALSE(says(impostor.heard(), "hunter2"));
  }
}

/// The sockets of this process that a program would inherit.
std::set<int> inherited_sockets() {
  std::set<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    struct stat about{};
    if (::fstat(descriptor, &about) != 0 || !S_ISSOCK(about.st_mode)) continue;
    if ((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0) all.insert(descriptor);
  }
  return all;
}

TEST(MysqlLogin, ProgramsThatAreStartedDoNotInheritTheConnection) {
  static_cast<void>(mysql_server());
  const std::set<int> before = inherited_sockets();
  register_mysql();
  for (const std::string& uri : {mysql_server().uri(), mysql_server().socket_uri()}) {
    const Locks locks = Locks::connect(uri);
    EXPECT_TRUE(locks.lock(next_key()).try_acquire());
    EXPECT_EQ(inherited_sockets(), before);
  }
}

}  // namespace
}  // namespace latchkey::tests
