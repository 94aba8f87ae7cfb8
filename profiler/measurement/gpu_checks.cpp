#include "profiler/measurement/gpu_checks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>

#include "gpu/cuda_check_kernels.hpp"
#include "gpu/cuda_device.hpp"
#include "gpu/workload/self_check.hpp"
#include "profiler/cupti/recorder.hpp"
#include "profiler/measurement/kernel_spans.hpp"
#include "profiler/measurement/temporary_file.hpp"
#include "sim/core/median.hpp"

namespace debubble {
namespace {

using Libraries = std::shared_ptr<const CudaLibraries>;
using CheckProgress = std::function<void(int, int, const std::string&)>;

constexpr Nanoseconds kHeadStart = 5'000'000;  // the host issues what follows meanwhile

Nanoseconds host_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// More of `with` over `without`, in parts per million.
std::int64_t excess_ppm(std::int64_t with, std::int64_t without) {
  return without == 0 ? 0 : (with - without) * 1'000'000 / without;
}

std::int64_t ppm(double share) {
  return std::isfinite(share) && share < 1e9 ? std::llround(share * 1e6) : 1'000'000'000'000'000;
}

bool within(std::int64_t a, std::int64_t b, std::int64_t percent) { return std::abs(a - b) * 100 <= b * percent; }

// Runs `work` on a new device under a recorder, and returns the kernels it saw.
std::vector<KernelSpan> recorded(const Libraries& libraries, const GpuCheckOptions& options,
                                 const std::function<void(CudaDevice&)>& work) {
  const TemporaryFile file("");
  Recorder recorder({.file = file.path(), .cupti_library = options.cupti_library});
  CudaDevice device(libraries, options.device, DataType::kFp32);
  work(device);
  device.synchronise();
  recorder.stop();
  return kernel_spans(file.path());
}

// Host time per launch of many small kernels; the middle one of several runs.
Nanoseconds time_per_launch(CudaDevice& device, int kernels, const std::function<void()>& before,
                            const std::function<void()>& after) {
  constexpr int kRuns = 5;
  std::vector<Nanoseconds> times;
  for (int run = 0; run <= kRuns; ++run) {  // the first one warms up
    const Nanoseconds begin = host_now();
    for (int k = 0; k < kernels; ++k) {
      before();
      device.tick();
      after();
    }
    device.synchronise();
    if (run > 0) times.push_back((host_now() - begin) / kernels);
  }
  return upper_median(times);
}

// What recording costs, by how much is recorded. The first figure is taken before CUPTI is loaded.
GpuCheck overhead_check(const Libraries& libraries, const GpuCheckOptions& options) {
  const auto nothing = [] {};
  const auto plain = [&](CudaDevice& device) { return time_per_launch(device, options.kernels, nothing, nothing); };
  std::array<Nanoseconds, 4> times{};
  {
    CudaDevice device(libraries, options.device, DataType::kFp32);
    times[0] = plain(device);
  }
  for (const bool launches : {false, true}) {
    const TemporaryFile file("");
    Recorder recorder({.file = file.path(), .cupti_library = options.cupti_library, .launches = launches});
    CudaDevice device(libraries, options.device, DataType::kFp32);
    times[launches ? 2 : 1] = plain(device);
    if (launches) {
      times[3] = time_per_launch(
          device, options.kernels, [&recorder] { recorder.push("debubble.layer:tick"); },
          [&recorder] { recorder.pop(); });
    }
    recorder.stop();
  }
  GpuCheck check;
  check.figures = {{"kernels", options.kernels, "count"},
                   {"launch_without_profiler", times[0], "ns"},
                   {"launch_with_kernel_records", times[1], "ns"},
                   {"launch_with_api_records_too", times[2], "ns"},
                   {"launch_with_ranges_too", times[3], "ns"},
                   {"overhead_of_kernel_records", excess_ppm(times[1], times[0]), "ppm"},
                   {"overhead_with_api_records_too", excess_ppm(times[2], times[0]), "ppm"},
                   {"overhead_with_ranges_too", excess_ppm(times[3], times[0]), "ppm"}};
  return check;
}

// Dependent kernels in one queue, then kernels that take turns on two streams, each waiting for the other's last.
void issue_dependent_kernels(CudaDevice& device) {
  constexpr int kKernels = 200;
  device.tick();  // loaded now: lazy loading may wait for the GPU, and so for the hold
  device.hold(1);
  device.synchronise();
  device.hold(kHeadStart);
  for (int k = 0; k < kKernels; ++k) device.tick();
  device.synchronise();
  device.hold(kHeadStart);
  for (int k = 0; k < kKernels; ++k) {
    device.use_stream(k % 2);
    if (k > 0) device.wait_for_mark(k - 1);
    device.tick();
    device.mark(k);
  }
  device.synchronise();
  device.use_stream(0);
}

GpuCheck timestamp_check(const Libraries& libraries, const GpuCheckOptions& options) {
  const std::vector<KernelSpan> spans = recorded(libraries, options, issue_dependent_kernels);
  const auto is_hold = [](const KernelSpan& span) {  // a head start, not the one that only loads the kernel
    return span.name == kHoldKernel && span.end - span.begin > kHeadStart / 2;
  };
  const auto first = std::find_if(spans.begin(), spans.end(), is_hold);
  const auto second = first == spans.end() ? first : std::find_if(first + 1, spans.end(), is_hold);
  const std::vector<Nanoseconds> on_one = gaps({first, second}, kTickKernel);
  const std::vector<Nanoseconds> across = gaps({second, spans.end()}, kTickKernel);
  GpuCheck check;
  check.passed = !on_one.empty() && !across.empty() && on_one.front() >= 0 && across.front() >= 0;
  if (!*check.passed) check.remark = "kernels that wait for each other overlap, or were not recorded";
  check.figures = {{"granularity", granularity(spans), "ns"},
                   {"least_gap_on_one_stream", on_one.empty() ? 0 : on_one.front(), "ns"},
                   {"median_gap_on_one_stream", upper_median(on_one), "ns"},
                   {"least_gap_across_streams", across.empty() ? 0 : across.front(), "ns"},
                   {"median_gap_across_streams", upper_median(across), "ns"}};
  return check;
}

GpuCheck context_check(const Libraries& libraries, const GpuCheckOptions& options) {
  const std::vector<KernelSpan> spans = recorded(libraries, options, issue_dependent_kernels);
  std::set<std::uint32_t> contexts;
  std::set<std::uint32_t> streams;
  for (const KernelSpan& span : spans) {
    contexts.insert(span.context);
    streams.insert(span.stream);
  }
  GpuCheck check;
  check.passed = contexts.size() == 1 && streams.size() == 2;
  check.figures = {{"contexts", static_cast<std::int64_t>(contexts.size()), "count"},
                   {"streams", static_cast<std::int64_t>(streams.size()), "count"},
                   {"kernels", static_cast<std::int64_t>(spans.size()), "count"}};
  return check;
}

// Kernels of a known length, timed both ways. What events see beyond the kernel is the gap before and after it.
GpuCheck duration_check(const Libraries& libraries, const GpuCheckOptions& options) {
  constexpr int kKernels = 21;
  constexpr Nanoseconds kLength = 500'000;
  std::vector<Nanoseconds> by_events;
  const std::vector<KernelSpan> spans = recorded(libraries, options, [&by_events](CudaDevice& device) {
    device.hold(kHeadStart);
    for (int k = 0; k < kKernels; ++k) {
      device.mark(2 * k);
      device.hold(kLength);
      device.mark(2 * k + 1);
    }
    for (int k = 0; k < kKernels; ++k) by_events.push_back(device.elapsed(2 * k, 2 * k + 1));
  });
  std::vector<Nanoseconds> by_records;
  for (const KernelSpan& span : spans) {
    if (span.name == kHoldKernel && span.end - span.begin < kHeadStart / 2) by_records.push_back(span.end - span.begin);
  }
  GpuCheck check;
  check.passed = by_records.size() == kKernels && within(upper_median(by_events), upper_median(by_records), 3);
  check.figures = {{"asked", kLength, "ns"},
                   {"by_records", upper_median(by_records), "ns"},
                   {"by_events", upper_median(by_events), "ns"},
                   {"excess_of_events", excess_ppm(upper_median(by_events), upper_median(by_records)), "ppm"}};
  return check;
}

GpuCheck memory_check(const Libraries& libraries, const GpuCheckOptions& options) {
  constexpr Bytes kLarge = 64 * kMebibyte;
  constexpr Bytes kSmall = 4096;
  constexpr int kOfEach = 16;
  CudaDevice device(libraries, options.device, DataType::kFp32);
  const Bytes before = device.free_memory();
  std::vector<DeviceAddress> buffers;
  for (int k = 0; k < kOfEach; ++k) {
    for (const Bytes bytes : {kLarge, kSmall}) buffers.push_back(device.allocate(bytes));
  }
  const Bytes taken = before - device.free_memory();
  for (const DeviceAddress buffer : buffers) device.release(buffer);
  constexpr Bytes kAsked = kOfEach * (kLarge + kSmall);
  GpuCheck check;
  check.passed = within(taken, kAsked, 1);
  check.figures = {{"asked", kAsked, "bytes"},
                   {"taken", taken, "bytes"},
                   {"left_after_release", before - device.free_memory(), "bytes"}};
  return check;
}

// The layers' own check, for every data type; a device's kernels are of one type.
GpuCheck numbers_check(const Libraries& libraries, const GpuCheckOptions& options) {
  GpuCheck check;
  check.passed = true;
  for (const DataType type : options.types) {
    CudaDevice device(libraries, options.device, type);
    const std::vector<NumberCheck> numbers = check_workload(device, type);
    double worst = 0;
    for (const NumberCheck& number : numbers) {
      worst = std::max(worst, number.error / number.tolerance);
      if (!number.ok)
        check.remark += (check.remark.empty() ? "wrong: " : ", ") + number.what + " in " + to_string(type);
    }
    check.passed = *check.passed && all_ok(numbers);
    const std::string name = to_string(type);
    check.figures.push_back({name + "_checks", static_cast<std::int64_t>(numbers.size()), "count"});
    check.figures.push_back({name + "_worst_of_tolerance", ppm(worst), "ppm"});
  }
  return check;
}

}  // namespace

std::vector<GpuCheck> run_gpu_checks(const GpuCheckOptions& options, const CheckProgress& progress) {
  struct Step {
    const char* name;
    const char* question;
    GpuCheck (*run)(const Libraries&, const GpuCheckOptions&);
  };
  // Overhead first: its first figure needs a process without CUPTI.
  constexpr std::array<Step, 6> kSteps{
      {{"overhead", "What does recording cost, per launch of a kernel that does nothing?", overhead_check},
       {"timestamps", "How fine are kernel times, and how close do kernels follow each other?", timestamp_check},
       {"contexts", "Do kernels of one context and two streams carry one context id and two stream ids?",
        context_check},
       {"durations", "Do CUPTI and events give one kernel the same duration, within 3 %?", duration_check},
       {"memory", "Does the GPU lose as much free memory as the workload asks for, within 1 %?", memory_check},
       {"numbers", "Are the workload's numbers right, against a reference in float64?", numbers_check}}};
  const Libraries libraries = load_cuda_libraries();
  { const CudaDevice can_be_used(libraries, options.device, DataType::kFp32); }  // else nothing makes sense: throws
  std::vector<GpuCheck> checks;
  for (const Step& step : kSteps) {
    progress(static_cast<int>(checks.size()), static_cast<int>(kSteps.size()), step.name);
    try {
      checks.push_back(step.run(libraries, options));
    } catch (const std::exception& error) {
      checks.push_back({"", "", false, error.what(), {}});
    }
    checks.back().name = step.name;
    checks.back().question = step.question;
  }
  progress(static_cast<int>(kSteps.size()), static_cast<int>(kSteps.size()), "done");
  return checks;
}

}  // namespace debubble
