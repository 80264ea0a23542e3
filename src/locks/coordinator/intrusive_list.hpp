// A doubly linked list whose nodes belong to somebody else.
#pragma once

namespace latchkey::detail {

/// Lists nodes that carry their own `previous` and `next`; a node is in one list at a time. Owns
/// nothing and allocates nothing.
template <class Node>
class IntrusiveList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Node* first() const noexcept { return first_; }

  void push_back(Node& node) noexcept {
    node.previous = last_;
    node.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &node;
    last_ = &node;
  }

  void remove(Node& node) noexcept {
    (node.previous != nullptr ? node.previous->next : first_) = node.next;
    (node.next != nullptr ? node.next->previous : last_) = node.previous;
    node.previous = node.next = nullptr;
  }

  Node* pop_front() noexcept {
    Node* const node = first_;
    if (node != nullptr) remove(*node);
    return node;
  }

  void clear() noexcept { first_ = last_ = nullptr; }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace latchkey::detail
