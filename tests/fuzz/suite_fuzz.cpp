// Suites and baselines of `debubble check`: any text is read or refused with InputError, never more.
#include "studies/check/baseline.hpp"
#include "studies/check/suite.hpp"
#include "studies/check/suite_lines.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(debubble::scenario_lines(text));
  static_cast<void>(debubble::may_replace(text));
  try {
    static_cast<void>(debubble::read_suite(text, "fuzz.suite.json"));
  } catch (const debubble::InputError&) {
  }
  try {
    static_cast<void>(debubble::compare_with_baseline({}, text, "fuzz.baseline.json"));
  } catch (const debubble::InputError&) {
  }
  return 0;
}
