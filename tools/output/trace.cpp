#include "tools/output/trace.hpp"

#include <algorithm>
#include <cstdio>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/exporters/perfetto_trace.hpp"
#include "formats/version.hpp"
#include "scenario/request/flag_row.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/predict.hpp"
#include "studies/simulate/room.hpp"

namespace debubble {

TraceInfo trace_info(const Simulated& run, const std::string& command_line) {
  TraceInfo info{"debubble", std::string(kVersion), command_line};
  info.costs = &run.job.costs;
  info.p2p = run.job.p2p;
  info.hop_latency = run.job.topology.transfer_latency();
  info.hop_bandwidth = run.job.topology.transfer_bandwidth();
  info.samples_per_microbatch = run.job.samples_per_microbatch;
  info.tokens_per_sample = run.job.tokens_per_sample;
  info.not_read_back = not_in_run_files(run);
  return info;
}

void add_origin(TraceInfo& info, const RunRecord& record, std::size_t iteration) {
  info.backend = record.origin.backend;
  info.clock = record.origin.clock;
  info.peak_activation = record.iterations[iteration].peak_activation;
  info.peak_memory = record.iterations[iteration].peak_memory;
}

void write_trace(const Simulated& run, const std::string& command_line, const RunRecord* record,
                 const TraceChoice& choice, OutputFile& file) {
  TraceInfo info = trace_info(run, command_line);
  info.causes = !choice.ops_only;
  if (record != nullptr) add_origin(info, *record, median_iteration(*record));
  const TextSink sink = [&](std::string_view text) { file.write(text); };
  require_room(run.job.schedule.total_ops(), choice.perfetto ? 150 : 410,
               "a run without a trace takes no more than now");
  const auto curves = memory_curves(run.result.timeline, run.job.schedule, run.job.costs);
  if (choice.perfetto) {
    (void)write_perfetto_trace(run.result.timeline, run.job.schedule, run.result.report, curves, info, sink);
  } else {
    write_chrome_trace(run.result.timeline, run.job.schedule, run.result.report, curves, info, sink);
  }
}

Flag ops_only_row(bool& target) {
  return FlagGroup("Output")("--trace-ops-only", "a trace without idle and critical-path tracks", &target);
}

void require_trace(bool ops_only, bool writes_trace, const std::string& remedy) {
  if (!ops_only || writes_trace) return;
  throw InputError(Diagnostic{"C004", "--trace-ops-only", "no trace is written", remedy});
}

void refuse_what_is_not_expressible(const Schedule& schedule, ExchangeFormat format, const std::string& format_name,
                                    const std::string& place) {
  const std::string reason = not_expressible(schedule, format);
  if (reason.empty()) return;
  throw InputError(Diagnostic{"T054", place, format_name + " has no words for " + schedule.name + ": " + reason,
                              "debubble export --to schedule-json keeps all of it, for debubble to read"});
}

void write_table(const Schedule& schedule, OutputFile& file, const std::string& place) {
  refuse_what_is_not_expressible(schedule, ExchangeFormat::kPytorchTable, "pytorch-csv", place);
  file.write(write_compute_table(schedule));
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    if (std::find(schedule.replica_of.begin(), schedule.replica_of.end(), replica) != schedule.replica_of.end())
      continue;
    std::fprintf(stderr,
                 "debubble: note: replica %d has no microbatch, so the table cannot show it; read back, the run holds "
                 "fewer copies of the weights\n",
                 replica);
  }
  if (schedule.pieces == 1) return;
  std::fprintf(stderr,
               "debubble: note: this schedule cuts each microbatch into %d pieces, which the table numbers as %d "
               "microbatches; divide the times by %d to replay it\n",
               schedule.pieces, schedule.total_pieces(), schedule.pieces);
}

}  // namespace debubble
