// The rules of all frameworks: import, --runs-in, plan and export refuse by them (formats/frameworks/run_rules.hpp),
// and `debubble explain framework NAME` prints them. They are texts beside this file, which are built in:
//
//     # a comment
//     fact GROUP microbatches that pass a virtual stage before the next one's turn
//       of --microbatch-group-size-per-virtual-pipeline-stage
//
//     refuse CHUNKS > 1 and MICROBATCHES % GROUP != 0
//       says what the framework has in place of it
//       in core/file.py: function
//       try --arguments that --break --it
//
// name, title, release and legal are the framework's; `refuse-sizes` is FrameworkRule::of_sizes, `refuse-run` is
// of_run, and cut, default and not-modelled are the other kinds. `include run` puts the rows and facts of run.rules
// there. A line that begins with four blanks goes on with the one before. Of two rules that are broken the first is
// told first.
#pragma once

#include <string_view>
#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

// By name.
[[nodiscard]] const std::vector<FrameworkRules>& framework_rules();
// Nothing of that name: null.
[[nodiscard]] const FrameworkRules* rules_of_framework(std::string_view name);
// "Megatron-LM".
[[nodiscard]] const FrameworkRules* rules_titled(std::string_view title);

// Of such a text. Throws std::logic_error with the first line that is none of its form.
[[nodiscard]] FrameworkRules read_framework_rules(std::string_view text);

}  // namespace debubble
