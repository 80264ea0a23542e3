// A program that links latchkey and its own Boost and hiredis, of any version.
#include <hiredis/hiredis.h>
#include <boost/pfr.hpp>
#include <boost/version.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#if __has_include(<latchkey/latchkey.hpp>)
#include <latchkey/latchkey.hpp>
#else
#include <latchkey/lock_type.hpp>
#endif
#include <latchkey/third_party/pfr.hpp>

namespace {

struct Account {
  std::string id;
  long balance;
};

// The consumer's own Boost.PFR and latchkey's in one translation unit.
static_assert(boost::pfr::tuple_size_v<Account> == 2);
static_assert(latchkey::third_party::pfr::get_name<0, Account>() == "id");

bool own_boost_works() {
  const Account account{"a", 7};
  return boost::pfr::get<1>(account) == 7;
}

// The consumer's own hiredis: were it mixed up with latchkey's, the struct would have another
// shape.
bool own_hiredis_works() {
  const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader{redisReaderCreate(),
                                                                        redisReaderFree};
  const char text[] = "$5\r\nhello\r\n";
  void* raw = nullptr;
  if (redisReaderFeed(reader.get(), text, std::strlen(text)) != REDIS_OK) return false;
  if (redisReaderGetReply(reader.get(), &raw) != REDIS_OK || raw == nullptr) return false;
  const auto* reply = static_cast<const redisReply*>(raw);
  const bool right = reply->type == REDIS_REPLY_STRING && std::string{reply->str} == "hello";
  freeReplyObject(raw);
  return right;
}

#if __has_include(<latchkey/latchkey.hpp>)
class Bank {
 public:
  long deposit(const Account& account, long amount) {
    using namespace std::chrono_literals;
    return LOCKED("account:{account.id}", latchkey::LockType::WRITE, 3s, 30s)
        AROUND(account, amount) {
      return account.balance + amount;
    };
  }
};

bool latchkey_works() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  return Bank{}.deposit({"a", 7}, 5) == 12;
}
#else
bool latchkey_works() { return to_string(latchkey::LockType::FAIR) == "FAIR"; }
#endif

bool report(const char* what, bool works) {
  std::printf("%-40s %s\n", what, works ? "works" : "BROKEN");
  return works;
}

}  // namespace

int main() {
  std::printf("Boost %s, hiredis %d.%d.%d beside latchkey\n", BOOST_LIB_VERSION, HIREDIS_MAJOR,
              HIREDIS_MINOR, HIREDIS_PATCH);
  bool all = report("the program's own Boost.PFR", own_boost_works());
  all = report("the program's own hiredis", own_hiredis_works()) && all;
  all = report("latchkey", latchkey_works()) && all;
  return all ? 0 : 1;
}
