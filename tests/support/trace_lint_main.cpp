// trace_lint FILE...: prints what is wrong with each trace. Exit codes: 0 nothing, 1 something, 2 a file is unreadable.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "tests/support/trace_lint.hpp"

namespace {

int lint_file(const std::string& path) {
  try {
    const auto problems = debubble::testing::lint_trace(debubble::testing::read_plain_or_gzip(path));
    for (const std::string& problem : problems) std::printf("%s: %s\n", path.c_str(), problem.c_str());
    return problems.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: trace_lint FILE...\n");
    return 2;
  }
  int worst = 0;
  for (int i = 1; i < argc; ++i) worst = std::max(worst, lint_file(argv[i]));
  return worst;
}
