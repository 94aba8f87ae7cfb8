// What fits: when a size does not fit into a GPU's memory, which would.
#pragma once

#include <string>

#include "gpu/workload/transformer_model.hpp"

namespace debubble {

// Bytes that a TransformerModel of this size allocates. Throws InputError for sizes that do not divide.
[[nodiscard]] Bytes needed_memory(const TransformerShape& shape, const WorkloadSize& size);

// "embedding 12 MiB, block 1400 MiB, head 800 MiB": what each layer holds while it works, gradients aside.
[[nodiscard]] std::string memory_by_layer(const TransformerShape& shape, const WorkloadSize& size);

// A remedy for a size that needs more than `free` bytes: "--microbatch-size 2 would fit (1.8 of 2 GiB)", the largest
// microbatch by halving, then the longest sequence by halving; else that nothing fits.
[[nodiscard]] std::string fitting_size(const TransformerShape& shape, const WorkloadSize& size, Bytes free);

}  // namespace debubble
