// Shapes, fields and the faults of aggregates. A line that compiles has passed.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/detail/reflect.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_type.hpp>

namespace latchkey::reflect {
namespace {

enum class Small : signed char { A };
struct Address {
  std::string zip;
  int number;
};
LATCHKEY_REFLECT(Address);
struct Wide {
  int id;
  std::string name;
  std::optional<int> limit;
  std::unique_ptr<int> owned;
  std::vector<int> list;
  std::chrono::seconds age;
  Address address;
  Small small;
  const char* label;
  std::shared_ptr<Wide> parent;
  std::map<std::string, int> map;
  std::array<int, 3> array;
};
struct WithText {
  int id;
  char name[8];
};
struct ArrayInside {
  int id;
  int numbers[3];
  int last;
};
struct Base {
  int id;
};
struct Derived : Base {
  int more;
};
struct Nothing {};
struct OnNothing : Nothing {
  int id;
};
struct NoDefault {
  int id;
  std::reference_wrapper<int> reference;
};
class Private {
 public:
  explicit Private(int id) : id_(id) {}
  [[nodiscard]] int id() const { return id_; }

 private:
  int id_;
};

static_assert(aggregate_fault<Wide> == AggregateFault::none);
static_assert(aggregate_fault<NoDefault> == AggregateFault::none);
static_assert(aggregate_fault<Nothing> == AggregateFault::none);
static_assert(aggregate_fault<WithText> == AggregateFault::has_an_array);
static_assert(aggregate_fault<ArrayInside> == AggregateFault::has_an_array);
static_assert(aggregate_fault<Derived> == AggregateFault::has_a_base);
static_assert(aggregate_fault<OnNothing> == AggregateFault::has_a_base);
static_assert(aggregate_fault<Private> == AggregateFault::not_an_aggregate);

static_assert(field_names<Wide>.size() == 12);
static_assert(field_index<Wide>("parent") == 9);
static_assert(field_index<Wide>("none") == 12);
static_assert(has_field<Address>("zip") && !has_field<Address>("zap") && !has_field<int>("zip"));
static_assert(std::is_same_v<field_type<Wide, 6>, Address>);

// Inside a class, before the members that it names, private ones and getters among them.
class Inside {
 public:
  LATCHKEY_FIELDS(Inside, id_, twice, text);
  explicit Inside(int id) : id_(id) {}
  [[nodiscard]] int twice() const noexcept { return id_ * 2; }
  char text[3] = {'a', 'b', 'c'};

 private:
  int id_;
};
static_assert(Declared<Inside> && field_names<Inside>[1] == "twice");

// Beside a class; a base's members too.
struct Listed : Base {
  int more;
};
LATCHKEY_FIELDS(Listed, id, more);
static_assert(has_field<Listed>("id") && has_field<Listed>("more"));
static_assert(!Declared<Wide>);

struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, last;
};
LATCHKEY_FIELDS(Many, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
                last);
static_assert(field_names<Many>.size() == 27 && field_index<Many>("last") == 26);

static_assert(shape_of<bool> == Shape::boolean);
static_assert(shape_of<short> == Shape::signed_integer && shape_of<Small> == Shape::signed_integer);
static_assert(shape_of<unsigned char> == Shape::unsigned_integer);
static_assert(shape_of<std::byte> == Shape::unsigned_integer);
static_assert(shape_of<const char> == Shape::character);
static_assert(shape_of<char8_t> == Shape::other && shape_of<wchar_t> == Shape::other);
static_assert(shape_of<std::string> == Shape::text && shape_of<std::string_view> == Shape::text);
static_assert(shape_of<char[5]> == Shape::text && shape_of<const char*> == Shape::text);
static_assert(shape_of<int*> == Shape::pointer && shape_of<std::optional<int>> == Shape::pointer);
static_assert(shape_of<std::unique_ptr<int>> == Shape::pointer);
static_assert(shape_of<std::shared_ptr<int>> == Shape::pointer);
static_assert(shape_of<std::reference_wrapper<int>> == Shape::reference);
static_assert(shape_of<std::vector<bool>> == Shape::sequence &&
              shape_of<int[3]> == Shape::sequence);
static_assert(shape_of<std::set<int>> == Shape::sequence);
static_assert(shape_of<std::map<int, int>> == Shape::map);
static_assert(MapWithIntegerKeys<std::map<long, int>> && !MapWithTextKeys<std::map<long, int>>);
static_assert(MapWithTextKeys<std::map<std::string, int>> && !MapWithTextKeys<std::vector<int>>);
static_assert(shape_of<double> == Shape::floating);
static_assert(shape_of<void*> == Shape::other && shape_of<void (*)()> == Shape::other);
static_assert(shape_of<std::nullptr_t> == Shape::other);
static_assert(shape_of<Wide> == Shape::object);
static_assert(shape_of<std::chrono::seconds> == Shape::time);

static_assert(type_name<int>() == "int");
static_assert(type_name<Base>().ends_with("Base"));
// Without the namespace of the ABI, wherever it stands.
static_assert(type_name<latchkey::Hold>() == "latchkey::Hold");
static_assert(type_name<std::map<latchkey::LockType, std::optional<latchkey::Hold>>>().find(
                  "v1::") == std::string_view::npos);

struct OnlyDeclared;

struct Chain {
  int id;
  std::unique_ptr<Chain> next;
  LATCHKEY_REFLECT(Chain);
};

TEST(TypeInfo, ListsFieldsOfDeclaredTypesOnly) {
  EXPECT_TRUE(type_info<Address>().declared);
  ASSERT_EQ(type_info<Address>().field_count, 2U);
  EXPECT_EQ(type_info<Address>().fields[0].name, "zip");
  EXPECT_EQ(type_info<Address>().fields[0].type, &type_info<std::string>());
  EXPECT_FALSE(type_info<Wide>().declared);
  EXPECT_EQ(type_info<Wide>().field_count, 0U);
  EXPECT_TRUE((type_info<std::pair<int, int>>().declared));
}

TEST(TypeInfo, MayBeRecursive) {
  const TypeInfo& chain = type_info<Chain>();
  EXPECT_EQ(chain.fields[1].type->target, &chain);
}

TEST(TypeInfo, StandsForTypesThatAreOnlyDeclared) {
  const TypeInfo& pointer = type_info<OnlyDeclared*>();
  EXPECT_EQ(pointer.shape, Shape::pointer);
  EXPECT_FALSE(pointer.target->declared);
}

TEST(TypeInfo, ReadsWhatGettersReturnByValue) {
  const Inside inside(21);
  int seen = 0;
  type_info<Inside>().fields[1].visit(&inside, {&seen, [](void* context, const void* value) {
                                                  *static_cast<int*>(context) =
                                                      *static_cast<const int*>(value);
                                                }});
  EXPECT_EQ(seen, 42);
}

}  // namespace
}  // namespace latchkey::reflect
