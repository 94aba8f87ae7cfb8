// Parameters of planners as they were typed: the catalog has checked their names, these check their values.
#pragma once

#include <string>
#include <string_view>

#include "studies/planners/contract.hpp"

namespace debubble {

// "yes" or "no". Throws InputError C002 otherwise.
[[nodiscard]] bool planner_switch(const PlannerRequest& request, const std::string& name, bool preset);
// A number within [least, most]. Throws InputError C011 or C012 otherwise.
[[nodiscard]] double planner_number(const PlannerRequest& request, const std::string& name, double preset, double least,
                                    double most);
[[nodiscard]] int planner_count(const PlannerRequest& request, const std::string& name, int preset, int least,
                                int most);

// A parameter that is one of a few words, and got another: C002.
[[noreturn]] void not_a_planner_word(const std::string& name, const std::string& typed, const std::string& words);
// "no plan of PLANNER fits ...": Z002.
[[noreturn]] void no_plan_fits(std::string_view planner, std::string message, std::string help);
// The job is not of the kind that the planner decides: Z003.
[[noreturn]] void not_for_planner(std::string_view planner, std::string message, std::string help);
// Z003 unless the job has at least so many layers.
void require_planner_layers(std::string_view planner, const PlannerJob& job, int stages);

}  // namespace debubble
