// Megatron-LM's --pipeline-model-parallel-layout as text: which kinds of layers each stage gets.
//
//     Et*3|(tt|)*20,m|L      E embedding, t decoder layer, m MTP layer, L loss; '|' ends a stage, x*N and (...)*N
//     repeat
//
// Commas and blanks mean nothing. Stages are in model order; Megatron puts stage s on rank s mod p.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// Whether the text means to be a layout and not numbers of layers: it holds a '|' or begins with one of E, t, m, L,
// '('.
[[nodiscard]] bool is_layout(std::string_view text);

// The letters of each stage, repetitions written out: "E", "ttt", "" of a stage without layers. Throws InputError J030
// with the column of what is wrong.
[[nodiscard]] std::vector<std::string> layout_letters(std::string_view text);

// The layout of such letters, with repetitions: {"Ett", "ttt", "ttt", "tL"} is "Ett|(t*3|)*2,tL".
[[nodiscard]] std::string layout_text(std::vector<std::string> stages);

}  // namespace debubble
