// The two rows of which every pipeline without a flush is made, and what their requests share.
//
//     one engine, stage 1 of 4     F0 F1 F2 B0 F3 B1 F4 B2 ...          1F1B, S-1-s forwards ahead
//     two engines, delay 2         F0 F1 (F2;B0) (F3;B1) (F4;B2) ...    a forward and a backward side by side
#pragma once

#include <optional>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

// 1F1B of the microbatches first, first + step, ... below `microbatches`, `warmup` forwards ahead of the backwards.
[[nodiscard]] std::vector<Op> one_engine_row(int stage, int warmup, int microbatches, int first = 0, int step = 1);

// Forward i + delay next to backward i. With delay 0 they are of one microbatch and follow each other.
[[nodiscard]] std::vector<Op> two_engine_row(int stage, int delay, int microbatches);

// 1F1B on one stage per device: stage s runs S-1-s forwards ahead.
[[nodiscard]] Schedule one_engine_stream(const ScheduleRequest& request, const char* name);

// Pairs on one stage per device: stage s delays by 2(S-1-s) + turnaround steps.
[[nodiscard]] Schedule two_engine_stream(const ScheduleRequest& request, const char* name, int turnaround);

// `--param update_every`: 1 or more, p where it is not given. Leaves a note where the last microbatches fill no update.
[[nodiscard]] int update_every_param(const ScheduleRequest& request);
void note_last_update(Schedule& schedule);

// What 1F1B holds: min(p - device, m).
[[nodiscard]] std::optional<double> one_engine_peak(const FormCase& form);

// min(2(p - 1 - device) + turnaround + 1, m).
[[nodiscard]] double two_engine_peak(const FormCase& form, int turnaround);

// Pairs of equal passes move in step: as many steps as the last stage's backward of the last microbatch is away from
// the first stage's, both counted. Nothing where forward and backward differ, or the last stage cannot keep the step.
[[nodiscard]] std::optional<double> two_engine_makespan(const FormCase& form, int turnaround);

}  // namespace debubble
