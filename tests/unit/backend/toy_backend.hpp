// A third party's backend over a map, written with SimpleBackend.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <latchkey/simple_backend.hpp>

namespace toy {

/// The service: one map and one clock for all connections.
struct Store {
  struct Row {
    latchkey::HoldId owner;
    latchkey::Clock::time_point ends;
    std::uint64_t token = 0;
  };
  explicit Store(latchkey::Clock& time) : clock(time) {}

  latchkey::Clock& clock;
  std::mutex mutex;
  std::map<std::string, Row, std::less<>> rows;
  std::uint64_t last_token = 0;
};

class ToyBackend : public latchkey::SimpleBackend {
 public:
  explicit ToyBackend(std::shared_ptr<Store> store)
      : SimpleBackend(store->clock), store_(std::move(store)) {}

  latchkey::Capabilities capabilities() const noexcept override {
    latchkey::Capabilities offered;
    offered.fenced = true;
    return offered;
  }
  std::string describe() const override { return "toy:"; }

 protected:
  latchkey::Outcome acquire(const latchkey::Request& ask) override {
    const std::lock_guard lock(store_->mutex);
    Store::Row* row = live(ask.key);
    if (row != nullptr && row->owner != ask.id) return busy();
    if (row == nullptr) {
      row = &store_->rows[std::string(ask.key)];
      *row = {ask.id, {}, 0};
      if (ask.type == latchkey::LockType::FENCED) row->token = store_->last_token += ask.tokens;
    }
    row->ends = std::max(row->ends, latchkey::later(store_->clock.now(), ask.lease));
    return granted(row->token);
  }
  latchkey::Outcome renew(const latchkey::Request& ask) override {
    const std::lock_guard lock(store_->mutex);
    Store::Row* const row = live(ask.key);
    if (row == nullptr || row->owner != ask.id) return gone();
    row->ends = std::max(row->ends, latchkey::later(store_->clock.now(), ask.lease));
    return granted();
  }
  latchkey::Outcome release(const latchkey::Request& ask) override {
    const std::lock_guard lock(store_->mutex);
    Store::Row* const row = live(ask.key);
    if (row == nullptr || row->owner != ask.id) return gone();
    store_->rows.erase(std::string(ask.key));
    return granted();
  }

 private:
  Store::Row* live(std::string_view key) {
    const auto place = store_->rows.find(key);
    if (place == store_->rows.end()) return nullptr;
    if (place->second.ends > store_->clock.now()) return &place->second;
    store_->rows.erase(place);
    return nullptr;
  }

  std::shared_ptr<Store> store_;
};

}  // namespace toy
