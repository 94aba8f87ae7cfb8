#include "formats/exporters/report_csv.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/exporters/finding_text.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::small_report;
using Parsed = nlohmann::ordered_json;

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

// Every type of finding: its code, its sentence, and arguments that the published schema lists.

namespace {

struct FindingCase {
  Finding finding;
  std::string code;
  std::string text;
};

Stall lost_message() {
  return {"a message was lost",
          {{0, 4, {OpKind::kBackward, false, 0, 0}, false, "the gradient 0B1 of device 1"},
           {1, 2, {OpKind::kForward, false, 0, 1}, false, ""},
           {2, 8, {}, true, ""}}};
}

Report report_with_facts() {
  Report report = debubble::test::small_report();
  report.deadlock = Deadlock{{{0, 3, {OpKind::kBackward, false, 0, 1}, {OpKind::kBackward, false, 1, 1}}}};
  MemoryFit fit;
  fit.capacity = Bytes{1} << 30;
  fit.reserved = fit.allocated = Bytes{3} << 30;
  fit.spare = fit.capacity - fit.reserved;
  fit.remedies = {"--recompute full: 1.00 GiB to spare"};
  report.memory_fit = fit;
  return report;
}

std::vector<FindingCase> finding_cases() {
  const Bytes gib = Bytes{1} << 30;
  return {
      {DeadlockFound{}, "X010", "deadlock: device 0 waits at 0B1 (position 3) for 1B1 on device 0"},
      {DeadlockFound{.coupled_transfers = true}, "X010",
       "deadlock: device 0 waits at 0B1 (position 3) for 1B1 on device 0; with coupled transfers every receive is "
       "posted just before the op that uses it, which this order does not survive: try --p2p overlapped or --p2p "
       "blocking"},
      {OutOfMemory{}, "F040",
       "out of memory: d0 has no room for weights, gradients and optimizer state; the run needs 3.00 GiB, 1.00 GiB "
       "available"},
      {OutOfMemory{.remedies_tried = true}, "F040",
       "out of memory: d0 has no room for weights, gradients and optimizer state; the run needs 3.00 GiB, 1.00 GiB "
       "available; what would make it fit: --recompute full: 1.00 GiB to spare"},
      {OverMemoryLimit{1, 3 * gib, 2 * gib}, "X020",
       "needs 3.00 GiB on device 1, 1.00 GiB beyond the limit of 2.00 GiB"},
      {AbovePlannedMemory{"zb-auto", "2", 1, 3 * gib, gib}, "M030",
       "above the memory_limit=2 that zb-auto was planned for: 3.00 GiB on device 1, 1.00 GiB too much"},
      {SlowCollectives{{1}, 0}, "F025",
       "collectives inside layers take longer on device 1: tensor, context or expert ranks lie on different machines "
       "there, or on slower links, than elsewhere. Ranks are placed on GPUs in order; --rank-devices places "
       "them otherwise"},
      {SlowCollectives{{1, 2, 5}, 12.34}, "F025",
       "collectives inside layers take longer on devices 1, 2 and 5 (up to 12 times as long): tensor, context or "
       "expert ranks lie on different machines there, or on slower links, than elsewhere. Ranks are placed on GPUs "
       "in order; --rank-devices places them otherwise"},
      {HostBound{"block 3", 400'000, 1'000'000, 0.1234}, "F026",
       "the GPU waits for the host, 12.3 % of the layers' time: kernels are shorter than their launches (block 3: "
       "400.0 "
       "us of 1.000 ms). CUDA graphs (--cuda-graphs on) or larger microbatches avoid that"},
      {LeftOutOfModel{"sliding windows"}, "F030", "sliding windows"},
      {ScheduleNote{"PyTorch refuses this"}, "S020", "PyTorch refuses this"},
      {PreconditionTime{1'500'000}, "S020",
       "each step takes 1.500 ms more to precondition, not counted in the step time"},
      {StallFound{lost_message()}, "E030",
       "a message was lost: d0 is at 0B0 (position 4 of its row) and waits for the gradient 0B1 of device 1; d1 is at "
       "0F1 (position 2 of its row), at work; d2 has finished its row"},
      {WrongData{"0F1 got 0F2"}, "E031", "0F1 got 0F2"},
      {Refused{{"S007", "--chunks", "v must be even", "give --chunks 2"}}, "S007", "v must be even; give --chunks 2"},
  };
}

TEST_CASE("every finding has its code and its sentence") {
  const Report report = report_with_facts();
  std::set<std::size_t> types;
  for (const FindingCase& one : finding_cases()) {
    types.insert(one.finding.index());
    CHECK(code_of(one.finding) == one.code);
    CHECK(finding_text(one.finding, report) == one.text);
  }
  CHECK(types.size() == std::variant_size_v<Finding>);
}

TEST_CASE("arguments are those of the published schema, and the schema has no others") {
  std::ifstream file(debubble::testing::source_directory() + "/docs/report.schema.json");
  const Parsed schema = Parsed::parse(file);
  const Parsed& known = schema.at("definitions").at("finding_arguments").at("properties");
  const Report report = report_with_facts();
  std::set<std::string> used;
  for (const FindingCase& one : finding_cases()) {
    const Parsed json = Parsed::parse(finding_json(one.finding, report).text(2));
    CHECK(json.at("message") == one.text);
    CHECK(json.at("severity") == to_string(severity_of(one.finding)));
    for (const auto& item : json.at("arguments").items()) {
      const std::string key = item.key();
      CAPTURE(key);
      CHECK(known.contains(key));
      used.insert(key);
    }
  }
  CHECK(used.size() == known.size());
}

TEST_CASE("arguments are facts, not words") {
  const Report report = report_with_facts();
  const Parsed stall = Parsed::parse(finding_json(StallFound{lost_message()}, report).text(2)).at("arguments");
  CHECK(stall.at("cause") == "a message was lost");
  CHECK(stall.at("devices").at(0).at("op") == "0B0");
  CHECK(stall.at("devices").at(0).at("position") == 4);
  CHECK(stall.at("devices").at(1).at("waits_for").is_null());
  CHECK(stall.at("devices").at(2).at("op").is_null());
  const Parsed slow = Parsed::parse(finding_json(SlowCollectives{{1, 2}, 0}, report).text(2)).at("arguments");
  CHECK(slow.at("devices") == Parsed::array({1, 2}));
  CHECK(slow.at("factor").is_null());
}

}  // namespace
