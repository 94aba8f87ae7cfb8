#include "studies/planners/params.hpp"

#include <cmath>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

std::string planner_place(std::string_view name) { return "--planner " + std::string(name); }

std::string short_decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

bool planner_switch(const PlannerRequest& request, const std::string& name, bool preset) {
  const auto found = request.params.find(name);
  if (found == request.params.end()) return preset;
  if (found->second == "yes") return true;
  if (found->second != "no") not_a_planner_word(name, found->second, "yes, no");
  return false;
}

void not_a_planner_word(const std::string& name, const std::string& typed, const std::string& words) {
  fail("C002", planner_place(name), "\"" + typed + "\" is not one of: " + words,
       "write " + name + "=" + words.substr(0, words.find(',')));
}

double planner_number(const PlannerRequest& request, const std::string& name, double preset, double least,
                      double most) {
  const auto found = request.params.find(name);
  if (found == request.params.end()) return preset;
  const std::string& text = found->second;
  const auto value = number_of(text);
  if (!value) {
    fail("C011", planner_place(name), "\"" + text + "\" is not a number",
         "write " + name + "=" + short_decimal(preset));
  }
  if (*value < least || *value > most) {
    fail("C012", planner_place(name), text + " is not within " + short_decimal(least) + " and " + short_decimal(most),
         "use a number in that range");
  }
  return *value;
}

int planner_count(const PlannerRequest& request, const std::string& name, int preset, int least, int most) {
  const double value = planner_number(request, name, preset, least, most);
  if (value != std::floor(value)) {
    fail("C011", planner_place(name), short_decimal(value) + " is not a whole number",
         "write " + name + "=" + std::to_string(preset));
  }
  return static_cast<int>(value);
}

void no_plan_fits(std::string_view planner, std::string message, std::string help) {
  fail("Z002", planner_place(planner), std::move(message), std::move(help));
}

void not_for_planner(std::string_view planner, std::string message, std::string help) {
  fail("Z003", planner_place(planner), std::move(message), std::move(help));
}

void require_planner_layers(std::string_view planner, const PlannerJob& job, int stages) {
  if (job.layer_count() >= stages) return;
  not_for_planner(
      planner,
      counted(stages, "stage") + " need at least as many layers; the job has " + std::to_string(job.layer_count()),
      "use fewer devices, or a finer profile");
}

}  // namespace debubble
