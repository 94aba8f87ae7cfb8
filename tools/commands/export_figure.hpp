// `export --to svg|pdf|png`: the figure of a schedule, simulated, or of a recorded run.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "tools/commands/command.hpp"
#include "tools/figures/figure_file.hpp"

namespace debubble {

struct ExportFigureFlags {
  std::vector<std::string> run;  // files of one run, in place of a schedule
  std::string show;
  std::string width = std::string(figure::kUsualWidth);
  bool mono = false;
};

[[nodiscard]] FlagRows flag_rows(ExportFigureFlags& flags);

// Throws InputError C004 where one of these flags is given, and `to` is no figure.
void refuse_figure_flags(ExportFigureFlags& flags, const std::string& to);

struct FigureRequest {
  ExportFigureFlags& flags;
  ScenarioFlags& scenario;
  const std::string& to;
  const std::string& output;
};

// The exit status. Throws what simulate, open_run and figure_bytes throw.
int export_figure(const FigureRequest& request, const Invocation& invocation);

}  // namespace debubble
