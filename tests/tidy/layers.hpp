// The layer of each file of the library, and the places of third-party headers: the tables to
// extend.
#pragma once

#include <array>
#include <string_view>

namespace latchkey::tidy {

/// Includes go strictly downwards; layers of one level do not include each other.
struct Layer {
  std::string_view name;
  int level;
};

inline constexpr Layer core{"core", 0};
inline constexpr Layer fences{"fences", 1};
inline constexpr Layer reflect{"reflect", 1};
inline constexpr Layer aspect{"aspect", 2};
inline constexpr Layer key{"key", 2};
inline constexpr Layer policy{"policy", 3};
inline constexpr Layer backend{"backend", 3};
inline constexpr Layer locks{"locks", 4};
inline constexpr Layer memory{"memory", 4};
inline constexpr Layer redis{"redis", 4};
inline constexpr Layer quorum{"quorum", 4};
inline constexpr Layer stores{"stores", 4};
inline constexpr Layer host{"host", 5};
inline constexpr Layer leader{"leader", 5};
inline constexpr Layer once{"once", 5};
inline constexpr Layer locked{"locked", 5};
inline constexpr Layer decorate{"decorate", 6};
inline constexpr Layer install{"install", 6};
inline constexpr Layer testing{"testing", 7};
inline constexpr Layer adapters{"adapters", 7};
inline constexpr Layer asio{"asio", 7};
inline constexpr Layer cli{"cli", 7};
inline constexpr Layer c_interface{"c", 8};
inline constexpr Layer everything{"everything", 8};
inline constexpr Layer annotations{"annotations", 9};

struct Place {
  std::string_view path;  ///< a folder ends with '/'; a noun of include/latchkey with ".hpp"
  Layer layer;
};

/// The longest path that a file begins with decides.
inline constexpr std::array places{
    // public nouns, relative to include/latchkey/
    Place{"include/latchkey/detail/cxx20.hpp", core},
    Place{"include/latchkey/error.hpp", core},
    Place{"include/latchkey/fence.hpp", core},
    Place{"include/latchkey/lock_type.hpp", core},
    Place{"include/latchkey/list_page.hpp", core},
    Place{"include/latchkey/lock_info.hpp", core},
    Place{"include/latchkey/owner.hpp", core},
    Place{"include/latchkey/clock.hpp", core},
    Place{"include/latchkey/wait.hpp", core},
    Place{"include/latchkey/lease.hpp", core},
    Place{"include/latchkey/parker.hpp", core},
    Place{"include/latchkey/permits.hpp", core},
    Place{"include/latchkey/hold_id.hpp", core},
    Place{"include/latchkey/fixed_string.hpp", core},
    Place{"include/latchkey/detail/in_quotes.hpp", core},
    Place{"include/latchkey/detail/name_list.hpp", core},
    Place{"include/latchkey/detail/placed_text.hpp", core},
    Place{"include/latchkey/strategy.hpp", core},
    Place{"include/latchkey/version.hpp", core},
    Place{"include/latchkey/fences/", fences},
    Place{"include/latchkey/detail/reflect.hpp", reflect},
    Place{"include/latchkey/fields.hpp", reflect},
    Place{"include/latchkey/macros/fields.hpp", reflect},
    Place{"include/latchkey/detail/reflect/", reflect},
    Place{"include/latchkey/aspect.hpp", aspect},
    Place{"include/latchkey/detail/aspect/", aspect},
    Place{"include/latchkey/decorated_callable.hpp", aspect},
    Place{"include/latchkey/join_point.hpp", aspect},
    Place{"include/latchkey/site.hpp", aspect},
    Place{"include/latchkey/key.hpp", key},
    Place{"include/latchkey/key_buffer.hpp", key},
    Place{"include/latchkey/key_hash.hpp", key},
    Place{"include/latchkey/key_schema.hpp", key},
    Place{"include/latchkey/parsed_key.hpp", key},
    Place{"include/latchkey/detail/key/", key},
    Place{"include/latchkey/policy.hpp", policy},
    Place{"include/latchkey/backend.hpp", backend},
    Place{"include/latchkey/capabilities.hpp", backend},
    Place{"include/latchkey/loop_driver.hpp", backend},
    Place{"include/latchkey/simple_backend.hpp", backend},
    Place{"include/latchkey/registry.hpp", backend},
    Place{"include/latchkey/options.hpp", backend},
    Place{"include/latchkey/attempt.hpp", locks},
    Place{"include/latchkey/call_observer.hpp", locks},
    Place{"include/latchkey/count_down_latch.hpp", locks},
    Place{"include/latchkey/hold.hpp", locks},
    Place{"include/latchkey/semaphore.hpp", locks},
    Place{"include/latchkey/listener.hpp", locks},
    Place{"include/latchkey/listeners.hpp", locks},
    Place{"include/latchkey/lock.hpp", locks},
    Place{"include/latchkey/locks.hpp", locks},
    Place{"include/latchkey/read_write_lock.hpp", locks},
    Place{"include/latchkey/quorum.hpp", quorum},
    Place{"include/latchkey/etcd.hpp", stores},
    Place{"include/latchkey/kubernetes.hpp", stores},
    Place{"include/latchkey/mongodb.hpp", stores},
    Place{"include/latchkey/mysql.hpp", stores},
    Place{"include/latchkey/postgresql.hpp", stores},
    Place{"include/latchkey/postgresql/", stores},
    Place{"include/latchkey/zookeeper.hpp", stores},
    Place{"include/latchkey/leader.hpp", leader},
    Place{"include/latchkey/cron.hpp", once},
    Place{"include/latchkey/detail/once_loop.hpp", once},
    Place{"include/latchkey/once_per.hpp", once},
    Place{"include/latchkey/completes_at_return.hpp", locked},
    Place{"include/latchkey/default_locks.hpp", locked},
    Place{"include/latchkey/held.hpp", locked},
    Place{"include/latchkey/locked.hpp", locked},
    Place{"include/latchkey/lock_options.hpp", locked},
    Place{"include/latchkey/for_scope.hpp", locked},
    Place{"include/latchkey/detail/locked/", locked},
    Place{"include/latchkey/decorate.hpp", decorate},
    Place{"include/latchkey/detail/decorate/", decorate},
    Place{"include/latchkey/locked_once_per.hpp", decorate},
    Place{"include/latchkey/macros.hpp", decorate},
    Place{"include/latchkey/macros/", decorate},
    Place{"include/latchkey/install.hpp", install},
    Place{"include/latchkey/adapters/", adapters},
    Place{"include/latchkey/asio.hpp", asio},
    Place{"include/latchkey/asio/", asio},
    Place{"include/latchkey/detail/asio/", asio},
    Place{"include/latchkey/testing/", testing},
    Place{"include/latchkey/detail/testing/", testing},
    Place{"include/latchkey/testing.hpp", testing},
    Place{"include/latchkey/latchkey.h", c_interface},
    Place{"include/latchkey/latchkey.hpp", everything},
    Place{"include/latchkey/annotations.hpp", annotations},
    Place{"include/latchkey/annotations/", annotations},
    Place{"include/latchkey/detail/annotations/", annotations},
    // private folders
    Place{"src/core/", core},
    Place{"src/fences/", fences},
    Place{"src/aspect/", aspect},
    Place{"src/key/", key},
    Place{"src/policy/", policy},
    Place{"src/backend/", backend},
    Place{"src/locks/", locks},
    Place{"src/memory/", memory},
    Place{"src/redis/", redis},
    Place{"src/quorum/", quorum},
    Place{"src/stores/", stores},
    Place{"src/host/", host},
    Place{"src/leader/", leader},
    Place{"src/once/", once},
    Place{"src/locked/", locked},
    Place{"src/install/", install},
    Place{"src/adapters/", adapters},
    Place{"src/asio/", asio},
    Place{"src/testing/", testing},
    Place{"src/c/", c_interface},
    Place{"src/cli/", cli},
};

/// Other people's headers, and the only places that may include them.
struct ThirdParty {
  std::string_view prefix;
  std::string_view where;              ///< for the message
  std::array<std::string_view, 6> in;  ///< beginnings of paths; empty ones count for nothing
  bool only_cpp = false;
};

inline constexpr std::array third_parties{
    ThirdParty{"latchkey_hiredis/",
               "src/redis and its tests",
               {"src/redis/", "tests/redis/", "tests/support/servers/", "tests/consumer/",
                "bench/redis_"}},
    ThirdParty{"hiredis/",
               "the guard in Redis",
               {"include/latchkey/fences/redis.hpp", "tests/consumer/", "tests/stores/fences/"}},
    ThirdParty{"openssl/",
               "TLS contexts, src/redis and HTTP/2",
               {"src/backend/connection/tls_context.hpp", "src/redis/", "src/stores/http2/"}},
    ThirdParty{"latchkey/third_party/",
               "the reflect layer",
               {"include/latchkey/detail/reflect/", "src/reflect/", "tests/"}},
    ThirdParty{"boost/",
               "src/asio and what uses it",
               {"include/latchkey/asio", "include/latchkey/detail/asio/", "src/asio/", "tests/",
                "examples/", "bench/"}},
    ThirdParty{"range/v3/", ".cpp files", {"src/", "tests/", "examples/", "bench/"}, true},
    ThirdParty{"yaml-cpp/", "the policy reader", {"src/policy/"}},
    ThirdParty{"gmock/",
               "the testing kit",
               {"include/latchkey/testing/", "include/latchkey/detail/testing/", "src/testing/",
                "tests/"}},
    ThirdParty{"gtest/",
               "the testing kit",
               {"include/latchkey/testing/", "include/latchkey/detail/testing/", "src/testing/",
                "tests/"}},
    ThirdParty{"spdlog/",
               "its adapter, and who logs by it",
               {"src/adapters/spdlog", "tests/unit/adapters/", "examples/payments.cpp"}},
    ThirdParty{"opentelemetry/",
               "its adapter, and its example",
               {"src/adapters/opentelemetry", "tests/opentelemetry/",
                "tests/consumer/opentelemetry/", "examples/opentelemetry.cpp"}},
    ThirdParty{"prometheus/",
               "its adapter, and whoever serves it",
               {"src/adapters/prometheus", "tests/unit/adapters/", "examples/bank/metrics.cpp"}},
    ThirdParty{"benchmark/", "bench", {"bench/"}},
    ThirdParty{"catch2/", "a consumer's tests", {"tests/consumer/"}},
    ThirdParty{"doctest/", "a consumer's tests", {"tests/consumer/"}},
    ThirdParty{
        "fmt/", "bench, examples and the command line tool", {"bench/", "examples/", "src/cli/"}},
    ThirdParty{
        "nlohmann/",
        "the command line tool, the store kubernetes and bench",
        {"src/cli/", "src/stores/kubernetes/", "tests/cli/", "tests/stores/", "bench/peers/"}},
    ThirdParty{"nghttp2/",
               "HTTP/2, gRPC and their tests",
               {"src/stores/http2/", "src/stores/etcd/", "tests/stores/"}},
    ThirdParty{
        "bson/", "the MongoDB store", {"src/stores/mongodb/", "tests/stores/", "bench/stores/"}},
    ThirdParty{
        "mongoc/", "the MongoDB store", {"src/stores/mongodb/", "tests/stores/", "bench/stores/"}},
    ThirdParty{"mariadb/", "the guard in MySQL", {"include/latchkey/fences/mysql.hpp"}},
    ThirdParty{"mysql/",
               "the MySQL store and the guard in MySQL",
               {"src/stores/mysql/", "include/latchkey/fences/mysql.hpp", "tests/stores/",
                "bench/stores/"}},
    ThirdParty{"libpq-fe.h",
               "the PostgreSQL store, the guard in PostgreSQL, and the example of transactions",
               {"src/stores/postgresql/", "include/latchkey/fences/postgresql.hpp", "tests/stores/",
                "bench/stores/", "examples/transactions/"}},
    ThirdParty{"zookeeper/", "the ZooKeeper store", {"src/stores/zookeeper/", "tests/stores/"}},
    ThirdParty{"CLI/", "examples and the command line tool", {"examples/", "src/cli/"}},
};

/// Folders of the standard and the operating system's own headers.
inline constexpr std::array system_folders{"sys/", "arpa/", "netinet/", "linux/", "sanitizer/"};

inline constexpr std::size_t most_lines = 300;
inline constexpr std::size_t most_lines_with_a_reason = 500;
inline constexpr std::size_t most_columns = 100;
inline constexpr std::size_t most_files_of_a_folder = 30;

}  // namespace latchkey::tidy
