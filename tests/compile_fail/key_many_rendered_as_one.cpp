// expect: so it is many keys: render_many
#include <latchkey/key.hpp>

void use() {
  latchkey::KeyBuffer out;
  latchkey::Key<"{ids[*]}">::render<"ids">(out, std::vector<int>{1});
}
