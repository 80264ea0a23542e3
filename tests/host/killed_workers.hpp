// Processes that work in one segment, of which one after the other is killed and replaced.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/fork.hpp"

namespace latchkey::tests {

/// An object that this process and its children share.
template <class T>
class SharedObject {
 public:
  SharedObject() {
    void* const memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    object_ = ::new (memory) T{};
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject() { ::munmap(object_, sizeof(T)); }

  [[nodiscard]] T& operator*() const noexcept { return *object_; }

 private:
  T* object_ = nullptr;
};

/// Four processes call `work(number)`, which does not return; each `pause` one of them is killed
/// and replaced, for LATCHKEY_HOST_SECONDS, or until `most` have begun. `dies(number)` is called
/// just before a process is killed. Numbers begin at 1; returns the last.
template <class Work, class Dies>
std::size_t kill_workers(std::chrono::milliseconds pause, unsigned seed, std::size_t most,
                         Work&& work, Dies&& dies) {
  struct Child {
    pid_t pid;
    std::size_t number;
  };
  std::size_t last = 0;
  const auto start = [&]() -> Child {
    const std::size_t number = ++last;
    const pid_t pid = fork_child();
    if (pid == 0) {
      try {
        work(number);
      } catch (const std::exception& error) {
        static_cast<void>(!::write(2, error.what(), std::string(error.what()).size()));
      }
      ::_exit(1);
    }
    return {pid, number};
  };
  const auto kill = [&](const Child& child) {
    EXPECT_EQ(::waitpid(child.pid, nullptr, WNOHANG), 0) << "process has ended by itself";
    dies(child.number);
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  };
  std::vector<Child> children;
  for (int index = 0; index < 4; ++index) children.push_back(start());
  const char* const wanted = std::getenv("LATCHKEY_HOST_SECONDS");
  const auto length = std::chrono::seconds(wanted != nullptr ? std::atoi(wanted) : 4);
  std::mt19937 random(seed);
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end && last < most) {
    std::this_thread::sleep_for(pause);  // sleeps: the processes work meanwhile
    Child& child = children[random() % children.size()];
    kill(child);
    child = start();
  }
  for (const Child& child : children) kill(child);
  return last;
}

}  // namespace latchkey::tests
