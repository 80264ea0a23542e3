// A program whose main returns while its installed Locks still have events for the listener.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <latchkey/latchkey.hpp>
#include <latchkey/listener.hpp>

// A listener that is destroyed while it is called is a mistake, which ~Listener only makes
// harmless: nothing can order its write of the vptr after the call's read.
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:latchkey::*::Listener::~Listener";
}
#endif
#endif

namespace {

constexpr int calls = 20;

/// Fails if an event is missing when it is destroyed.
class Complete final : public latchkey::Listener {
 public:
  Complete() = default;
  Complete(const Complete&) = delete;
  Complete& operator=(const Complete&) = delete;
  ~Complete() override {
    const int released = counts_["released"];
    if (released == calls) return;
    std::fprintf(stderr, "%d of %d events arrived\n", released, calls);
    std::_Exit(3);
  }
  void on_event(const latchkey::Event& event) override {
    ++counts_[std::string(to_string(event.kind))];
  }

 private:
  std::map<std::string, int> counts_;
};

/// Has no member with a destructor.
class Simple final : public latchkey::Listener {
 public:
  void on_event(const latchkey::Event& event) override { characters_ += event.key.size(); }

 private:
  std::size_t characters_ = 0;
};

void work(latchkey::SharedOrBorrowed<latchkey::Listener> listener) {
  latchkey::install(latchkey::Locks::connect("memory:", {.listener = std::move(listener)}));
  for (int id = 0; id < calls; ++id) {
    LOCKED("k:{id}") AROUND(id){};
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view life = count > 1 ? arguments[1] : "";
  if (life == "static") {
    static Complete listener;
    work(&listener);
  } else if (life == "shared") {
    work(std::make_shared<Complete>());
  } else {
    Simple listener;
    work(&listener);
  }
}
