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
// by one also excludes the other. lock_action/service.hpp has the methods with macros, and
// lock_action/annotated_service.hpp with annotations of C++26. This program locks within its own
// process ("memory:") unless you pass it a URI.
#include <latchkey/latchkey.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#ifdef LOCK_ACTION_IS_ANNOTATED
#include "lock_action/annotated_service.hpp"
using Service = AnnotatedLockActionService;
#else
#include "lock_action/service.hpp"
using Service = LockActionService;
#endif

int main(int count, char** words) {
  try {
    latchkey::install(latchkey::Locks::connect(count > 1 ? words[1] : "memory:"));
    Service service;
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
