// Files of hardware and tables of measured products: whatever the bytes, their readers throw InputError, or give what
// survives being written and read again. A file begins with a brace; the table is of an H100.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "scenario/job/hardware_facts.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "studies/hardware/products.hpp"

namespace {

using namespace debubble;

void demand(bool holds) {
  if (!holds) std::abort();
}

std::shared_ptr<const KernelTables> no_table(const std::string& file) {
  throw InputError(Diagnostic{"C005", file, "there is none", "write it"});
}

void check_hardware(std::string_view text) {
  const Hardware read = read_hardware(text, "fuzz", no_table);
  demand(!hardware_facts(read).empty());
  demand(!hardware_quality(read).kernels.empty());
  const std::string once = write_hardware(read, read.name);
  demand(write_hardware(read_hardware(once, "fuzz", no_table), read.name) == once);
}

void check_products(std::string_view text) {
  const Hardware& hardware = *find_hardware("h100");
  const auto products = read_products(text, "fuzz", hardware);
  demand(!products.empty());
  if (products.size() > 64) return;  // fits take time
  const double share = fit_shares(products, hardware).shares.matrix;
  demand(share > 0 && share <= 1);
  const KernelTables tables = tables_of(products, hardware, {"fuzz", "fuzz", nullptr}, "fuzz");
  demand(!read_kernels(write_kernels(tables), "fuzz").product(ProductKind::kHalf).empty());
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
    demand(!error.diagnostics().empty());
    for (const Diagnostic& one : error.diagnostics()) {
      demand(!one.code.empty() && !one.message.empty() && !one.help.empty());
    }
  }
  return 0;
}
