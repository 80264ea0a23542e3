// A value in a file.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <latchkey/fence.hpp>
#include <latchkey/fences/fenced_file.hpp>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {
namespace {

class FileValue : public Resource {
 public:
  explicit FileValue(const std::string& path) : file_(path) {}

  std::string read() override {
    std::ifstream file(file_.path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& value, const std::optional<Fence>& fence) override {
    if (fence) {
      file_.write(*fence, value);
    } else {
      std::ofstream(file_.path()) << value;
    }
  }

 private:
  FencedFile file_;
};

}  // namespace

std::unique_ptr<Resource> open_file_value(const std::string& where) {
  return std::make_unique<FileValue>(where);
}

}  // namespace latchkey::tests
