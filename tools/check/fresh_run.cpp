#include "tools/check/fresh_run.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "live/backends.hpp"
#include "live/live.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "tools/quantities.hpp"
#include "tools/shell.hpp"

namespace debubble {
namespace {

template <std::size_t N>
std::size_t one_of(const std::array<std::string, N>& names, const std::string& value, const std::string& place) {
  std::string all;
  for (std::size_t k = 0; k < N; ++k) {
    if (names[k] == value) return k;
    all += (all.empty() ? "" : ", ") + names[k];
  }
  const std::string guess = closest_name(value, names);
  throw InputError(Diagnostic{"Q016", place, "\"" + value + "\" is not one of: " + all,
                              guess.empty() ? "write " + names[0] : "did you mean " + guess + "?"});
}

}  // namespace

void add_fresh_run_flags(CLI::App& verb, FreshRunFlags& flags) {
  verb.add_option("--backend", flags.backend);
  verb.add_option("--clock", flags.clock);
  verb.add_option("--repetitions", flags.repetitions);
  verb.add_option("--warm-up", flags.warm_up);
  verb.add_option("--fault", flags.faults)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void check_fresh_run(const FreshRunFlags& flags, const Schedule& schedule) {
  const std::array<std::string, 3> backends{"cpu", "cuda", "mpi"};
  one_of(backends, flags.backend, "--backend");
  static_cast<void>(schedule);
}

std::string repeated_flags(const FreshRunFlags& flags) {
  std::string text = "--backend " + flags.backend;
  if (!flags.clock.empty()) text += " --clock " + flags.clock;
  for (const std::string& fault : flags.faults) text += " --fault " + shell_quoted(fault);
  return text;
}

FreshRun run_fresh(const FreshRunFlags&, const Run&, Progress&) { return {}; }

}  // namespace debubble
