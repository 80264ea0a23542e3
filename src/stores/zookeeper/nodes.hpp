// The nodes of locks: makes them, reads them, watches them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stores/zookeeper/connection.hpp"
#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// Paths of locks, and what several operations on nodes have in common. Only while the link is up.
class Nodes {
 public:
  Nodes(ZooKeeperConnection& connection, std::string folder)
      : connection_(connection), folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// The folder of a lock's nodes, as Curator's InterProcessMutex takes it.
  [[nodiscard]] std::string path_of(std::string_view key) const;
  /// The key of the lock with this folder.
  [[nodiscard]] std::string key_of(std::string_view path) const;
  [[nodiscard]] Session& session() noexcept { return connection_.session(); }

  /// Makes a node of a lock, and the folders above it if they are missing: containers, as Curator
  /// makes them, which the server deletes when they are empty.
  void make(const std::string& lock, const std::string& name, std::string data, Session::Mode mode,
            Handler handler);
  /// Makes an ordered node as `make` does, then reads the nodes of the lock. `listed` is called
  /// only if the node was made, and as an entry of this lock.
  void make_and_list(const std::string& lock, const std::string& name, std::string data,
                     Handler made, Handler listed);

  /// The entries among these nodes, in their order.
  [[nodiscard]] static std::vector<Ticket> tickets(const std::vector<std::string>& names);
  /// Why an operation did not run; empty: it did, or there is no such node.
  [[nodiscard]] static Refusal refusal(int code, std::string_view path);

 private:
  void make_folders(const std::string& lock);
  void try_make(std::string lock, std::string name, std::string data, Session::Mode mode,
                Handler made, Handler listed, int attempts);

  ZooKeeperConnection& connection_;
  const std::string folder_;
};

/// The recipe's operations on ZooKeeper. Only while the link is up.
class NodeQueue final : public QueueStore {
 public:
  NodeQueue(Nodes& nodes, stores::Outbox& outbox) : nodes_(nodes), recipe_(*this, outbox) {}

  [[nodiscard]] QueueRecipe& recipe() noexcept { return recipe_; }
  [[nodiscard]] const QueueRecipe& recipe() const noexcept { return recipe_; }
  /// An event of a watched node of a lock.
  void on_node_event(std::string_view path, NodeEvent event);

 private:
  [[nodiscard]] TicketOwner owner_of(const HoldId& id) const noexcept override;
  void create(Place& place) override;
  void list(Line& line, Place* asker) override;
  void watch(Line& line, const std::string& name) override;
  [[nodiscard]] std::size_t watch_size(const Place& place) const noexcept override;
  void remove(Place& place) override;
  void check(Place& place, bool prolongs) override;
  void convert(Place& place) override;

  void listed(const std::string& key, Place* asker, Reply&& reply);
  void deleted(std::string_view key, std::string_view name);
  [[nodiscard]] std::string path_of(const Place& place) const;

  Nodes& nodes_;
  QueueRecipe recipe_;
};

}  // namespace latchkey::inline v1::detail::zookeeper
