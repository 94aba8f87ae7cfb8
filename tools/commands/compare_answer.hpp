// What `debubble compare` finds out, without how it is shown: the Python module shows it otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"
#include "studies/compare/contender.hpp"

namespace debubble {

// As typed.
struct CompareFlags {
  ScenarioFlags scenario;
  std::vector<std::string> configs;  // scenario files, compared as they are
  std::string equal = "devices";
  std::string runs_in;
  std::string memory_limit;
};

// What is compared, and on which terms.
[[nodiscard]] FlagRows asked_rows(CompareFlags& flags);
[[nodiscard]] FlagRows terms_rows(CompareFlags& flags);

// The flags without files, checked.
struct CompareRequest {
  Scenario scenario;
  std::vector<std::string> names;
  Terms terms;
};

// Throws InputError with everything that is wrong. Runs of at most `most_kept_ops` are kept, op by op.
[[nodiscard]] CompareRequest check_compare(const CompareFlags& flags, std::size_t most_kept_ops);
// Of flags with files: throws InputError C001 for terms that whole configurations do not have.
void check_compared_configs(const CompareFlags& flags);

struct CompareAnswer {
  std::vector<Contender> contenders;   // in the order in which they are shown
  std::optional<std::size_t> nearest;  // where none fits: the one that lacks least
  Terms terms;
};

// Throws InputError for what names no schedule, where nothing runs, and for runs of unequal work.
[[nodiscard]] CompareAnswer answer_compare(const CompareRequest& request, Progress& progress);
// Whole configurations: each file, with the other flags in place of its own.
[[nodiscard]] CompareAnswer answer_configs(const CompareFlags& flags, std::size_t most_kept_ops, Progress& progress);

// What `--format json` prints.
[[nodiscard]] std::string compare_json(const CompareAnswer& answer, const std::string& command_line);
// "compare on 4 devices: 8 microbatches"
[[nodiscard]] std::string compare_title(const CompareFlags& flags, const CompareAnswer& answer);

}  // namespace debubble
