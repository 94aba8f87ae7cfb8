// One model of the profiles of its pipeline stages.
//
//     rank 0  embedding, layers.0, layers.1, layers.4, layers.5, head      two chunks of a rank interleave
//     rank 1  embedding, layers.2, layers.3, layers.6, layers.7, head
//     joined  embedding, layers.0 .. layers.5, "head of rank 0", "embedding of rank 1", layers.2 ... sorted by number
//
// Blocks (block_name.hpp) stand in the order of their numbers, lists of blocks in that of the parts. What ran before or
// after a block stays beside it. Of layers of one name, the first before all blocks and the last after all keep it; the
// others are called after their part, or are left out where nothing ran in them. GPU time, losses and steps add up, so
// layers and rest are all GPU time here too.
#pragma once

#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"

namespace debubble {

struct StagePart {
  std::string label;  // "rank 3", "ranks 2, 3", "stage0.json"
  Attribution found;
};

// `parts`: at least two, in the order that counts where numbers do not tell. Notes say which part has what, which
// numbers nobody has, and what each part's own notes are. Throws InputError (L020) when a block is in two parts, or
// model sizes, number formats or sources differ.
[[nodiscard]] Attribution joined_stages(std::vector<StagePart> parts);

}  // namespace debubble
