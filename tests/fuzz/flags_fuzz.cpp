// What people type after flags: quantities, lists of times and --fail-if. Whatever the bytes, they are refused with
// InputError or taken within the limits; what was taken can be printed and read again.
#include "scenario/request/uniform_times.hpp"
#include "sim/core/quantities.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/output/fail_if.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

// Runs `action`; an InputError must say something.
template <typename Action>
void attempt(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());  // the command prints the flag's bytes in printable letters
  }
}

void check_quantities(std::string_view text) {
  attempt([&] {
    const Nanoseconds value = parse_duration(text, "--flag", BareNumber::kToyUnits);
    require(value >= 0 && value <= kLongestDuration);
    require(parse_duration(format_duration_exact(value), "--flag") == value);
  });
  attempt([&] {
    const Bytes value = parse_size(text, "--flag", BareNumber::kToyUnits);
    require(value >= 0 && value <= kLargestSize);
    require(!format_size(value).empty());
  });
  attempt([&] { require(parse_bandwidth(text, "--flag") > 0); });
  attempt([&] {
    const UniformTimes times = parse_times(text, "--flag");
    require(times.forward >= 0 && times.input_grad >= 0 && times.weight_grad >= 0);
  });
}

Report some_report() {
  Report report;
  report.makespan = 9'000'000;
  report.bubble_ratio = 0.25;
  report.samples_per_second = 100.0;
  report.tokens_per_second = 1000.0;
  report.devices.resize(2);
  return report;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_quantities(text);
  attempt([&] {
    const FailIf::Verdict verdict = FailIf::parse(text).evaluate(some_report());
    require(verdict.fired == !verdict.because.empty());
  });
  return 0;
}
