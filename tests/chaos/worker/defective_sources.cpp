// Clients with the defects that the judge must detect: its positive controls.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>

#include <latchkey/error.hpp>

#include "chaos/worker/lock_source.hpp"
#include "support/servers/redis_client.hpp"

namespace latchkey::chaos {
namespace {

using std::chrono::milliseconds;

struct Setting {
  Client client;
  std::uint16_t port;
  std::string id;  ///< names the worker and the thread
};

constexpr std::string_view release_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

BackendUnavailable unavailable(const std::string& reason) {
  return BackendUnavailable(LockSite{}, reason);
}

/// SET NX PX with a release script: a usual client, apart from its one defect.
class DefectiveSource final : public LockSource {
 public:
  explicit DefectiveSource(Setting setting) : setting_(std::move(setting)) {}

  std::unique_ptr<HeldLock> acquire(const Request& request) override;

  /// False if another owner, or none, has the key. Throws BackendUnavailable.
  bool release(const std::string& key, const std::string& id) {
    return command({"EVAL", release_script, "1", key, id}).integer() == 1;
  }

 private:
  tests::Reply command(std::initializer_list<std::string_view> words) {
    try {
      if (!client_) client_ = tests::RedisClient::tcp("127.0.0.1", setting_.port);
      return (*client_)(words);
    } catch (const std::runtime_error& error) {
      client_.reset();
      throw unavailable(error.what());
    }
  }

  Setting setting_;
  std::uint64_t acquired_ = 0;
  std::optional<tests::RedisClient> client_;
};

class DefectiveHold final : public HeldLock {
 public:
  DefectiveHold(DefectiveSource* source, std::string key, std::string id, Nanos deadline)
      : source_(source), key_(std::move(key)), id_(std::move(id)), deadline_(deadline) {}

  bool lost() const override { return now() >= deadline_; }
  milliseconds remaining() const override {
    return milliseconds(std::max<Nanos>(0, (deadline_ - now()) / millisecond));
  }
  std::optional<std::uint64_t> token() const override { return std::nullopt; }
  bool release() override { return source_ == nullptr || source_->release(key_, id_); }

 private:
  DefectiveSource* const source_;  // null: nothing to release
  const std::string key_, id_;
  const Nanos deadline_;
};

std::unique_ptr<HeldLock> DefectiveSource::acquire(const Request& request) {
  const std::string key = name_of_key(request.key);
  const milliseconds length = request.lease.length(watchdog_period);
  const Nanos lease = length.count() * millisecond;
  if (setting_.client == Client::no_lock) {
    return std::make_unique<DefectiveHold>(nullptr, key, "", now() + lease - margin(lease));
  }
  std::string id = setting_.id;
  if (setting_.client != Client::thread_id) id += ':' + std::to_string(++acquired_);
  const std::string lease_text = std::to_string(length.count());
  for (const Nanos end = now() + 300 * millisecond; now() < end; ::poll(nullptr, 0, 2)) {
    const Nanos sent = now();
    const tests::Reply reply = command({"SET", key, id, "NX", "PX", lease_text});
    if (reply.is_error()) throw unavailable(reply.text());
    if (reply.is_nil()) continue;
    const Nanos since = setting_.client == Client::reply_lease ? now() : sent;
    const Nanos deadline =
        setting_.client == Client::never_lost ? INT64_MAX : since + lease - margin(lease);
    return std::make_unique<DefectiveHold>(this, key, id, deadline);
  }
  return nullptr;
}

class DefectiveSources final : public LockSources {
 public:
  DefectiveSources(Client client, std::uint16_t port, std::uint32_t worker)
      : client_(client), port_(port), worker_(worker) {}

  std::unique_ptr<LockSource> make(std::uint32_t thread) override {
    return std::make_unique<DefectiveSource>(
        Setting{client_, port_, std::to_string(worker_) + ':' + std::to_string(thread)});
  }

 private:
  const Client client_;
  const std::uint16_t port_;
  const std::uint32_t worker_;
};

}  // namespace

std::unique_ptr<LockSources> defective_sources(Client client, std::uint16_t port,
                                               std::uint32_t worker) {
  return std::make_unique<DefectiveSources>(client, port, worker);
}

}  // namespace latchkey::chaos
