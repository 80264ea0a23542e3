// A payments service with two accounts: payments take both at once, reports read them, and a
// settlement is skipped if another process runs it. It writes one line to its log for each thing
// that happened, and counts what its callers got: an outage of the server in the middle shows that
// the two agree (payments_outage.sh), and which alerts fire (check_alerts.sh).
#include <latchkey/adapters/spdlog.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/listeners.hpp>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bank/metrics.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

/// The books of a real service are in a database; these take as long.
class Payments {
 public:
  bool pay(const std::string& from, const std::string& to, long amount) {
    return LOCKED(KEYS("account:{from}", "account:{to}"), LockType::WRITE, 1s, 30s)
        AROUND(from, to, amount) {
      if (books_[from] < amount) return false;
      books_[from] -= amount;
      take_a_moment(2ms);
      books_[to] += amount;
      return true;
    };
  }

  /// The sum is wrong if a payment is half done.
  long report(const std::string& one, const std::string& other) {
    return LOCKED(KEYS("account:{one}", "account:{other}"), LockType::READ, 1s, 30s)
        AROUND(one, other) {
      const long sum = books_.at(one) + books_.at(other);
      take_a_moment(2ms);
      return sum;
    };
  }

  /// Another process may run it: then nothing happens here.
  void settle() {
    LOCKED("settlement", LockType::REENTRANT, 0s, 30s)
        .on_timeout(latchkey::strategy::skip) AROUND() {
      take_a_moment(150ms);
    };
  }

 private:
  static void take_a_moment(std::chrono::milliseconds length) {
    std::this_thread::sleep_for(length);
  }

  std::map<std::string, long> books_{{"alice", 500}, {"bob", 500}};
};

namespace {

/// Counts how the calls ended.
struct Tally {
  std::atomic<long> done{0};         ///< also those whose release the server did not confirm
  std::atomic<long> unavailable{0};  ///< the server did not answer, and nothing was done
  std::atomic<long> busy{0};
  std::atomic<long> lost{0};
  std::atomic<long> wrong{0};  ///< reports that did not add up

  /// A payment that was made returns, also if its release is unconfirmed: the log has that.
  template <class Call>
  void count(Call&& call) {
    try {
      call();
      ++done;
    } catch (const latchkey::LockTimeout&) {
      ++busy;
    } catch (const latchkey::LockLost&) {
      ++lost;
    } catch (const latchkey::BackendUnavailable&) {
      ++unavailable;
    }
  }
};

void serve(Payments& payments, Tally& tally, std::chrono::duration<double> length) {
  // `pause`: until the next request comes.
  const auto until_stopped = [](std::chrono::milliseconds pause, auto&& request) {
    return [pause, request](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        request();
        std::this_thread::sleep_for(pause);
      }
    };
  };
  std::vector<std::jthread> callers;
  const auto pay = [&](const char* from, const char* to) {
    return until_stopped(
        10ms, [&payments, &tally, from, to] { tally.count([&] { payments.pay(from, to, 5); }); });
  };
  callers.emplace_back(pay("alice", "bob"));
  callers.emplace_back(pay("bob", "alice"));
  callers.emplace_back(until_stopped(10ms, [&] {
    tally.count([&] {
      if (payments.report("alice", "bob") != 1000) ++tally.wrong;
    });
  }));
  callers.emplace_back(until_stopped(200ms, [&] { tally.count([&] { payments.settle(); }); }));
  std::this_thread::sleep_for(length);
}

struct Arguments {
  std::string backend = "redis://127.0.0.1:6379";
  std::string metrics{};
  double seconds = 2;
};

int run(const Arguments& arguments) {
  // The log has what somebody may have to look at. Below `warn` it would have each grant.
  auto logger =
      std::make_shared<spdlog::logger>("locks", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%l %v");
  logger->set_level(spdlog::level::warn);
  const std::unique_ptr<demo::Metrics> metrics =
      arguments.metrics.empty() ? nullptr : std::make_unique<demo::Metrics>(arguments.metrics);
  latchkey::SpdlogListener log(logger);
  latchkey::Listeners listeners{&log, metrics != nullptr ? &metrics->listener() : nullptr};
  const auto locks = latchkey::Locks::connect(arguments.backend, {.listener = &listeners});
  latchkey::install(locks);
  Payments payments;
  if (metrics != nullptr) {
    fmt::print("Metrics at {}\n", metrics->url());
    std::fflush(stdout);
  }
  Tally tally;
  serve(payments, tally, std::chrono::duration<double>(arguments.seconds));
  locks.close(1s);  // from here on no listener is called
  fmt::print("done {}, unavailable {}, busy {}, lost {}, wrong {}\n", tally.done.load(),
             tally.unavailable.load(), tally.busy.load(), tally.lost.load(), tally.wrong.load());
  return tally.wrong == 0 && tally.done > 0 ? 0 : 1;
}

}  // namespace

/// 0: every report added up. 1: one did not. 2: the service could not start.
int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App options("A payments service whose log has one line for each thing that happened");
  options.add_option("--backend", arguments.backend, "where the locks live")->capture_default_str();
  options.add_option("--metrics", arguments.metrics,
                     "serve metrics to Prometheus at this host and port, such as 127.0.0.1:9464");
  options.add_option("--seconds", arguments.seconds, "how long it serves")->capture_default_str();
  CLI11_PARSE(options, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "payments: {}\n", error.what());
    return 2;
  }
}
