// Files of hardware and tables of measured products: whatever the bytes, their readers throw InputError, or give what
// survives being written and read again. A file begins with a brace; the table is of an H100.
#include <memory>

#include "scenario/job/hardware_facts.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "studies/hardware/products.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::shared_ptr<const KernelTables> no_table(const std::string& file) {
  throw InputError(Diagnostic{"C005", file, "there is none", "write it"});
}

void check_hardware(std::string_view text) {
  const Hardware read = read_hardware(text, "fuzz", no_table);
  require(!hardware_facts(read).empty());
  require(!hardware_quality(read).kernels.empty());
  const std::string once = write_hardware(read, read.name);
  require(write_hardware(read_hardware(once, "fuzz", no_table), read.name) == once);
}

void check_products(std::string_view text) {
  const Hardware& hardware = *find_hardware("h100");
  const auto products = read_products(text, "fuzz", hardware);
  require(!products.empty());
  if (products.size() > 64) return;  // fits take time
  const double share = fit_shares(products, hardware).shares.matrix;
  require(share > 0 && share <= 1);
  const KernelTables tables = tables_of(products, hardware, {"fuzz", "fuzz", nullptr}, "fuzz");
  require(!read_kernels(write_kernels(tables), "fuzz").product(ProductKind::kHalf).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with('{')) {
      check_hardware(text);
    } else {
      check_products(text);
    }
  } catch (const InputError& error) {
    check_refusal(error);
  }
  return 0;
}
