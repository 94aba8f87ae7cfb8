// The lint of traces: whatever the bytes, it throws InputError or counts what it found.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/lint/trace_lint.hpp"
#include "sim/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  try {
    const TraceLint lint = lint_trace(std::string(reinterpret_cast<const char*>(data), size), "fuzz.json",
                                      {.strict = true, .most_per_rule = 10});
    if (static_cast<std::int64_t>(lint.findings.size()) > lint.total()) std::abort();
  } catch (const InputError& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
