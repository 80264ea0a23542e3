// expect: nested_too_deeply
#include <latchkey/key.hpp>

void use() {
  static_cast<void>(latchkey::Key<"{((((((((((((((((((((((((((((((((((((((((a))))))))))))))))))))))"
                                  "))))))))))))))))))}">::many);
}
