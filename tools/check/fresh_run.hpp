// A fresh run for a suite's scenario: the same schedule and costs as predicted, on one of the live backends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/run_record.hpp"
#include "tools/progress.hpp"
#include "tools/run.hpp"

namespace CLI {
class App;
}

namespace debubble {

// The members of "live", named like the flags of `debubble live`.
struct FreshRunFlags {
  std::string backend = "cpu";
  std::string clock;
  std::optional<int> repetitions;
  std::optional<int> warm_up;
  std::vector<std::string> faults;
};
void add_fresh_run_flags(CLI::App& verb, FreshRunFlags& flags);

// Throws InputError for words and faults that make no sense for the schedule, at places like "--fault".
void check_fresh_run(const FreshRunFlags& flags, const Schedule& schedule);

struct FreshRun {
  RunRecord record;
  std::string failure;  // how it got stuck or went wrong; empty when it ended as it should
};

// Throws InputError for what the backend cannot run and UnavailableError for what this machine lacks.
[[nodiscard]] FreshRun run_fresh(const FreshRunFlags& flags, const Run& run, Progress& progress);

// The flags again, for a command that is suggested: "--backend cpu --fault slow=1:1.5".
[[nodiscard]] std::string repeated_flags(const FreshRunFlags& flags);

}  // namespace debubble
