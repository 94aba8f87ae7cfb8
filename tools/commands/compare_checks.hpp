// What `compare` refuses before and after its runs, and the figure of what it compared.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "studies/compare/contender.hpp"
#include "tools/figures/drawing.hpp"
#include "tools/figures/study_figures.hpp"

namespace debubble {

// Throws InputError S002: a parameter that none of the compared schedules knows is a slip.
void check_compared_params(const Scenario& scenario, const std::vector<std::string>& names);

// Throws InputError C001: step times compare only between runs of the same work; a table brings its own numbers.
void require_equal_work(const std::vector<Contender>& contenders);

// `show`: "bars" (or nothing) or "front"; throws InputError C002 for another word.
void check_compare_figure(const std::string& show);
// Throws InputError C087: with other terms the step times of a figure would not compare.
void refuse_figure_of_unequal_work();

// Of the runs that have a result; there is one.
[[nodiscard]] figure::Drawing compare_figure(const std::vector<Contender>& contenders, const std::string& show,
                                             const figure::FigureFrame& frame);

}  // namespace debubble
