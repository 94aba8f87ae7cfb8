// What the catalogs of schedules, transforms and topologies say. Of a schedule as labelled lines for people: the same
// facts in `list`, `explain` and the manual.
//
//     needs      splits the backward
//     makespan   m(f + i + w) + (p - 1)(f + i - w)
//     certainty  reproduced: the paper's orders and rates
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json/json.hpp"
#include "schedules/common/contract.hpp"
#include "schedules/transforms/contract.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// Label and text, in the order in which people ask. Facts that a schedule lacks (no closed form) are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> schedule_facts(const ScheduleEntry& entry);

// The facts as a table under the name, for a terminal.
[[nodiscard]] std::string schedule_facts_text(const ScheduleEntry& entry, const ViewStyle& style);

// The letters that formulas and constraints use, one line: "p devices, m microbatches, ...".
[[nodiscard]] std::string formula_letters();

// A parameter of a catalog's row, the same for schedules, transforms and planners: "1..p/2 (default 1): what it does"
[[nodiscard]] std::string param_words(const ParamSpec& param);

[[nodiscard]] Json params_json(const std::vector<ParamSpec>& params);

// All transforms, one table under each name.
[[nodiscard]] std::string transforms_text(const ViewStyle& style);
[[nodiscard]] std::string transform_text(const TransformEntry& entry, const ViewStyle& style);

// {"schema_version": 1, "transforms": [...]}
[[nodiscard]] std::string transforms_json();

// All topologies, `ideal` first; under each its parameters, and who says what they are by default.
[[nodiscard]] std::string topologies_text(const ViewStyle& style);
// The one of that name, which must be known (`ideal` or of the catalog).
[[nodiscard]] std::string topology_text(std::string_view name, const ViewStyle& style);

// {"schema_version": 1, "topologies": [...]}
[[nodiscard]] std::string topologies_json();

}  // namespace debubble
