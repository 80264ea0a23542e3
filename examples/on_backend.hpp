// The command line of the examples that run several processes: --backend URI.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

/// Runs the example, `run(uri)`, and returns the program's exit status.
template <class Run>
int run_on_backend(int argc, char** argv, const std::string& what_it_shows, Run&& run) {
  std::string uri = "redis://127.0.0.1:6379";
  CLI::App options(what_it_shows);
  options.add_option("--backend", uri, "where the locks live")->capture_default_str();
  CLI11_PARSE(options, argc, argv);
  if (uri.starts_with("memory:")) {
    fmt::print(stderr, "--backend {} lives in one process: name one that several can share\n", uri);
    return 2;
  }
  try {
    return run(uri);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
