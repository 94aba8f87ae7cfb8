#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>

#include "live/cpu/matrix.hpp"
#include "sim/core/median.hpp"
#include "studies/hardware/probe.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kLeastTimed = 10'000'000;  // one timing repeats what is shorter
constexpr int kTimings = 5;
constexpr std::size_t kPassFloats = std::size_t{16} << 20;  // 64 MiB: beyond any cache of one core

Nanoseconds now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The median time of one call.
template <typename Work>
Nanoseconds time_of_call(const Work& work) {
  const Nanoseconds begin = now_ns();
  work();  // and warms up
  const Nanoseconds once = std::max<Nanoseconds>(1, now_ns() - begin);
  const Nanoseconds repeats = std::max<Nanoseconds>(1, kLeastTimed / once);
  std::vector<Nanoseconds> times;
  for (int timing = 0; timing < kTimings; ++timing) {
    const Nanoseconds from = now_ns();
    for (Nanoseconds k = 0; k < repeats; ++k) work();
    times.push_back((now_ns() - from + repeats / 2) / repeats);
  }
  return std::max<Nanoseconds>(1, lower_median(times));
}

// "Intel(R) Xeon(R) ...", as Linux has it.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a CPU";
}

class CpuProbe final : public Probe {
 public:
  CpuProbe() : matmul_(live::MatmulLibrary::best()) {
    facts_.device = "one core of " + processor_name();
    facts_.software = matmul_.name();
    facts_.memory = static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGE_SIZE));
  }

  [[nodiscard]] const ProbeFacts& facts() const override { return facts_; }
  [[nodiscard]] std::vector<std::string> dtypes() const override { return {"fp32"}; }
  [[nodiscard]] ProbeSizes sizes(const std::string& /*dtype*/) const override {
    return {{64, 256, 1024}, {64, 256, 1024}};
  }

  [[nodiscard]] std::optional<Nanoseconds> product(const std::string& /*dtype*/, std::int64_t m, std::int64_t n,
                                                   std::int64_t k) override {
    using Form = live::MatmulLibrary::Form;
    std::vector<float> a(static_cast<std::size_t>(m * k), 1.0F);
    std::vector<float> b(static_cast<std::size_t>(k * n), 0.5F);
    std::vector<float> c(static_cast<std::size_t>(m * n));
    return time_of_call([&] {
      matmul_.multiply(Form::kPlain, Form::kPlain, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                       a.data(), b.data(), false, c.data());
    });
  }

  [[nodiscard]] std::optional<std::pair<std::int64_t, Nanoseconds>> long_product(const std::string& /*dtype*/,
                                                                                 std::int64_t /*size*/) override {
    return std::nullopt;
  }

  [[nodiscard]] double pass_bandwidth() override {
    std::vector<float> a(kPassFloats, 1.0F);
    std::vector<float> b(kPassFloats, 2.0F);
    std::vector<float> c(kPassFloats);
    const Nanoseconds time = time_of_call([&] {
      for (std::size_t k = 0; k < kPassFloats; ++k) c[k] = a[k] + b[k];
    });
    return 3.0 * kPassFloats * sizeof(float) / static_cast<double>(time) * 1e9;
  }

  [[nodiscard]] std::optional<double> host_bandwidth() override {
    const std::vector<float> from(kPassFloats, 1.0F);
    std::vector<float> to(kPassFloats);
    const Nanoseconds time = time_of_call([&] { std::memcpy(to.data(), from.data(), kPassFloats * sizeof(float)); });
    return static_cast<double>(kPassFloats * sizeof(float)) / static_cast<double>(time) * 1e9;
  }

  // The smallest product: a call.
  [[nodiscard]] Nanoseconds launch() override { return *product("fp32", 1, 1, 1); }
  // One call follows the other: nothing is between them.
  [[nodiscard]] Nanoseconds kernel_gap() override { return 0; }

 private:
  const live::MatmulLibrary& matmul_;
  ProbeFacts facts_;
};

}  // namespace

std::unique_ptr<Probe> cpu_probe() { return std::make_unique<CpuProbe>(); }

}  // namespace debubble
