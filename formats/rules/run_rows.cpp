#include "formats/rules/run_rows.hpp"

namespace debubble {

void mark_of_run(std::vector<FrameworkRule>& rows, std::size_t from) {
  for (std::size_t k = from; k < rows.size(); ++k) rows[k].of_run = true;
}

void add_run_rules(std::vector<FrameworkRule>& rows) {
  constexpr RuleKind kRefuses = RuleKind::kRefuses;
  constexpr const char* kSchedules = "its schedules";
  constexpr const char* kSettings = "its arguments";
  const std::size_t begin = rows.size();
  rows.insert(rows.end(),
              {{kRefuses, kUnknownSchedule, "it has no such schedule; `debubble list schedules` says who has it",
                kSchedules, "--schedule zb-h2 -p 4 -m 8"},
               {kRefuses, "OTHER_PARAM", "it runs the schedule as it is, without this parameter", kSchedules, ""},
               {kRefuses, "MISSING_PARAM", "its order is the one with this parameter", kSchedules, ""},
               {kRefuses, "RECOMPUTED_STAGES != all", "all stages recompute alike", kSettings,
                "-p 4 -m 8 --recompute full --recompute-stages 0"},
               {kRefuses, "RANK_ORDER", "its ranks are placed in another order", kSettings,
                "--tp 2 --sequence-parallel -p 2 -m 4 --dp 2 --rank-order dp,pp,tp,cp"}});
  mark_of_run(rows, begin);
}

void add_run_facts(std::vector<RuleFact>& facts) {
  facts.insert(facts.end(), {{kUnknownSchedule, "--schedule"},
                             {"OTHER_PARAM", "--param"},
                             {"MISSING_PARAM", "without --param"},
                             {"RECOMPUTED_STAGES", "--recompute-stages"},
                             {"RECOMPUTED_BLOCKS", "--recompute-blocks"},
                             {"RECOMPUTED_MODULES", "--recompute-modules"},
                             {"RANK_ORDER", "--rank-order"},
                             {"RUN_FORMAT", "--dtype"},
                             {"EXCHANGE_OVERLAP", "--moe-overlap on"},
                             {"ULYSSES", "--context-exchange all-to-all"}});
}

}  // namespace debubble
