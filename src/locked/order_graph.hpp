// Which lock classes were taken within which, and where that was first seen.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/attempt.hpp>

namespace latchkey::detail {

/// One lock as the order sees it. Keys of one shape in one place are of one class.
struct OrderedLock {
  std::string_view place;  ///< where it lives: two Locks that describe themselves alike are one
  std::string_view key;
  Origin origin;
};

/// Thread-safe. Remembers every pair of classes that it was shown, as long as it lives.
class OrderGraph {
 public:
  /// `inner` is about to be taken within `outer`. The sentence of a report the first time that this
  /// closes a circle, or that the keys of one class have no order left in which all pairs ascend.
  std::optional<std::string> add(const OrderedLock& outer, const OrderedLock& inner);

 private:
  using Class = std::size_t;

  /// Where one class was first taken within another.
  struct Edge {
    Origin outer;
    Origin inner;
  };
  /// What the pairs of keys of one class have ruled out.
  struct KeyOrder {
    bool not_by_bytes = false;
    bool not_by_numbers = false;
    bool reported = false;
  };
  struct ClassName {
    std::string place;
    std::string shape;
    auto operator<=>(const ClassName&) const = default;
  };

  Class class_of(const OrderedLock& lock);
  std::optional<std::string> within_class(Class its, const OrderedLock& outer,
                                          const OrderedLock& inner);
  [[nodiscard]] std::vector<Class> path(Class from, Class to) const;
  [[nodiscard]] std::string sentence(const std::vector<Class>& way) const;
  [[nodiscard]] std::string taken_within(Class outer, Class inner) const;

  std::mutex mutex_;
  std::map<ClassName, Class> classes_;  // this and all below: guarded by mutex_
  std::map<Class, std::map<Class, Edge>> edges_;
  std::map<Class, KeyOrder> key_orders_;
};

/// A key template without what stands in its braces: "account:{}" of "account:{from.id}" and of
/// "'account:' + #to.id". Templates of one shape make keys of one kind, whatever their arguments
/// are called.
[[nodiscard]] std::string shape_of(std::string_view key_template);

/// By bytes, but with digits that follow each other as one number: "a:9" before "a:10".
[[nodiscard]] bool before_by_numbers(std::string_view left, std::string_view right) noexcept;

}  // namespace latchkey::detail
