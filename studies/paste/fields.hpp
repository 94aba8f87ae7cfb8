// Tables of a paste: each framework has one row for every flag of a scenario, which a test counts. What a framework's
// rules for runs refuse (formats/frameworks/run_rules.hpp: orders of ranks, recomputation by stages, ZeRO with
// pipelines) has been refused before a paste is made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/transformer/setup.hpp"
#include "schedules/common/contract.hpp"
#include "studies/paste/paste.hpp"

namespace debubble {

// The run, as its writers look at it.
class RunToPaste {
 public:
  RunToPaste(const ScenarioFlags& flags, const Scenario& scenario, const Job& job);
  RunToPaste(const RunToPaste&) = delete;
  RunToPaste& operator=(const RunToPaste&) = delete;

  const Scenario& scenario;
  const Job& job;
  const TrainingSetup* setup;  // null: stages are measured, and the model is the script's
  const Parallelism& sizes;
  std::string schedule;        // as asked for
  const ScheduleEntry* entry;  // null: a table
  int pipeline = 1;
  int chunks = 1;  // stages per device
  int microbatches = 1;
  std::int64_t microbatch = 1;  // samples
  std::int64_t batch = 1;       // of a step

  // A flag's values as typed, joined by commas; empty where it is not given.
  [[nodiscard]] std::string typed(std::string_view flag) const;
  [[nodiscard]] std::int64_t ranks() const { return sizes.ranks() / sizes.pipeline * pipeline; }
  // Layers per stage with embedding and head whole, as no framework cuts them.
  [[nodiscard]] std::vector<int> whole_ends() const;

 private:
  ScenarioFlags flags_;
  FlagRows rows_;
};

using FieldWriter = void (*)(const RunToPaste&, PastePart&);

struct FieldRow {
  std::string_view field;  // "--tp"
  FieldWriter write;  // null: it is no setting of the framework: hardware, how time is modelled, or said by another
  std::string_view owned = {};
  bool of_model = false;  // written where there is one
};

struct FrameworkTable {
  std::vector<FieldRow> rows;
  void (*model)(const RunToPaste&, PastePart&);  // its sizes
  void (*environment)(const RunToPaste&, Paste&);
  // Imports the paste as if a person did; throws InputError for what the framework's rules refuse.
  void (*import_again)(const RunToPaste&, const Paste&);
};

[[nodiscard]] const FrameworkTable& megatron_table();
[[nodiscard]] const FrameworkTable& torchtitan_table();
[[nodiscard]] const FrameworkTable& deepspeed_table();
// The table of one of kFrameworks.
[[nodiscard]] const FrameworkTable& framework_table(const std::string& framework);

// Rows of what no framework is told, which all tables have.
void add_common_rows(std::vector<FieldRow>& rows);

[[nodiscard]] std::string has_no_argument(const RunToPaste& run, std::string_view field);
// Writers of what is given, and no argument says.
void note_given(const RunToPaste& run, PastePart& part);
void refuse_given(const RunToPaste& run, PastePart& part);

// Where the run's transfers are not those of the framework's runtime.
void note_transfers(const RunToPaste& run, const std::string& framework, PastePart& part);

// Of a schedule that the framework does not run, or that is a table.
void refuse_schedule(const RunToPaste& run, const std::string& framework, PastePart& part);

}  // namespace debubble
