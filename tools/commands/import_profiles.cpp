#include "tools/commands/import_profiles.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/shell.hpp"
#include "profiler/ranks/join.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/output/stderr_line.hpp"

namespace debubble {

int import_profiles(const std::vector<std::string>& files, const OutputFlags& output) {
  if (files.size() < 2) {
    throw InputError(Diagnostic{"C061", "FILE", "one profile is a model by itself",
                                "give the profiles of all pipeline stages, which --rank made"});
  }
  OutputFile written(output.output);
  std::vector<StagePart> parts;
  for (const std::string& file : files) {
    Attribution found;
    found.profile = read_profile(read_file(file, "FILE"), file);
    if (!found.profile.origin.notes.empty()) found.notes.push_back(found.profile.origin.notes);
    parts.push_back({std::filesystem::path(file).filename().string(), std::move(found)});
  }
  const Attribution joined = joined_stages(std::move(parts));
  written.write(write_profile(joined.profile));
  written.commit();
  for (const std::string& note : joined.notes) stderr_line("note: " + note);
  if (output.output != "-") {
    stderr_line("next: debubble compare --profile " + shell_file(output.output) + " -p 4 -m 8");
  }
  return kExitOk;
}

}  // namespace debubble
