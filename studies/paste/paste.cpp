#include "studies/paste/paste.hpp"

#include <algorithm>
#include <sstream>

#include "formats/text/shell.hpp"
#include "sim/core/error.hpp"
#include "studies/paste/deepspeed_text.hpp"
#include "studies/paste/fields.hpp"

namespace debubble {
namespace {

std::string argument_text(const PastedFlag& flag) {
  std::string text = flag.name;
  for (const std::string& value : flag.values) text += " " + shell_quoted(value);
  return text;
}

// What an import of the paste is refused for, as the framework refuses it.
std::string refused_for(const InputError& error) {
  constexpr std::string_view kRefuses = "refuses this: ";
  const Diagnostic& first = error.diagnostics().front();
  const std::size_t at = first.message.find(kRefuses);
  const std::string what = at == std::string::npos ? first.message : first.message.substr(at + kRefuses.size());
  return "refuses " + what + (first.help.empty() ? "" : ": " + first.help);
}

}  // namespace

std::vector<PastedFlag> Paste::flags() const {
  std::vector<PastedFlag> all;
  for (const PastePart& part : parts) all.insert(all.end(), part.flags.begin(), part.flags.end());
  return all;
}

std::vector<std::string> Paste::removed() const {
  const std::vector<PastedFlag> written = flags();
  std::vector<std::string> names;
  for (const PastePart& part : parts) {
    std::istringstream owned{std::string(part.owned)};
    for (std::string name; owned >> name;) {
      const auto same = [&](const PastedFlag& flag) { return flag.name == name; };
      if (std::none_of(written.begin(), written.end(), same)) names.push_back(name);
    }
  }
  return names;
}

std::string Paste::text(char separator, bool with_model) const {
  std::vector<PastedFlag> all = with_model ? model : std::vector<PastedFlag>{};
  const std::vector<PastedFlag> of_run = flags();
  all.insert(all.end(), of_run.begin(), of_run.end());
  if (framework == "DeepSpeed") return deepspeed_json(all);
  std::string text;
  for (const PastedFlag& flag : all) text += (text.empty() ? "" : std::string(1, separator)) + argument_text(flag);
  return text;
}

Paste make_paste(const std::string& framework, const ScenarioFlags& flags, const Scenario& scenario, const Job& job) {
  const RunToPaste run(flags, scenario, job);
  const FrameworkTable& table = framework_table(framework);
  Paste paste;
  paste.framework = framework;
  for (const FieldRow& row : table.rows) {
    if (row.write == nullptr || (row.of_model && run.setup == nullptr)) continue;
    PastePart part{row.field, row.owned, {}, {}, {}};
    row.write(run, part);
    if (paste.refusal.empty()) paste.refusal = part.refusal;
    paste.notes.insert(paste.notes.end(), part.notes.begin(), part.notes.end());
    paste.parts.push_back(std::move(part));
  }
  if (!paste.refusal.empty()) return paste;
  table.environment(run, paste);
  if (run.setup == nullptr) return paste;
  PastePart model;
  table.model(run, model);
  paste.model = std::move(model.flags);
  paste.notes.insert(paste.notes.begin(), model.notes.begin(), model.notes.end());
  try {
    table.import_again(run, paste);
  } catch (const InputError& error) {
    paste.refusal = refused_for(error);
  }
  return paste;
}

}  // namespace debubble
