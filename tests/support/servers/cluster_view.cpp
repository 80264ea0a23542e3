// ClusterView: parses CLUSTER NODES.
#include "support/servers/cluster_view.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace latchkey::tests {
namespace {

/// The port in "127.0.0.1:30001@40001,host". The part before the colon is empty while it is
/// unknown.
std::uint16_t port_in(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoul(address.substr(address.find(':') + 1)));
}

/// Adds "0-5460" or "7". Ignores "[7->-id]", a slot that migrates: its owner also lists it as "7".
void add_slots(std::bitset<slot_count>& slots, const std::string& range) {
  if (range.starts_with('[')) return;
  const std::size_t dash = range.find('-');
  const std::size_t first = std::stoul(range);
  const std::size_t last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
  for (std::size_t slot = first; slot <= last; ++slot) slots.set(slot);
}

ClusterMember member_of(const std::string& line) {
  std::istringstream words(line);
  std::string address, flags, ping, pong, epoch, link;
  ClusterMember member;
  words >> member.id >> address >> flags >> member.master_id >> ping >> pong >> epoch >> link;
  flags = ',' + flags + ',';
  const auto has = [&](const std::string& flag) {
    return flags.find(',' + flag + ',') != std::string::npos;
  };
  member.port = port_in(address);
  member.myself = has("myself");
  member.master = has("master");
  member.failing = has("fail") || has("fail?");
  member.unknown = has("handshake") || has("noaddr");
  member.addressed = !address.starts_with(':');
  member.connected = link == "connected";
  for (std::string range; words >> range;) add_slots(member.slots, range);
  return member;
}

}  // namespace

ClusterView::ClusterView(std::string_view cluster_nodes) {
  std::istringstream lines{std::string(cluster_nodes)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) members_.push_back(member_of(line));
  }
}

const ClusterMember& ClusterView::myself() const {
  const auto found = std::ranges::find_if(members_, &ClusterMember::myself);
  if (found == members_.end()) throw std::runtime_error("a node does not list itself");
  return *found;
}

const ClusterMember* ClusterView::find(std::string_view id) const {
  const auto found = std::ranges::find(members_, id, &ClusterMember::id);
  return found == members_.end() ? nullptr : &*found;
}

const ClusterMember* ClusterView::owner_of(std::size_t slot) const {
  const auto owns = [&](const ClusterMember& member) { return member.slots.test(slot); };
  const auto found = std::ranges::find_if(members_, owns);
  return found == members_.end() ? nullptr : &*found;
}

bool ClusterView::whole() const {
  std::bitset<slot_count> all;
  for (const ClusterMember& member : members_) all |= member.slots;
  return all.all();
}

}  // namespace latchkey::tests
