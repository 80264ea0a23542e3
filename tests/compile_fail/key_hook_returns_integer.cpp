// expect: latchkey_key\(const T&\) gives the text of a key: it returns std::string
#include <latchkey/key.hpp>

struct Color {
  int number;
};
int latchkey_key(const Color& color) { return color.number; }

void use() { latchkey::Key<"{color}">::check<"color", Color>(); }
