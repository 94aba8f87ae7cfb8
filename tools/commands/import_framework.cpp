#include "tools/commands/import_framework.hpp"

#include <algorithm>

#include "formats/files/file_kind.hpp"
#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/text/shell.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/model_choice.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/output/stderr_line.hpp"

namespace debubble {

namespace {

void require_at_least_one(const std::optional<int>& value, const char* flag, std::int64_t most = kMostOfConfig) {
  if (value && *value > most) {
    throw InputError(Diagnostic{"C006", flag,
                                "must be at most " + std::to_string(most) + "; got " + std::to_string(*value),
                                "no job has so many; give what yours has"});
  }
  if (!value || *value >= 1) return;
  throw InputError(Diagnostic{"C006", flag, "must be at least 1; got " + std::to_string(*value),
                              "leave it out, or give a number from 1 on"});
}

// A file that its first bytes show to be for another reader.
void require_kind(const std::string& file, const std::string& tool) {
  const FileKind* kind = kind_of_file(file);
  if (kind == nullptr) return;
  std::string_view reader;
  for (const std::string_view taker : kind->takers) {
    if (taker == "import --from " + tool) return;
    if (reader.empty() && taker.starts_with("import --from ")) reader = taker;
  }
  if (reader.empty()) return;
  throw InputError(
      Diagnostic{"P010", file, "this is " + std::string(kind->what), "it is for debubble " + std::string(reader)});
}

}  // namespace

FlagRows framework_rows(FrameworkRequest& request) {
  const FlagGroup row("Framework");
  return {
      row("--world-size", "N", "ranks of the job, where the file does not say", &request.world_size),
      row("--stages", "P", "deepspeed: pipeline ranks", &request.pipeline),
      row("--tp", "N", "deepspeed: tensor-parallel ranks", &request.tensor),
      row("--all-notes", "name each unknown key, not a count by section", &request.all_notes),
  };
}

bool is_framework(const std::string& tool) {
  const std::vector<std::string>& tools = framework_tools();
  return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

int import_framework(const std::string& tool, const std::string& file, FrameworkRequest request,
                     const std::string& output) {
  require_at_least_one(request.world_size, "--world-size");
  require_at_least_one(request.pipeline, "--stages");
  require_at_least_one(request.tensor, "--tp");
  require_at_least_one(request.sequence, "--sequence", std::int64_t{1} << 24);
  if (!request.model.empty()) {
    const TransformerShape shape = choose_model(request.model, "").shape;
    request.layers = shape.layers;
    request.predicted = shape.predicted_tokens;
    request.experts = shape.experts > 0;
  }
  if (tool != "nemo" || !file.ends_with(".json")) require_kind(file, tool);
  const FrameworkScenario scenario = read_framework(tool, read_file(file, "FILE"), file, request);
  OutputFile out(output);
  out.write(write_framework_scenario(scenario, tool, file));
  out.commit();
  for (const std::string& finding : scenario.findings) stderr_line("note: " + finding);
  for (const std::string& note : unknown_notes(scenario.unknown, request.all_notes)) stderr_line("note: " + note);
  if (output != "-") stderr_line("next: debubble simulate --config " + shell_file(output) + " --hardware h100");
  return kExitOk;
}

}  // namespace debubble
