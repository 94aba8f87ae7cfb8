// Which recordings are of one pipeline stage: those that have a block in common.
//
//     rank 0  embedding, layers.0, layers.1, head     stage {0, 1}
//     rank 1  embedding, layers.0, layers.1, head
//     rank 2  embedding, layers.2, layers.3, head     stage {2, 3}
//     rank 3  embedding, layers.2, layers.3, head
//
// What runs around the blocks has one name on every stage, so it says nothing. Where no layer is numbered all are one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace debubble {

// `layers` of each recording. Stages in the order of their first recordings. Recordings without any layer go with the
// first stage; those that have layers and no block are a stage by themselves.
[[nodiscard]] std::vector<std::vector<std::size_t>> stages_of(const std::vector<std::vector<std::string>>& layers);

}  // namespace debubble
