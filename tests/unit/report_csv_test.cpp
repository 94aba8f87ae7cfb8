#include "formats/exporters/report_csv.hpp"

#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::small_report;

namespace {

Report deadlocked_csv_report() {
  Report report;
  report.schedule = {"a.csv", 2, 2, 1, 1, 1, {}};
  report.deadlock = Deadlock{{{0, 3, {OpKind::kBackward, false, 0, 1}, {OpKind::kBackward, false, 1, 1}},
                              {1, 0, {OpKind::kForward, false, 1, 0}, {OpKind::kForward, false, 0, 0}}}};
  report.findings = {DeadlockFound{}};
  return report;
}

// A table without its columns from "run_schedule" on.
std::string without_totals(const std::string& csv) {
  std::istringstream lines(csv);
  std::string kept;
  std::size_t fields = 0;
  for (std::string line; std::getline(lines, line);) {
    if (fields == 0) {
      line.erase(line.find(",run_schedule"));
      fields = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
    } else {
      std::size_t end = 0;
      for (std::size_t k = 0; k <= fields; ++k) end = line.find(',', end) + 1;
      line.erase(end - 1);
    }
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

TEST_CASE("devices as CSV") {
  CHECK(
      without_totals(devices_csv(small_report())) ==
      "device,busy_ns,idle_ns,bubble_ratio,idle_fill_ns,idle_drain_ns,idle_dependency_ns,idle_transfer_latency_ns,"
      "idle_transfer_bandwidth_ns,idle_transfer_contention_ns,idle_collective_ns,idle_straggler_ns,"
      "idle_memory_limit_ns,idle_launch_gap_ns,peak_memory_bytes,peak_memory_at_ns,peak_memory_op,peak_weights_bytes,"
      "peak_gradients_bytes,"
      "peak_optimizer_bytes,peak_extra_weights_bytes,peak_activations_bytes,peak_held_for_weight_grad_bytes,"
      "peak_received_bytes,peak_comm_buffers_bytes,peak_workspace_bytes,peak_activation_bytes,"
      "peak_activation_shares\n"
      "0,6000000,3000000,0.3333333333333333,2000000,1000000,0,0,0,0,0,0,0,0,2097152,1000000,0F1,0,0,0,0,2097152,0,0,0,"
      "0,2097152,2\n"
      "1,6000000,3000000,0.3333333333333333,1000000,2000000,0,0,0,0,0,0,0,0,1048576,1000000,1F0,0,0,0,0,1048576,0,0,0,"
      "0,1048576,1\n");
}

TEST_CASE("each device's row has the totals of the run") {
  Report report = small_report();
  report.mfu = 0.5;
  report.memory_fit = MemoryFit{};
  report.memory_fit->spare = -1;
  const std::string csv = devices_csv(report);
  const auto cell = [&](std::size_t row, const std::string& column) {
    std::istringstream lines(csv);
    std::string header;
    std::getline(lines, header);
    std::string line;
    for (std::size_t k = 0; k <= row; ++k) std::getline(lines, line);
    std::istringstream names(header);
    std::istringstream cells(line);
    std::string name;
    std::string text;
    while (std::getline(names, name, ',') && name != column) std::getline(cells, text, ',');
    CHECK(name == column);
    std::getline(cells, text, ',');
    return text;
  };
  for (const std::size_t row : {0U, 1U}) {
    CHECK(cell(row, "run_makespan_ns") == "9000000");
    CHECK(cell(row, "run_mfu") == "0.5");
    CHECK(cell(row, "run_memory_spare_bytes") == "-1");
    CHECK(cell(row, "run_fits") == "false");
  }
  report.memory_fit.reset();
  CHECK(devices_csv(report).ends_with(",ok,\n"));
}

TEST_CASE("runs as CSV, quoted where a field needs it") {
  Report first = small_report();
  first.schedule.params = {{"group", "4"}, {"rounding", "megatron"}};
  const std::vector<Report> reports = {first, deadlocked_csv_report()};
  const std::string without_result(43, ',');
  CHECK(runs_csv(reports) ==
        "schedule,params,devices,stages,microbatches,chunks,replicas,makespan_ns,span_ns,steady_period_ns,ideal_ns,"
        "bubble_ratio,bubble_over_ideal,span_bubble_ratio,throughput_samples_per_s,throughput_tokens_per_s,"
        "peak_memory_bytes,peak_memory_device,weight_copies,p2p_bytes,p2p_messages,mfu,memory_capacity_bytes,"
        "memory_reserved_bytes,memory_spare_bytes,inside_collectives_ns,pipeline_end_ns,step_gradient_reduce_ns,"
        "step_gradient_reduce_exposed_ns,step_embedding_reduce_ns,step_embedding_reduce_exposed_ns,"
        "step_parameter_gather_ns,step_parameter_gather_exposed_ns,step_global_norm_ns,step_global_norm_exposed_ns,"
        "step_optimizer_ns,step_optimizer_exposed_ns,step_other_ns,step_other_exposed_ns,idle_fill_ns,idle_drain_ns,"
        "idle_dependency_ns,idle_transfer_latency_ns,idle_transfer_bandwidth_ns,idle_transfer_contention_ns,"
        "idle_collective_ns,idle_straggler_ns,idle_memory_limit_ns,idle_launch_gap_ns,status,fits\n"
        "1f1b,group=4 rounding=megatron,2,2,2,1,1,9000000,9000000,6000000,6000000,0.3333333333333333,0.5,"
        "0.3333333333333333,,,2097152,0,1,0,4,,,,,0,,,,,,,,,,,,,,3000000,3000000,0,0,0,0,0,0,0,0,ok,\n"
        "a.csv,,2,2,1,1,1" +
            without_result + "deadlock,\n");
  Report refused;
  refused.schedule.name = "zb-h1, \"mine\"";
  refused.findings = {Refused{{"S001", "", "m is 0,\nbut", ""}}};
  const std::string csv = runs_csv(std::vector<Report>{refused});
  CHECK(csv.substr(csv.find('\n') + 1) ==
        "\"zb-h1, \"\"mine\"\"\",,0,0,0,1,1" + without_result + "\"m is 0,\\x0abut\",\n");
}
