// The node list of the zero-bubble authors' scheduler (github.com/sail-sg/zero-bubble-pipeline-parallelism) as JSON:
// for each device ("stage" in their words) a list of nodes, in the order in which it runs them.
//
//     [[{"type": "F", "stage": 0, "microbatch": 0, "chunk": 0, "seq_split_idx": 0, "layer_group_idx": 0,
//        "start_time": 0, "completion_time": 1000, "recv_peer_stage": null, "send_peer_stage": 1, ...}, ...], ...]
//
// Types F, B (our I: the input gradient), W, BW (our B) and R. "layer_group_idx" is the stage in model order, "chunk"
// counts the device's own. Times are whole microseconds. The authors publish no file format: the keys are the fields of
// their ScheduledNode, null where it has none.
#pragma once

#include <functional>
#include <string_view>

#include "formats/json/json_reader.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// The compute nodes of a schedule that the format can say (not_expressible), with the times of a run of it.
void write_node_list(const Schedule& schedule, const Timeline& timeline,
                     const std::function<void(std::string_view)>& sink);

// Reads the compute nodes, strictly: unknown keys, other nodes (transfers, post-validation, offloading; J021) and
// fields that say what a schedule of compute cannot (J021) are problems. Times are checked and not kept: a note says
// so.
[[nodiscard]] Schedule read_node_list(const JsonValue& root, ProblemList& problems);

}  // namespace debubble
