// Fields of one node line of a PipeDream graph: names, attributes, decimal numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/importers/pipedream_graph.hpp"
#include "formats/problems/problem_list.hpp"

namespace debubble {

// The parts of `text` between separators, of which there is one less.
[[nodiscard]] std::vector<std::string_view> split_fields(std::string_view text, std::string_view separator);

// The number in "node12".
[[nodiscard]] std::optional<std::int64_t> node_number(std::string_view text);

// Reads "node4 -- DESCRIPTION -- attributes[ -- stage_id=N]"; nothing when a problem was recorded. `place` is its line.
[[nodiscard]] std::optional<PipedreamNode> parse_node(std::string_view line, const std::string& place,
                                                      ProblemList& problems);

}  // namespace debubble
