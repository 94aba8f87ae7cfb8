// Names that say how large a run is: ranks, batches, samples' length, layers. A file of which one stays unread is not
// read.
#pragma once

#include <string_view>

namespace debubble {

// The last name of a key, or an argument's without its dashes: "tensor_model_parallel_size", "micro-batch-size",
// "seq_len", "num_layers". Of training: those of evaluation and inference are none.
[[nodiscard]] bool is_size_name(std::string_view name);

// Whether a part of that path names another purpose: "validation.local_batch_size".
[[nodiscard]] bool is_of_evaluation(std::string_view path);

}  // namespace debubble
