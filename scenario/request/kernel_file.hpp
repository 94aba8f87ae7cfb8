// Files of measured kernels, `debubble.kernels/1` (traces/kernels/README.md): comma-separated lines, the first word of
// each says what it is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cost_models/transformer/kernel_tables.hpp"

namespace debubble {

// Throws InputError with everything that is wrong, by line.
[[nodiscard]] KernelTables read_kernels(std::string_view text, const std::string& name);

// As read_kernels reads it. Factors of experts' products and of eager kernels have no place in it.
[[nodiscard]] std::string write_kernels(const KernelTables& tables);

// Those that debubble brings with it (share/debubble/kernels/NAME.csv), read once per process; any thread may call.
// `name` is Hardware::kernels; null where that is empty. Throws UnavailableError (U040) where the installation lacks
// it.
[[nodiscard]] std::shared_ptr<const KernelTables> installed_kernels(const std::string& name);

}  // namespace debubble
