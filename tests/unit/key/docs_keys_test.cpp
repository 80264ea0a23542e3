// docs/keys.md, run: its snippets stand here word for word, and its tables are checked.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/key.hpp>
#include <latchkey/parsed_key.hpp>

// clang-format off: the page's own lines
namespace docs_keys {

struct Account {                       // a policy file may walk into it
  int id = 0;
  std::string name;
  LATCHKEY_REFLECT(Account);
};

class User {                           // private members and getters, by name
 public:
  LATCHKEY_FIELDS(User, id_, name);
  User(int id, std::string name) : id_(id), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  int id_;
  std::string name_;
};

namespace wire {
struct Order {
  int order_number = 0;
  [[nodiscard]] int day() const { return order_number / 1000; }
};

constexpr auto latchkey_fields(latchkey::reflect::tag<Order>) {
  using latchkey::reflect::Field;
  return latchkey::reflect::FieldList<
      Field<"id", &Order::order_number>,
      Field<"day", [](const Order& order) { return order.day(); }>>{};
}
}  // namespace wire

enum class Color { RED, BLUE };
inline std::string latchkey_key(Color color) { return color == Color::RED ? "red" : "blue"; }

struct Isbn {
  long number = 0;
  friend std::string latchkey_key(const Isbn& isbn) { return "978-" + std::to_string(isbn.number); }
};

std::string key_in_code(const Account& account) {
  latchkey::KeyBuffer key;  // no heap for keys up to 64 bytes
  latchkey::Key<"account:{account.id}">::render<"account">(key, account);
  return std::string(key.view());
}

std::string key_from_a_file(std::string_view text, const Account& account) {
  const latchkey::BoundKey bound =
      latchkey::bind_key(latchkey::parse_key(text), latchkey::schema_of<"account", Account>());
  latchkey::KeyBuffer key;
  bound.render(key, latchkey::argument_pointers(account));
  return std::string(key.view());
}

}  // namespace docs_keys
// clang-format on

namespace latchkey {
namespace {

using namespace docs_keys;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(DocsKeys, ThisFileContainsEverySnippetOfThePage) {
  const std::string self = contents(__FILE__);
  const std::string folder = std::string(__FILE__).substr(0, std::string(__FILE__).find("tests/"));
  const std::string page = contents(folder + "docs/keys.md");
  if (self.empty() || page.empty()) GTEST_SKIP() << "the sources are not beside this program";
  const std::string_view fence = "```cpp\n";
  int count = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    const std::string block = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_NE(self.find(block), std::string::npos) << block;
    ++count;
  }
  EXPECT_EQ(count, 4);
}

template <FixedString Template, FixedString Names, class... Args>
std::string rendered(const Args&... args) {
  KeyBuffer out;
  Key<Template>::template render<Names>(out, args...);
  return std::string(out.view());
}

struct Guest {
  int id = 42;
  std::string name = "ada";
  std::optional<std::string> nick;
};

TEST(DocsKeys, TheTableOfKeys) {
  const Guest user;
  EXPECT_EQ((rendered<"account:{account.id}", "account">(Account{42, "x"})), "account:42");
  EXPECT_EQ((rendered<"{0.id}:{1}", "">(user, 7)), "42:7");
  EXPECT_EQ((rendered<"'user:' + #user.name", "user">(user)), "user:ada");
  EXPECT_EQ((rendered<"{{fixed}}", "">()), "{fixed}");
  EXPECT_EQ((rendered<"cart:{user.nick ?: user.name}", "user">(user)), "cart:ada");
  EXPECT_EQ((rendered<"stripe:{hash(user.name) % 64}", "user">(user)), "stripe:41");
}

TEST(DocsKeys, ATextOfYourOwn) {
  EXPECT_EQ((rendered<"paint:{color}", "color">(Color::BLUE)), "paint:blue");
  EXPECT_EQ((rendered<"{book}", "book">(Isbn{3})), "978-3");
}

TEST(DocsKeys, Escaping) {
  EXPECT_EQ((rendered<"{a}:{b}", "a, b">("x:", "y")), "x%3A:y");
  EXPECT_EQ((rendered<"{a}:{b}", "a, b">("x", ":y")), "x:%3Ay");
}

TEST(DocsKeys, TheTableOfJavaKeys) {
  const Guest user;
  const std::vector<int> ids{3, 1};
  EXPECT_EQ((rendered<"'updateKey'", "">()), (rendered<"updateKey", "">()));
  EXPECT_EQ((rendered<"#userVO.id", "userVO">(user)), (rendered<"{userVO.id}", "userVO">(user)));
  EXPECT_EQ((rendered<"user:{userVO.id}", "userVO">(user)), "user:42");
  EXPECT_EQ((rendered<"user:{raw(userVO.name)}", "userVO">(user)), "user:ada");
  EXPECT_EQ((rendered<"{0.id}", "">(user)), "42");
  EXPECT_EQ((rendered<"{user.nick ?: 'none'}", "user">(user)), "none");
  EXPECT_EQ((rendered<"{ids[0]}", "ids">(ids)), "3");
  EXPECT_EQ((rendered<"{lower(name)}", "name">("ADA")), "ada");
  EXPECT_EQ((rendered<"{size(ids)}", "ids">(ids)), "2");
  EXPECT_EQ((rendered<"{id % 16}", "id">(-1)), "15");
}

TEST(DocsKeys, FieldsAndTheHook) {
  EXPECT_EQ((rendered<"{user.id_}:{user.name}", "user">(User(1, "ada"))), "1:ada");
  EXPECT_EQ((rendered<"{order.id}/{order.day}", "order">(wire::Order{7001})), "7001/7");
}

TEST(DocsKeys, ByHand) {
  const Account account{42, "x"};
  EXPECT_EQ(key_in_code(account), "account:42");
  EXPECT_EQ(key_from_a_file("account:{account.id}", account), "account:42");
  try {
    key_from_a_file("account:{acount.id}", account);
    FAIL();
  } catch (const KeyError& error) {
    EXPECT_STREQ(
        error.what(),
        "key 'account:{acount.id}', column 10: unknown argument 'acount'; expected one of account");
  }
}

}  // namespace
}  // namespace latchkey
