// A simulated store that is the table of the memory backend.
#include <memory>

#include "testing/simulator/store.hpp"

namespace latchkey::sim {
namespace {

class TableStore final : public Store {
 public:
  using Store::Store;

  [[nodiscard]] Capabilities offers() const noexcept override {
    Capabilities all;
    all.fair = all.read_write = all.fenced = all.pushes = all.administration = true;
    return all;
  }

  Outcome apply(const Request& request, detail::Subscriber* link) override {
    return table_->apply(request, clock().now(), link);
  }

  void forget(const detail::Subscriber& link) noexcept override { table_->forget(link); }
  void restart() override { table_ = std::make_unique<detail::LockTable>(); }

  [[nodiscard]] std::size_t left(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) (void)holds(key, HoldId{});
    return table_->size();
  }

 private:
  std::unique_ptr<detail::LockTable> table_ = std::make_unique<detail::LockTable>();
};

}  // namespace

std::unique_ptr<Store> make_table_store(const Clock::duration& truth) {
  return std::make_unique<TableStore>(truth);
}

}  // namespace latchkey::sim
