// `debubble import --from gemm-table`: measured products become a table of kernels, or a file of hardware.
#pragma once

#include <string>

namespace debubble {

// `hardware`: what was measured, a preset or a file. To an `output` that ends in .json goes a file of hardware with
// fitted shares, and beside it the table where there are 16-bit products; to any other the table. Throws InputError.
int import_products(const std::string& file, const std::string& hardware, const std::string& output);

}  // namespace debubble
