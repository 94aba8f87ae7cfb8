// What torchtitan must be given together with a schedule table. Its option names a class as well, whose order the table
// replaces, but which still decides how many stages a rank has and which: a table of another placement does not run.
#pragma once

#include <string>

#include "sim/core/schedule.hpp"

namespace debubble {

// "1F1B", "Interleaved1F1B" or "ZBVZeroBubble"; empty: no class places stages as the table does.
[[nodiscard]] std::string torchtitan_table_class(const Schedule& schedule);

// One paragraph for people, without a line break at its end; `file` is the table's name.
[[nodiscard]] std::string torchtitan_advice(const Schedule& schedule, const std::string& file);

}  // namespace debubble
