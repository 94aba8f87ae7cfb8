#include "studies/hardware/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "scenario/request/hardware_fields.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kLongSize = 8192;

class HardwareCalibration {
 public:
  using Told = std::function<void(std::size_t, std::size_t, const std::string&)>;
  HardwareCalibration(Probe& probe, const std::string& name, const Told& progress)
      : probe_(probe), progress_(progress), known_(hardware_of_device(probe.facts().device)) {
    const ProbeFacts& facts = probe.facts();
    where_ = facts.device + ", " + facts.software;
    if (known_ != nullptr) {
      figures_ = figures_of(*known_);
      sources_ = hardware_sources(*known_);
    } else {
      figures_.shares = usual_efficiency(Hardware{});
      for (const char* share : {"shares/attention", "shares/sustained"}) {
        sources_[share] = {Source::kDefault, "the A100's, for want of a measurement"};
      }
      figures_.hardware.link_latency = 3400;
      sources_["link/latency"] = {Source::kDefault, "that of NVLink in NCCL's tuner, for want of a measurement"};
      sources_["processors/tile_rows"] =
          sources_["processors/tile_columns"] = {Source::kDefault, "what products are cut into, assumed"};
    }
    figures_.hardware.own.reset();
    figures_.hardware.kernels.clear();
    figures_.hardware.name = name;
    figures_.hardware.source = "Calibrated by debubble on " + where_;
  }

  CalibratedHardware run(const std::string& table) {
    measure_products();
    measure_memory();
    measure_launches();
    set_peaks();
    fit();
    return finished(table);
  }

 private:
  void say(const char* figure, std::string what) { sources_[figure] = {Source::kMeasured, std::move(what)}; }

  void measure_products() {
    std::size_t total = 0;
    for (const std::string& dtype : probe_.dtypes()) {
      const ProbeSizes sizes = probe_.sizes(dtype);
      total += sizes.rows.size() * sizes.sides.size() * sizes.sides.size();
    }
    std::size_t done = 0;
    for (const std::string& dtype : probe_.dtypes()) {
      const ProbeSizes sizes = probe_.sizes(dtype);
      for (const std::int64_t m : sizes.rows) {
        for (const std::int64_t n : sizes.sides) {
          for (const std::int64_t k : sizes.sides) {
            progress_(++done, total, dtype + " products");
            const std::optional<Nanoseconds> time = probe_.product(dtype, m, n, k);
            if (time) products_.push_back({m, n, k, dtype, static_cast<double>(*time) / 1e3, 0});
          }
        }
      }
    }
    if (products_.empty()) {
      throw UnavailableError(Diagnostic{"U026", probe_.facts().device, "no product's matrices fit into its memory",
                                        "end what else uses it"});
    }
  }

  void measure_memory() {
    progress_(1, 2, "passes over memory");
    const double bandwidth = probe_.pass_bandwidth();
    const auto whole = static_cast<std::int64_t>(std::llround(bandwidth / 1e6)) * 1'000'000;  // as a file has it
    Hardware& hardware = figures_.hardware;
    hardware.memory = probe_.facts().memory;
    say("memory/size", where_);
    if (known_ == nullptr || static_cast<double>(hardware.memory_bandwidth) < bandwidth) {
      hardware.memory_bandwidth = std::max<std::int64_t>(1'000'000, whole);
      say("memory/bandwidth", "sums of two large arrays, " + where_);
    }
    figures_.shares.memory =
        std::min(1.0, std::round(1e4 * bandwidth / static_cast<double>(hardware.memory_bandwidth)) / 1e4);
    say("shares/memory", "sums of two large arrays, " + where_);
    if (const std::optional<double> host = probe_.host_bandwidth()) {
      hardware.host_bandwidth =
          std::max<std::int64_t>(1'000'000, static_cast<std::int64_t>(std::llround(*host / 1e6)) * 1'000'000);
      say("host/bandwidth", "copies, " + where_);
    }
    if (probe_.facts().multiprocessors > 0) {
      hardware.multiprocessors = probe_.facts().multiprocessors;
      say("processors/count", where_);
    }
  }

  void measure_launches() {
    progress_(2, 2, "launches");
    const Nanoseconds launch = probe_.launch();
    if (probe_.facts().multiprocessors == 0) {
      figures_.hardware.host_launch = launch;
      say("host/launch", "the smallest product, " + where_);
    } else {
      // What a framework does for each kernel is its own, and much more than the launch.
      figures_.hardware.host_launch = kEagerLaunch;
      sources_["host/launch"] = {Source::kDefault,
                                 "what 720 runs of Megatron-DeepSpeed on A100 show; a launch alone takes " +
                                     format_duration_exact(launch) + " here"};
    }
    figures_.shares.per_kernel = probe_.kernel_gap();
    say("shares/kernel_gap", probe_.facts().multiprocessors == 0
                                 ? "one call follows the other: none"
                                 : "from one of the smallest kernels to the next, " + where_);
  }

  void set_peak(const std::string& dtype, double& peak, const char* figure) {
    double best = 0;
    int count = 0;
    for (const MeasuredProduct& one : products_) {
      if (one.dtype != dtype) continue;
      best = std::max(best, product_rate(one));
      ++count;
    }
    if (count == 0 || (known_ != nullptr && peak >= best)) return;
    if (known_ != nullptr) {
      notes_.push_back("products in " + dtype + " are faster than " + known_->name + "'s peak: is it another version?");
    }
    peak = std::ceil(best / 1e9) * 1e9;  // as a file has it, and no product above it
    say(figure, "the fastest of " + std::to_string(count) + " products, " + where_);
  }

  void set_peaks() {
    set_peak("fp32", figures_.hardware.fp32_flops, "peak_tflops/fp32");
    set_peak("bf16", figures_.hardware.half_flops, "peak_tflops/bf16");
  }

  [[nodiscard]] bool has_half() const {
    return std::any_of(products_.begin(), products_.end(),
                       [](const MeasuredProduct& one) { return one.dtype == "bf16"; });
  }

  void fit() {
    const SharesFit fitted = fit_shares(products_, with_shares());
    figures_.shares.matrix = fitted.shares.matrix;
    figures_.shares.half_k = fitted.shares.half_k;
    const std::string what = std::to_string(fitted.error.rows) + " products in " + fitted.dtype + ", " + where_ + "; " +
                             error_text(fitted.error);
    say("shares/matrix", what);
    say("shares/half_k", what);
    figures_.shares.sustained = 1;
    const auto run = has_half() ? probe_.long_product("bf16", kLongSize) : std::nullopt;
    if (!run) {
      sources_["shares/sustained"] = {Source::kDefault, "no limit was seen in runs of milliseconds"};
      return;
    }
    const auto [size, time] = *run;
    const MeasuredProduct product{size, size, size, "bf16", static_cast<double>(time) / 1e3, 0};
    figures_.shares.sustained =
        std::min(1.0, std::round(1e4 * product_rate(product) / figures_.hardware.half_flops) / 1e4);
    say("shares/sustained", "products of " + std::to_string(size) + " for seconds, " + where_);
  }

  // The hardware as the model takes it, with the shares so far.
  [[nodiscard]] Hardware with_shares() const {
    Hardware hardware = figures_.hardware;
    auto own = std::make_shared<OwnHardware>();
    own->shares = figures_.shares;
    own->links = figures_.links;
    own->sources = sources_;
    hardware.own = own;
    return hardware;
  }

  CalibratedHardware finished(const std::string& table) {
    CalibratedHardware made;
    if (has_half()) {
      const TableSources sources{probe_.facts().device, "products over shapes, " + where_,
                                 known_ == nullptr ? nullptr : installed_kernels(known_->kernels)};
      KernelTables tables = tables_of(products_, with_shares(), sources, "--calibrate-hardware");
      tables.memory_forward = tables.memory_backward = figures_.shares.memory;
      tables.memory_source = "sums of two large arrays, " + where_;
      for (ProductTable& one : tables.products) one.sustained = figures_.shares.sustained;
      made.kernels = write_kernels(tables);
      say("kernels/of", where_);
    }
    made.hardware = write_hardware(figures_, sources_, figures_.hardware.name, made.kernels.empty() ? "" : table);
    made.products = std::move(products_);
    made.notes = std::move(notes_);
    return made;
  }

  Probe& probe_;
  const Told& progress_;
  const Hardware* known_;
  std::string where_;
  HardwareFigures figures_;
  HardwareSources sources_;
  std::vector<MeasuredProduct> products_;
  std::vector<std::string> notes_;
};

}  // namespace

CalibratedHardware calibrate_hardware(
    Probe& probe, const std::string& name, const std::string& table,
    const std::function<void(std::size_t, std::size_t, const std::string&)>& progress) {
  return HardwareCalibration(probe, name, progress).run(table);
}

}  // namespace debubble
