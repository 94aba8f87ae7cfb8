// What a recording's layers may be called when nobody said: the numbered ranges that repeat and hold most forward time.
//
//     nn.Module: BertModel_0            98 %   one only
//       nn.Module: BertEmbeddings_0      3 %   a layer by itself
//       nn.Module: BertLayer_0 .. _23   92 %   <- these are the layers: the outermost class with several instances
//         nn.Module: Linear_0 .. _143   70 %   inside of one
//       nn.Module: BertPooler_0          1 %   a layer by itself
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// A range that may be a layer: of a module, or one a person named.
struct GuessRange {
  std::string_view name;
  std::string_view prefix;            // "nn.Module: ", or empty: not part of the layer's name
  std::uint32_t parent = 0xFFFFFFFF;  // the next such range around it, among those before it; none: 0xFFFFFFFF
  Nanoseconds gpu_time = 0;           // of what was launched in it, ranges inside of it included
};

struct LayerGuess {
  std::string layers;  // a rule for AttributionRules
  std::string note;    // what was chosen, and why, in a sentence
};

// Nothing when no numbered class repeats.
[[nodiscard]] std::optional<LayerGuess> guess_layers(const std::vector<GuessRange>& ranges);

}  // namespace debubble
