// `debubble profile --calibrate-hardware`: a file of hardware from the machine at hand.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cost_models/transformer/hardware.hpp"
#include "formats/files/output_file.hpp"
#include "formats/text/shell.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/hardware/calibrate.hpp"
#include "tools/output/hardware_names.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/profile/options.hpp"
#include "tools/views/hardware_view.hpp"

namespace debubble {

namespace fs = std::filesystem;

int calibrate_this_machine(const ProfileFlags& flags) {
  const std::string path = flags.file.empty() ? "hardware.json" : flags.file;
  if (path == "-" || !path.ends_with(".json")) {
    throw InputError(Diagnostic{"C050", "-o", path + " is no place for a file of hardware",
                                "name a file that ends in .json: its table of kernels lies beside it"});
  }
  Output shown(flags.shown, "text|json");
  OutputFile file(path);
  const std::string table = table_beside(path);
  const bool cpu = on_cpu(flags);
  std::optional<OutputFile> beside;
  if (!cpu) beside.emplace((fs::path(path).parent_path() / table).string());
  const std::unique_ptr<Probe> probe = cpu ? cpu_probe() : gpu_probe(gpu_index(flags.device));
  CalibratedHardware made;
  {
    StderrProgress progress;
    made = calibrate_hardware(*probe, own_name(path, "my-hardware"), table,
                              [&](std::size_t done, std::size_t total, const std::string& what) {
                                progress.phase(fmt::format("{} ({} of {})", what, done, total));
                              });
  }
  file.write(made.hardware);
  const bool has_table = beside && !made.kernels.empty();
  if (has_table) beside->write(made.kernels);
  // As anybody reads it: what was written is a file that --hardware takes.
  const Hardware hardware = read_hardware(made.hardware, path, [&](const std::string& name) {
    return std::make_shared<const KernelTables>(read_kernels(made.kernels, name));
  });
  if (has_table) beside->commit();
  file.commit();
  for (const std::string& note : made.notes) stderr_line("note: " + note);
  const bool json = shown.format() == Format::kJson;
  std::string text = json ? made.hardware : hardware_text(hardware, shown.style());
  if (!json) {
    text += fmt::format("\n{} products measured; {} is what --hardware takes\n", made.products.size(), path);
    text += fmt::format("next   debubble simulate --model gpt2-small -p 4 -m 8 --hardware {}{}\n", shell_file(path),
                        hardware.half_flops > 0 ? "" : " --dtype fp32");
  }
  shown.write(text);
  shown.commit();
  stderr_line("debubble: wrote " + path + (made.kernels.empty() ? "" : " and " + table));
  return kExitOk;
}

}  // namespace debubble
