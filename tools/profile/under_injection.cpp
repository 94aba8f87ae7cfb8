// `debubble profile -- PROGRAM`: any program that uses CUDA.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "formats/files/output_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/measure/places.hpp"
#include "studies/measure/program.hpp"
#include "studies/measure/recordings.hpp"
#include "studies/measure/step_times.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/profile/options.hpp"
#include "tools/views/explanation.hpp"
#include "tools/views/profile_table.hpp"

namespace debubble {

namespace {

std::string variable_or_empty(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The variables by which drivers and NVTX load a tool hold one library each.
void refuse_other_tool(const std::string& ours) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const std::string value = variable_or_empty(name);
    if (value.empty() || value == ours) continue;
    throw UnavailableError(Diagnostic{"U003", name, "another tool is to be loaded into the program: " + value,
                                      std::string("unset ") + name + ", and run the two tools one after the other"});
  }
}

// What debubble_hooks needs. With one rank alone, it marks nothing on the others, and they are not recorded.
Environment hooks_environment(const std::filesystem::path& records, const std::optional<int>& rank) {
  const std::string python = package_folder("debubble_hooks").string();
  const std::string before = variable_or_empty("PYTHONPATH");
  return {{"DEBUBBLE_INJECT", injection_library().string()},
          {"DEBUBBLE_RECORD_DIR", records.string()},
          {"DEBUBBLE_RANK", rank ? std::to_string(*rank) : ""},
          {"PYTHONPATH", before.empty() ? python : python + ":" + before}};
}

// Without `cupti` the driver loads nothing into it, so CUPTI is not started (injection.hpp).
Environment injected_environment(const std::filesystem::path& records, const std::optional<int>& rank, bool cupti) {
  const std::string library = injection_library().string();
  refuse_other_tool(library);
  Environment variables = hooks_environment(records, rank);
  variables.emplace_back("CUDA_INJECTION64_PATH", cupti ? library : "");
  variables.emplace_back("NVTX_INJECTION64_PATH", library);
  return variables;
}

// PyTorch's own profiler times the layers (profiler/host), where no GPU is to be seen: a script that takes one when
// there is one takes the CPU.
Environment cpu_environment(const std::filesystem::path& records, const std::optional<int>& rank) {
  Environment variables = hooks_environment(records, rank);
  variables.emplace_back("DEBUBBLE_DEVICE", "cpu");
  variables.emplace_back("CUDA_VISIBLE_DEVICES", "-1");  // an entry without a value would be taken away
  variables.emplace_back("KINETO_LOG_LEVEL", "99");
  return variables;
}

// The same for its ranges alone.
Environment ranges_environment(const std::filesystem::path& records, const std::optional<int>& rank, bool cpu) {
  Environment variables = cpu ? cpu_environment(records, rank) : injected_environment(records, rank, false);
  variables.emplace_back("DEBUBBLE_RECORD_STEPS", cpu ? "none" : "all");
  return variables;
}

// Runs the program once more without CUPTI and compares its steps with those of the recording.
ProgramEnd add_run_overhead(const std::filesystem::path& recording, const AttributionRules& rules,
                            const std::vector<std::string>& program, const ProfileFlags& flags, Attribution& found) {
  const std::string without = on_cpu(flags) ? "without the profiler" : "without CUPTI";
  std::fprintf(stderr, "debubble: runs the program once more %s, to see what recording cost\n", without.c_str());
  const RecordFolder folder("");
  const ProgramEnd end = run_program(program, ranges_environment(folder.path(), flags.attribution.rank, on_cpu(flags)));
  RunOverhead overhead{std::nullopt, "the run " + without + " " + to_string(end)};
  if (end.well() && !end.interrupted) {
    overhead = run_overhead(settled_step_times(find_recordings(recording).records, rules),
                            settled_step_times(find_recordings(folder.path()).records, rules));
  }
  if (found.profile.measurement) found.profile.measurement->overhead_run_ppm = overhead.ppm;
  if (!overhead.problem.empty()) {
    found.notes.push_back("what recording cost against a run " + without + " is not known: " + overhead.problem);
  }
  return end;
}

// The command as it was typed.
std::string program_text(const std::vector<std::string>& program) {
  std::string line;
  for (const std::string& word : program) line += (line.empty() ? "" : " ") + shell_quoted(word);
  constexpr std::size_t kMost = 200;
  return line.size() <= kMost ? line : line.substr(0, kMost) + "...";
}

void require_clean_stdout(const ProfileFlags& flags) {
  if (flags.shown.format == "text" && flags.file != "-") return;
  throw InputError(Diagnostic{"C050", flags.file == "-" ? "-o" : "--format",
                              "standard output is the program's own, no profile goes there",
                              "name a file: -o profile.json"});
}

void show(const Attribution& found, const std::string& path, const ProfileFlags& flags) {
  const ViewStyle style = stderr_style();
  std::string text = "\n" + profile_view(found.profile, found.notes, style);
  if (flags.attribution.explain) text += "\n" + explanation_view(found.explanations, style, on_cpu(flags));
  text += fmt::format("\nwrote  {}\n", printable(path));
  if (found.any_backward) text += fmt::format("next   debubble compare --profile {} -p 4 -m 8\n", shell_file(path));
  std::fputs(printable_lines(text, style.color).c_str(), stderr);
}

int exit_status(const ProgramEnd& end) {
  if (end.interrupted) return kExitInterrupted;
  return end.well() ? kExitOk : kExitFinding;
}

}  // namespace

int profile_program(const ProfileFlags& flags, const std::vector<std::string>& program) {
  require_clean_stdout(flags);
  const Output check(flags.shown, "text");
  const AttributionRules rules = attribution_rules(flags.attribution);
  const Attributor regexes(rules);  // a wrong one is found before the program has run for an hour
  const std::string path = flags.file.empty() ? "profile.json" : flags.file;
  OutputFile file(path);
  const RecordFolder folder(flags.keep_records);
  const std::string name = program_text(program);

  const std::optional<int>& rank = flags.attribution.rank;
  const ProgramEnd end = run_program(
      program, on_cpu(flags) ? cpu_environment(folder.path(), rank) : injected_environment(folder.path(), rank, true));
  if (!end.well()) stderr_line("debubble: " + name + " " + to_string(end));

  Attribution found = attribute(find_recordings(folder.path()), rules, program, rank, on_cpu(flags));
  ProgramEnd last = end;
  if (flags.overhead_run && end.well() && !end.interrupted) {
    last = add_run_overhead(folder.path(), rules, program, flags, found);
  }
  file.write(write_profile(found.profile));
  file.commit();
  show(found, path, flags);
  return exit_status(last);
}

}  // namespace debubble
