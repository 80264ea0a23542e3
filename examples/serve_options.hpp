// The command line of the examples that serve: [--serve PORT] [URI].
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct ServeOptions {
  std::string uri;                       ///< where the locks live
  std::optional<unsigned short> port{};  ///< empty: the example checks itself, on a free port
};

inline ServeOptions serve_options(int count, char** arguments, std::string uri) {
  ServeOptions options{std::move(uri)};
  for (int index = 1; index < count; ++index) {
    if (std::string_view(arguments[index]) == "--serve" && index + 1 < count) {
      options.port = static_cast<unsigned short>(std::stoi(arguments[++index]));
    } else {
      options.uri = arguments[index];
    }
  }
  return options;
}
