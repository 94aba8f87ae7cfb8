#include "tools/commands/command.hpp"

#include <string>
#include <vector>

#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "profiler/measurement/gpu_checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

constexpr std::string_view kDoctorFormats = "text|json";

std::string check_verdict(const GpuCheck& check) {
  if (!check.passed) return "informs";
  return *check.passed ? "passed" : "FAILED";
}

std::string figures_text(const GpuCheck& check) {
  std::string text;
  for (const GpuFigure& figure : check.figures) {
    text += (text.empty() ? "" : ", ") + figure.name + " " + std::to_string(figure.value) +
            (figure.unit == "count" ? "" : " " + figure.unit);
  }
  return text;
}

Json gpu_json(const std::vector<GpuCheck>& checks) {
  Json list = Json::array();
  for (const GpuCheck& check : checks) {
    Json figures = json_list(check.figures, [](const GpuFigure& figure) -> Json {
      return {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
    });
    Json passed = nullptr;
    if (check.passed) passed = *check.passed;
    list.push_back({{"name", check.name},
                    {"question", check.question},
                    {"passed", passed},
                    {"remark", check.remark},
                    {"figures", figures}});
  }
  return list;
}

std::string gpu_text(const std::vector<GpuCheck>& checks, const ViewStyle& style) {
  std::string text;
  for (const GpuCheck& check : checks) {
    Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
    table.add_row({check_verdict(check), check.question});
    if (!check.figures.empty()) table.add_row({"", figures_text(check)});
    if (!check.remark.empty()) table.add_row({"", check.remark});
    text += "\n" + check.name + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
  }
  return text;
}

class Doctor : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("--gpu", "also test what measuring needs on the GPU", &gpu_),
        row("--device", "D", "index of that GPU", &device_, Default{"0"}, Preset{"0"}),
    };
    add_rows(rows, flag_rows(output_, kDoctorFormats));
    return rows;
  }

  int run(const Invocation&) override {
    Output output(output_, kDoctorFormats);
    std::vector<MachineCheck> checks = check_machine();
    for (MachineCheck& check : check_python()) checks.push_back(std::move(check));
    const std::vector<GpuCheck> on_gpu = gpu_ ? run_on_gpu() : std::vector<GpuCheck>();
    output.write(output.format() == Format::kJson ? as_json(checks, on_gpu) : as_text(checks, on_gpu, output.style()));
    output.commit();
    for (const GpuCheck& check : on_gpu) {
      if (!check.passed.value_or(true)) return kExitFinding;
    }
    return kExitOk;
  }

 private:
  [[nodiscard]] std::vector<GpuCheck> run_on_gpu() const {
    GpuCheckOptions options;
    options.device = device_;
    StderrProgress progress;
    return run_gpu_checks(options,
                          [&progress](int, int, const std::string& what) { progress.phase("GPU check: " + what); });
  }

  static std::string as_text(const std::vector<MachineCheck>& checks, const std::vector<GpuCheck>& on_gpu,
                             const ViewStyle& style) {
    Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
    for (const MachineCheck& check : checks) table.add_row({check.what, check.status, check.detail});
    return "debubble " + std::string(kVersion) + "\n\n" + table.text(static_cast<std::size_t>(style.width)) +
           gpu_text(on_gpu, style);
  }

  [[nodiscard]] std::string as_json(const std::vector<MachineCheck>& checks,
                                    const std::vector<GpuCheck>& on_gpu) const {
    Json list = json_list(checks, [](const MachineCheck& check) -> Json {
      return {{"what", check.what}, {"status", check.status}, {"detail", check.detail}};
    });
    Json all{{"schema_version", 1}, {"version", std::string(kVersion)}, {"checks", list}};
    if (gpu_) all["gpu_checks"] = gpu_json(on_gpu);
    return all.text(2) + "\n";
  }

  bool gpu_ = false;
  int device_ = 0;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace debubble
