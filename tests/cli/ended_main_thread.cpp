// A process whose main thread has ended while another one works: /proc calls such a process a
// zombie. It writes its id and that of its child to the file that its argument names.
#include <pthread.h>
#include <unistd.h>

#include <fstream>

namespace {

void* work(void* /*nothing*/) {
  ::sleep(60);
  ::_exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 64;
  ::setsid();
  const pid_t child = ::fork();
  if (child == -1) return 71;
  if (child == 0) {
    ::setsid();
    ::sleep(60);
    ::_exit(0);
  }
  pthread_t worker{};
  if (::pthread_create(&worker, nullptr, work, nullptr) != 0) return 70;
  std::ofstream(words[1]) << ::getpid() << ' ' << child << '\n';
  ::pthread_exit(nullptr);
}
