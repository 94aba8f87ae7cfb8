// Runs the benchmarks and ends with the promises, as ratios within this run:
//
//     simulate / floor, p=16 m=256            1.62   at most 3
//     ...
//
//   debubble_bench                     all, then the ratios
//   debubble_bench --check             the same, exit 1 when a promise is broken
//
// Every other flag is Google Benchmark's. Ratios use the fastest of the repetitions, since noise only ever adds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedules/catalog.hpp"

namespace {

// Google Benchmark 1.8 renamed what says that a run failed.
template <typename Run>
bool failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return run.skipped != decltype(run.skipped){};
  }
}

// Prints as usual and keeps the fastest time per op of every benchmark.
class Collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || failed(run)) continue;
      const auto ops = run.counters.find("ops");
      const double count = ops == run.counters.end() ? 1.0 : static_cast<double>(ops->second);
      const bool manual = run.run_name.time_type == "manual_time";
      const double time =
          (manual ? run.real_accumulated_time : run.cpu_accumulated_time) / static_cast<double>(run.iterations) / count;
      const auto [found, fresh] = fastest_.emplace(run.run_name.function_name + "/" + run.run_name.args, time);
      if (!fresh) found->second = std::min(found->second, time);
    }
    ConsoleReporter::ReportRuns(runs);
  }

  // Seconds per op; 0 when the benchmark was filtered out.
  [[nodiscard]] double seconds(const std::string& name) const {
    const auto found = fastest_.find(name);
    return found == fastest_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> fastest_;
};

bool promise(const char* what, double value, double limit, const char* unit) {
  if (value <= 0) return true;  // not measured in this run
  const bool kept = value <= limit;
  std::printf("%-48s %8.2f%s   at most %g%s   %s\n", what, value, unit, limit, unit, kept ? "kept" : "BROKEN");
  return kept;
}

double ratio(double numerator, double denominator) { return denominator > 0 ? numerator / denominator : 0; }

// Making schedules: the search in so much time and no more than ops x p, a fixed order (16 devices,
// 256 microbatches) no dearer than lowering and simulating it.
bool print_schedule_promises(const Collector& results) {
  bool kept = true;
  for (const std::string search : {"zb_auto_1p", "zb_auto_2p", "zb_auto_even"}) {
    constexpr double kOps = 3.0 * 64 * 1024;
    const double large = results.seconds(search + "/64/1024");  // per op
    kept &= promise((search + ", p=64 m=1024, CPU time").c_str(), large * kOps * 1e3, 50, " ms");
    for (const auto& [size, devices] : {std::pair{"/8/128", 8}, std::pair{"/16/256", 16}}) {
      kept &= promise((search + ", growth over ops x p from p/m=" + (size + 1)).c_str(),
                      ratio(large / 64, results.seconds(search + size) / devices), 1, "");
    }
  }
  for (const debubble::ScheduleEntry& entry : debubble::schedule_catalog()) {
    kept &= promise(("generate / lower+simulate: " + entry.name).c_str(),
                    ratio(results.seconds("generate:" + entry.name + "/16/256"),
                          results.seconds("simulate:" + entry.name + "/16/256")),
                    1, "");
  }
  return kept;
}

// The modelled cluster: contention costs so much more than none, a step of 16,384 GPUs (16 x 128 x 8) is quick and no
// dearer per replica than a quarter of them, and so are a thousand seeds.
bool print_cluster_promises(const Collector& results) {
  bool kept = promise("contended / contention-free, p=64 m=1024",
                      ratio(results.seconds("contended/"), results.seconds("contended_free/")), 15, "");
  const double whole = results.seconds("cluster_step/128");
  kept &= promise("step of 16,384 GPUs, CPU time", whole, 2, " s");
  kept &= promise("the same per replica, over 4,096 GPUs", ratio(whole / 4, results.seconds("cluster_step/32")), 2, "");
  return promise("1,000 jitter seeds, p=16 m=64, CPU time", results.seconds("jitter_seeds/"), 1, " s") && kept;
}

// Sweeps: 100,000 rows per minute on two cores, set-up included; what a row costs beyond its simulation; and what two
// threads spend together on what one does alone, waiting included: 85 % efficiency is a ratio of 1.18.
bool print_sweep_promises(const Collector& results) {
  constexpr double kRowsPerMinute = 100'000;
  constexpr double kCoreSeconds = 2 * 60;
  bool kept = promise("sweep command, p=8 m=32, CPU time per row", results.seconds("command_sweep/") * 1e3,
                      kCoreSeconds / kRowsPerMinute * 1e3, " ms");
  kept &= promise("set-up of a modelled job, CPU time", results.seconds("modelled_setup/") * 1e3, 1, " ms");
  kept &= promise("row of a modelled job / its bare simulation",
                  ratio(results.seconds("sweep_row_modelled/"), results.seconds("sweep_bare_modelled/")), 3, "");
  return promise("sweep, CPU and waiting of 2 threads over 1",
                 ratio(results.seconds("sweep_threads/2"), results.seconds("sweep_threads/1")), 1 / 0.85, "") &&
         kept;
}

// Plans: the space of Llama-3-70B on 64 GPUs, proven, in 5 s on 2 cores; what a candidate costs beyond its simulation;
// and twice the time that two threads take over that of one, the fastest of three: needs two idle cores.
bool print_plan_promises(const Collector& results) {
  constexpr double kCoreSeconds = 2 * 5;
  bool kept =
      promise("plan of llama3-70b on 64 GPUs, CPU time", results.seconds("command_plan/64/1024"), kCoreSeconds, " s");
  kept &= promise("candidate of a plan / its bare simulation",
                  ratio(results.seconds("plan_candidate/"), results.seconds("plan_bare/")), 3, "");
  return promise("plan command, CPU and waiting of 2 threads over 1",
                 ratio(2 * results.seconds("plan_threads/2"), results.seconds("plan_threads/1")), 1 / 0.85, "") &&
         kept;
}

bool print_promises(const Collector& results) {
  std::printf("\n");
  bool kept = true;
  for (const char* size : {"16/256", "64/1024"}) {
    const std::string at(size);
    const double simulate = results.seconds("simulate_1f1b/" + at);
    kept &=
        promise(("simulate / floor, p/m = " + at).c_str(), ratio(simulate, results.seconds("floor_1f1b/" + at)), 3, "");
    kept &=
        promise(("lower / simulate, p/m = " + at).c_str(), ratio(results.seconds("lower_1f1b/" + at), simulate), 5, "");
  }
  std::vector<double> decades;
  for (const char* size : {"8/63", "8/625", "16/3125", "64/7813", "64/78125"}) {
    const double time = results.seconds(std::string("simulate_1f1b/") + size);
    if (time > 0) decades.push_back(time);
  }
  if (decades.size() == 5) {
    const auto [low, high] = std::minmax_element(decades.begin(), decades.end());
    kept &= promise("dearest / cheapest op, 10^3 to 10^7 ops", *high / *low, 2, "");
  }
  for (const std::string what : {"report_1f1b", "lower_blocking_1f1b"}) {
    kept &= promise((what + ", op at p=10^5 / op at p=10^3").c_str(),
                    ratio(results.seconds(what + "/100000/8"), results.seconds(what + "/1000/8")), 4, "");
  }
  // What this process itself holds counts until the child is another program: some 90 MB.
  for (const std::string microbatches : {"1000000", "10000000"}) {
    kept &= promise(("memory of a run, p=2 m=" + microbatches + ", per op").c_str(),
                    results.seconds("command_memory/" + microbatches), 160, " B");
  }
  constexpr double kMillisecondsPerSecond = 1e3;
  kept &= promise("whole command, p=8 m=64, CPU time", results.seconds("command_simulate/") * kMillisecondsPerSecond,
                  50, " ms");
  constexpr double kMillisecondsPerMegabyte = 1e9;  // of seconds per byte
  kept &= promise("Kineto import of 100 MB, CPU time per MB",
                  results.seconds("import_kineto/100") * kMillisecondsPerMegabyte, 10, " ms");
  constexpr double kNanosecondsPerSecond = 1e9;  // 200 ns: 5 million events per second
  kept &= promise("Perfetto trace of 480,000 ops, CPU time per event",
                  results.seconds("write_perfetto/30000") * kNanosecondsPerSecond, 200, " ns");
  for (const char* what : {"attribute_file", "attribute_file_of_ops"}) {
    kept &= promise((std::string(what) + ", 10^7 kernels, CPU time").c_str(),
                    results.seconds(std::string(what) + "/10000000"), 2, " s");
  }
  kept &= print_schedule_promises(results);
  kept &= print_cluster_promises(results);
  kept &= print_sweep_promises(results);
  kept &= print_plan_promises(results);
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  const auto is_check = [](const char* argument) { return std::strcmp(argument, "--check") == 0; };
  const bool check = std::any_of(argv + 1, argv + argc, is_check);
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, is_check) - argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  return print_promises(collector) || !check ? 0 : 1;
}
