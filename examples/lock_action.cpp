// A Spring service that uses @LockAction, ported to LOCKED method by method.
//
// The Java original, which locks through Redisson:
//
//     @LockAction("'updateKey'")
//     public String update(UserVO userVO) { ... }
//
//     @LockAction("#userVO.id")
//     public String updateById(UserVO userVO) { ... }
//
//     @LockAction(value = "#userVO.id", lockType = LockType.WRITE_LOCK, waitTime = 30000)
//     public String writeById(UserVO userVO) { ... }
//
//     @LockAction(value = "#userVO.id", lockType = LockType.READ_LOCK, waitTime = 30000)
//     public String readById(UserVO userVO) { ... }
//
// Both programs may run at once on one Redis server. Their keys are the same bytes, so a lock held
// by one also excludes the other. This program locks within its own process ("memory:") unless you
// pass it a URI.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using latchkey::LockType;

struct UserVO {
  int id = 0;
  std::string name;
};

class LockActionService {
 public:
  // (a) around a body
  std::string update(const UserVO& userVO) {
    return LOCKED("'updateKey'") AROUND(userVO) { return write(userVO); };
  }

  std::string update_by_id(const UserVO& userVO) {
    return LOCKED("#userVO.id") AROUND(userVO) { return write(userVO); };
  }

  // (b) at the declaration
  DECORATED(LOCKED("#userVO.id", LockType::WRITE, 30s), std::string, write_by_id,
            (const UserVO&) userVO) {
    return write(userVO);
  }

  DECORATED(LOCKED("#userVO.id", LockType::READ, 30s), std::string, read_by_id, (const),
            (const UserVO&) userVO) {
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name + ": " +
           std::to_string(writes_);
  }

 private:
  // Would lose counts if two threads were ever in here for the same user.
  std::string write(const UserVO& userVO) {
    const int before = writes_;
    std::this_thread::yield();
    writes_ = before + 1;
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name;
  }

  int writes_ = 0;
};

int main(int count, char** words) {
  try {
    latchkey::install(latchkey::Locks::connect(count > 1 ? words[1] : "memory:"));
    LockActionService service;
    const UserVO ada{7, "ada"};

    std::puts(service.update(ada).c_str());        // updateKey ada
    std::puts(service.update_by_id(ada).c_str());  // 7 ada

    const UserVO grace{8, "grace"};
    constexpr int threads = 8;
    constexpr int rounds = 500;
    {
      std::vector<std::jthread> users;
      for (int i = 0; i < threads; ++i) {
        users.emplace_back([&] {
          for (int n = 0; n < rounds; ++n) service.write_by_id(grace);
        });
      }
    }
    const std::string all = service.read_by_id(grace);  // 8 grace: 4002
    std::puts(all.c_str());

    std::puts("sites:");
    for (const latchkey::Site& site : latchkey::sites()) {
      std::printf("  %.*s(%.*s %.*s) locks %.*s\n", static_cast<int>(site.name().size()),
                  site.name().data(), static_cast<int>(site.argument_type(0).size()),
                  site.argument_type(0).data(), static_cast<int>(site.argument_name(0).size()),
                  site.argument_name(0).data(), static_cast<int>(site.notes()->text.size()),
                  site.notes()->text.data());
    }
    return all == "8 grace: " + std::to_string(2 + threads * rounds) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
