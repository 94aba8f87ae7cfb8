#include "schedules/asynchronous/stream_rows.hpp"

#include <algorithm>
#include <string>

#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

std::vector<Op> one_engine_row(int stage, int warmup, int microbatches, int first, int step) {
  std::vector<Op> row;
  const int count = first < microbatches ? (microbatches - first + step - 1) / step : 0;
  row.reserve(2 * static_cast<std::size_t>(count));
  const auto add = [&](OpKind kind, int k) { row.push_back({kind, false, stage, first + k * step}); };
  for (int k = 0; k < std::min(warmup, count); ++k) add(OpKind::kForward, k);
  for (int k = 0; k < count; ++k) {
    if (warmup + k < count) add(OpKind::kForward, warmup + k);
    add(OpKind::kBackward, k);
  }
  return row;
}

std::vector<Op> two_engine_row(int stage, int delay, int microbatches) {
  std::vector<Op> row;
  row.reserve(2 * static_cast<std::size_t>(microbatches));
  for (int i = 0; i < std::min(delay, microbatches); ++i) row.push_back({OpKind::kForward, false, stage, i});
  for (int i = 0; i < microbatches; ++i) {
    if (delay + i < microbatches) row.push_back({OpKind::kForward, delay > 0, stage, delay + i});
    row.push_back({OpKind::kBackward, false, stage, i});
  }
  return row;
}

Schedule one_engine_stream(const ScheduleRequest& request, const char* name) {
  require_one_chunk(request, name);
  Schedule schedule = start_schedule(request, name, 1);
  for (int s = 0; s < schedule.stages; ++s) {
    at(schedule.rows, s) = one_engine_row(s, schedule.stages - 1 - s, schedule.microbatches);
  }
  schedule.asynchrony.emplace();
  return schedule;
}

Schedule two_engine_stream(const ScheduleRequest& request, const char* name, int turnaround) {
  require_one_chunk(request, name);
  Schedule schedule = start_schedule(request, name, 1);
  for (int s = 0; s < schedule.stages; ++s) {
    const int delay = 2 * (schedule.stages - 1 - s) + turnaround;
    at(schedule.rows, s) = two_engine_row(s, delay, schedule.microbatches);
  }
  schedule.pairs_run_side_by_side = true;
  schedule.asynchrony.emplace();
  return schedule;
}

int update_every_param(const ScheduleRequest& request) {
  const int every = int_param(request, "update_every", request.devices);
  if (every < 1) {
    fail("S006", "--param update_every", "a stage updates after 1 backward pass or more; got " + std::to_string(every),
         "nearest legal value: --param update_every=1");
  }
  return every;
}

void note_last_update(Schedule& schedule) {
  const int left = schedule.microbatches % schedule.asynchrony->update_every;
  if (left == 0) return;
  schedule.notes.push_back("the gradients of the last " + std::to_string(left) +
                           " of m=" + std::to_string(schedule.microbatches) + " microbatches fill no update of " +
                           std::to_string(schedule.asynchrony->update_every));
}

std::optional<double> one_engine_peak(const FormCase& form) {
  return std::min(form.devices - form.device, form.microbatches);
}

double two_engine_peak(const FormCase& form, int turnaround) {
  return std::min(2 * (form.devices - 1 - form.device) + turnaround + 1, form.microbatches);
}

std::optional<double> two_engine_makespan(const FormCase& form, int turnaround) {
  if (form.forward != form.backward || turnaround == 0) return std::nullopt;
  return (form.microbatches + 2 * form.devices - 1) * form.forward;
}

}  // namespace debubble
