// A training log beside its prediction, for people and for programs.
//
//     1f1b on 4 devices, 4 microbatches: predicted and measured
//       published  hardware v100; ...
//       measured   train.log: 19 lines of iterations up to iteration 200; GPU v100, named in the log
//
//                            predicted  measured       gap           p10 .. p90
//     step                     1.021 s   1.381 s  +360 ms  +35.3 %   1.376 s .. 1.390 s
//     ...
//     peak memory             21.3 GiB  25.6 GiB  +4.3 GiB  +20.4 %  most of all ranks
//       of d0                 21.3 GiB  25.6 GiB  +4.3 GiB  +20.4 %  most of 4 ranks
//
//     not in the log, and taken to be
//       --sequence-parallel  off
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/diff/log_diff.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `next` is the command to suggest; may be empty.
[[nodiscard]] std::string log_diff_view(const LogDiff& diff, const ViewStyle& style, const std::string& next);
// docs/log-diff.schema.json.
[[nodiscard]] std::string log_diff_json(const LogDiff& diff, const ToolFacts& tool);
// The columns of `debubble diff --format csv`; what was not measured is empty.
[[nodiscard]] std::string log_diff_csv(const LogDiff& diff);

}  // namespace debubble
