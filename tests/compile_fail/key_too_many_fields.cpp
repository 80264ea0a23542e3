// expect: type_has_more_than_64_fields_write_LATCHKEY_FIELDS_with_those_that_keys_use<.*"f1".*Many
// A type with more fields than Boost.PFR reads here.
#include <latchkey/latchkey.hpp>

struct Many {
  int f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13;
  int f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26;
  int f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39;
  int f40, f41, f42, f43, f44, f45, f46, f47, f48, f49, f50, f51, f52;
  int f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, f63, f64, f65;
};

void call(const Many& many) { LOCKED("key:{many.f1}") AROUND(many){}; }
