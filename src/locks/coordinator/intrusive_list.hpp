// A doubly linked list whose nodes belong to somebody else.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::detail {

/// Lists nodes that carry their own `previous` and `next`; a node is in one list at a time. Owns
/// nothing and allocates nothing.
template <class Node>
class IntrusiveList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Node* first() const noexcept { return first_; }
  [[nodiscard]] Node* last() const noexcept { return last_; }

  void push_back(Node& node) noexcept {
    node.previous = last_;
    node.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &node;
    last_ = &node;
  }

  void remove(Node& node) noexcept {
    for (Visitor* visitor = visitors_; visitor != nullptr; visitor = visitor->outer) {
      if (visitor->next == &node) visitor->next = node.next;
    }
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

  /// Visits each node; the visitor may remove any of them, and may visit the list itself.
  template <class Visit>
  void for_each(Visit&& visit) {
    Visitor visitor(*this);
    while (visitor.next != nullptr) {
      Node& each = *visitor.next;
      visitor.next = each.next;
      visit(each);
    }
  }

 private:
  /// A visit under way, and the one that it is part of.
  struct Visitor {
    // Inlined, GCC 12 warns that the pointer outlives the visit.
    [[gnu::noinline]] explicit Visitor(IntrusiveList& its) noexcept
        : list(its), next(its.first_), outer(its.visitors_) {
      list.visitors_ = this;
    }
    ~Visitor() { list.visitors_ = outer; }
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    IntrusiveList& list;
    Node* next;
    Visitor* outer;
  };

  Node* first_ = nullptr;
  Node* last_ = nullptr;
  Visitor* visitors_ = nullptr;
};

}  // namespace latchkey::inline v1::detail
