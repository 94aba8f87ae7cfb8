// The files that a run writes in addition to its report: a trace (Chrome's or Perfetto's), the schedule's table, the
// run itself.
//
// All are opened before the work begins, so that a wrong path is known at once, and all are written before any takes
// its name, so that none fails for want of space and leaves the others behind.
#pragma once

#include <optional>
#include <string>

#include "formats/files/output_file.hpp"
#include "scenario/request/flag.hpp"
#include "sim/core/run_record.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

struct RunFileFlags {
  std::string trace;
  std::string table;
  std::string run;
  bool ops_only = false;
};

// --trace, --trace-ops-only, --export-schedule, --save-run.
[[nodiscard]] FlagRows flag_rows(RunFileFlags& flags);

class RunFiles {
 public:
  // Throws InputError: C066 when two results, `output` (the report's) among them, go to one file, C004, and
  // OutputFile's.
  RunFiles(const RunFileFlags& flags, const std::string& output);

  // Throws InputError T054 when a wanted file has no words for the schedule: called before anything is shown.
  void require_words_for(const Schedule& schedule) const;
  // The same for a simulated run; T054 when a run file cannot hold it.
  void require_words_for(const Simulated& run) const;
  // Whether any of them shows when each op ran.
  [[nodiscard]] bool need_run() const { return trace_.file || run_.file; }
  [[nodiscard]] bool need_record() const { return run_.file.has_value(); }
  void write_schedule(const Schedule& schedule);
  // Of a run with a result: its trace, and the record, which may be null where the run is simulated and no file needs
  // it.
  void write_result(const Simulated& run, const std::string& command_line, const RunRecord* record, Progress& progress);
  // Those that were written get their names.
  void commit();

 private:
  struct File {
    std::string path;
    std::optional<OutputFile> file;
    bool written = false;

    explicit File(const std::string& name) : path(name) {
      if (!name.empty()) file.emplace(name);
    }
  };

  File trace_;
  File table_;
  File run_;
  bool ops_only_;
};

}  // namespace debubble
