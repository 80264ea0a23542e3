// Drives a backend of MongoDB with requests, and a server that answers as it should, or with
// documents, messages and silence of any kind. Every request must have an outcome within a bounded
// time and number of commands, a grant must have been sent by the server, and nothing may hang, or
// end the process.
//
// The first byte of the input selects the layout. Each further byte is a move, or decides how the
// server answers. The client waits in poll, which this file replaces: the server works there, in
// the same thread, and a wait that nothing ends takes no time but advances the clock. So a play
// depends on its input only.
//
// Covers: src/stores/mongodb/bson.cpp src/stores/mongodb/commands.cpp
// Covers: src/stores/mongodb/failure.cpp src/stores/mongodb/lock_document.cpp
// Covers: src/stores/mongodb/lock_operations.cpp src/stores/mongodb/mongodb_backend.cpp
// Covers: src/stores/mongodb/shedlock_backend.cpp
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>
#include <latchkey/options.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "core/file_descriptor.hpp"
#include "fuzz/mongodb_server.hpp"
#include "fuzz/moves.hpp"
#include "fuzz/require.hpp"
#include "stores/mongodb/mongodb_backend.hpp"
#include "stores/mongodb/shedlock_backend.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::detail::mongodb;
using namespace latchkey::fuzz;
using latchkey::LockType;
using latchkey::Outcome;
using latchkey::Verb;
using latchkey::detail::FileDescriptor;
using latchkey::tests::FakeMongo;

constexpr auto timeout = 2000ms;

/// The clock and the server of the play.
struct World {
  FakeMongo* server = nullptr;
  MongoScript* script = nullptr;
  std::chrono::nanoseconds now = 1h;

  void pass(std::chrono::milliseconds time) {
    now += time;
    script->pass(time.count());
  }
};
World* world = nullptr;  ///< the world of the play that runs

/// A socket of the file system that listens. What one side sends has arrived when `send` returns.
class Listening {
 public:
  Listening() : path_("/tmp/latchkey-fuzz-" + std::to_string(::getpid()) + ".sock") {
    ::unlink(path_.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    require(path_.size() < sizeof address.sun_path);
    std::copy(path_.begin(), path_.end(), address.sun_path);
    require(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    require(::listen(socket_.get(), 8) == 0);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { ::unlink(path_.c_str()); }

  [[nodiscard]] FileDescriptor take() { return std::move(socket_); }
  [[nodiscard]] std::string uri() const {
    std::string all = "mongodb://";
    for (const char byte : path_) byte == '/' ? all += "%2F" : all += byte;
    return all + "/locks";
  }

 private:
  const std::string path_;
  FileDescriptor socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

constexpr std::array verbs{Verb::acquire, Verb::acquire, Verb::acquire,   Verb::acquire,
                           Verb::release, Verb::release, Verb::renew,     Verb::renew,
                           Verb::verify,  Verb::leave,   Verb::inspect,   Verb::list,
                           Verb::acquire, Verb::acquire, Verb::downgrade, Verb::force_release};
constexpr std::array types{LockType::REENTRANT, LockType::READ, LockType::WRITE, LockType::FENCED};

class Play {
 public:
  Play(Moves& moves, bool shedlock)
      : moves_(moves),
        is_shedlock_(shedlock),
        script_(moves),
        server_(listening_.take(),
                [this](const FakeMongo::Command& command) { return script_.answer(command); }) {
    world_.server = &server_;
    world_.script = &script_;
    world = &world_;
  }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;
  ~Play() {
    probe_.reset();  // libmongoc looks at the clock
    world = nullptr;
  }

  /// False: the server was found to be unsuitable.
  bool start() {
    script_.begin("", "");
    auto settings = parse_uri(listening_.uri(), timeout);
    std::unique_ptr<MongoBackend> backend;
    if (is_shedlock_) {
      backend = std::make_unique<ShedLockBackend>(std::move(settings), clock_);
    } else {
      backend = std::make_unique<DocumentBackend>(std::move(settings), clock_);
    }
    const auto begun = world_.now;
    try {
      backend->start(true);
    } catch (const latchkey::BackendRefused&) {
      return false;
    }
    require(world_.now - begun < longest());
    probe_.emplace(std::move(backend), latchkey::Options{.clock = &clock_});
    return true;
  }
  void move() {
    switch (moves_.below(16)) {
      case 13: server_.say(script_.word()); break;
      case 14: server_.hang_up(); break;
      case 15: world_.pass(std::chrono::milliseconds(moves_.below(256) * 8)); break;
      default: request(); break;
    }
  }

 private:
  /// How long a request, or a start, may wait at most: for a connection and for each reply.
  std::chrono::nanoseconds longest() const { return timeout * (4 + 2 * script_.commands()); }

  void request() {
    static constexpr std::array<std::string_view, 4> keys{"a", "b", "{a}b", "\xff"};
    latchkey::Request asked;
    asked.verb = verbs[moves_.below(verbs.size())];
    asked.type = types[is_shedlock_ ? 0 : moves_.below(types.size())];
    asked.key = asked.verb == Verb::list ? "*" : keys[moves_.below(keys.size())];
    asked.id = probe_->fresh_id();
    asked.lease = moves_.below(4) == 3 ? std::chrono::milliseconds::max() : 30s;
    asked.queue_wait = moves_.below(2) * 1000ms;
    asked.tokens = 1 + static_cast<std::uint32_t>(moves_.below(3));
    latchkey::LockInfo info;
    std::vector<std::string> names;
    asked.info = &info;
    asked.names = &names;
    script_.begin(asked.id.text(), std::string(asked.key));
    const auto begun = world_.now;
    const Outcome outcome = probe_->send(asked);
    require(world_.now - begun < longest());
    require(asked.verb == Verb::list || script_.commands() < 400);
    check(asked, outcome);
    if (outcome.kind == Outcome::Kind::granted && asked.verb == Verb::inspect) check(info);
  }

  void check(const latchkey::Request& asked, const Outcome& outcome) const {
    using Kind = Outcome::Kind;
    const bool explains = outcome.kind == Kind::unknown || outcome.kind == Kind::refused;
    require(!explains || !outcome.reason.empty());
    require(outcome.kind != Kind::busy || asked.verb == Verb::acquire);
    require(!outcome.retry_after || *outcome.retry_after > 0ms);
    const bool is_granted = outcome.kind == Kind::granted;
    const bool is_fenced = asked.type == LockType::FENCED && asked.verb == Verb::acquire;
    if (is_granted && is_fenced) {
      require(outcome.token >= asked.tokens);
      require(outcome.token <= std::numeric_limits<std::int64_t>::max());
    } else {
      require(outcome.token == 0);
    }
    const bool holds = asked.verb == Verb::acquire || asked.verb == Verb::renew ||
                       asked.verb == Verb::verify || asked.verb == Verb::downgrade;
    if (!is_granted) return;
    require(!script_.is_in_step() || !script_.sent().empty());
    if (!holds) return;
    require(names_owner(script_.sent(), asked.id.text()));
    if (script_.is_in_step() && asked.verb == Verb::acquire) check_grant(asked, outcome);
  }
  /// Whether the id of a holder is somewhere in the bytes.
  [[nodiscard]] bool names_owner(const std::string& bytes, const std::string& id) const {
    return bytes.find(bson_bytes::element(is_shedlock_ ? "lockedBy" : "owner",
                                          bson_bytes::of_text(id))) != std::string::npos;
  }
  /// The last document that the server has sent shows the grant.
  void check_grant(const latchkey::Request& asked, const Outcome& outcome) const {
    if (!script_.granting()) return;
    const std::string& content = *script_.granting();
    bson_t view;
    require(::bson_init_static(&view, reinterpret_cast<const std::uint8_t*>(content.data()),
                               content.size()));
    const auto value = document_at(view, "value");
    require(value.has_value());
    require(key_of(value->get()) == std::string(asked.key));
    if (is_shedlock_) {
      require(text_at(value->get(), "lockedBy") == asked.id.text());
      return;
    }
    const LockDocument document(*value);
    require(document.wrong_field.empty() || document.wrong_field == "fence");
    if (asked.type == LockType::READ) {
      require(document.find_reader(asked.id.text()) != nullptr);
      return;
    }
    require(document.holder && document.holder->owner == asked.id.text());
    if (asked.type != LockType::FENCED) return;
    const auto fence = integer_at(value->get(), "fence");
    require(fence && static_cast<std::uint64_t>(*fence) == outcome.token);
  }
  static void check(const latchkey::LockInfo& info) {
    require(info.locked || info.holders.empty());
    for (const auto& each : info.holders) {
      require(each.left >= 0ms);
      require(each.left <= std::chrono::milliseconds(3 * Date::latest));
    }
  }

  Moves& moves_;
  const bool is_shedlock_;
  Listening listening_;
  MongoScript script_;
  FakeMongo server_;
  World world_;
  latchkey::testing::ManualClock clock_;
  std::optional<latchkey::testing::Probe> probe_;
};

}  // namespace

// The libraries' and the standard library's, instead of those of the C library.
extern "C" {

int poll(pollfd* files, nfds_t count, int milliseconds) {
  World* const its = std::exchange(world, nullptr);
  const timespec none{},
      limit{.tv_sec = milliseconds / 1'000, .tv_nsec = milliseconds % 1'000 * 1'000'000L};
  if (its == nullptr) return ::ppoll(files, count, milliseconds < 0 ? nullptr : &limit, nullptr);
  while (its->server->work(0)) {
  }
  const int ready = ::ppoll(files, count, &none, nullptr);
  world = its;
  require(ready != 0 || milliseconds >= 0);  // a wait without a limit
  if (ready == 0) its->pass(std::chrono::milliseconds(milliseconds));
  return ready;
}

int usleep(useconds_t microseconds) {
  if (world == nullptr) {
    const timespec time{.tv_sec = microseconds / 1'000'000,
                        .tv_nsec = microseconds % 1'000'000 * 1'000L};
    return ::nanosleep(&time, nullptr);
  }
  world->pass(std::chrono::milliseconds(1 + microseconds / 1'000));
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (world == nullptr || clock != CLOCK_MONOTONIC) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  }
  world->now += 1us;  // a caller that waits for a time sees it pass
  *time = {.tv_sec = world->now / 1s, .tv_nsec = world->now % 1s / 1ns};
  return 0;
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ::mongoc_log_set_handler(nullptr, nullptr);
  Moves moves(data, size);
  Play play(moves, moves.below(4) == 3);
  if (!play.start()) return 0;
  while (!moves.over()) play.move();
  return 0;
}
