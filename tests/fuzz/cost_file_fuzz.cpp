// Files of measured kernels, of kernel efficiency and of factors: whatever the bytes, their readers throw InputError,
// or give numbers that a cost model can use. The first byte says which file it is.
#include "scenario/request/efficiency_file.hpp"
#include "scenario/request/factors_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

void check_kernels(std::string_view text) {
  const std::string once = write_kernels(read_kernels(text, "fuzz"));
  require(write_kernels(read_kernels(once, "fuzz")) == once);
}

void check_efficiency(std::string_view text) {
  const EfficiencyTable table = read_efficiency(text, "fuzz");
  require(!table.hardware.empty());
  for (const MeasuredShape& shape : table.shapes) require(std::isfinite(shape.efficiency) && shape.efficiency > 0);
}

void check_factors(std::string_view text) {
  const std::vector<double> factors = read_factors_file(text, "fuzz");
  require(!factors.empty());
  for (const double factor : factors) require(std::isfinite(factor) && factor >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 3) {
      case 0:
        check_kernels(text);
        break;
      case 1:
        check_efficiency(text);
        break;
      default:
        check_factors(text);
        break;
    }
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
  return 0;
}
