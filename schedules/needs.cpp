#include "schedules/needs.hpp"

#include <algorithm>
#include <array>

#include "sim/core/schedule.hpp"

namespace debubble {

namespace {

struct Mark {
  char letter;
  const char* meaning;
  bool ScheduleNeeds::*flag;
};

constexpr std::array<Mark, 6> kMarks{{{'w', "more copies or versions of the weights", &ScheduleNeeds::more_weights},
                                      {'s', "splits the backward", &ScheduleNeeds::split_backward},
                                      {'e', "even number of devices", &ScheduleNeeds::even_devices},
                                      {'a', "asynchronous: gradients of old weights", &ScheduleNeeds::asynchronous},
                                      {'o', "moves activations away", &ScheduleNeeds::moves_activations},
                                      {'q', "slices sequences: causal attention only", &ScheduleNeeds::slices}}};

bool keeps_versions(const std::optional<Asynchrony>& asynchrony) {
  return asynchrony && (asynchrony->versions != Asynchrony::Versions::kLatest || asynchrony->extra_copies > 0);
}

// What no cost model has a price for.
std::vector<std::string> not_charged_by(const Schedule& schedule) {
  std::vector<std::string> found;
  if (schedule.sliced) found.emplace_back("slicing");
  if (!schedule.asynchrony) return found;
  const bool predicts = schedule.asynchrony->versions == Asynchrony::Versions::kPredicted;
  const bool corrects = !predicts && schedule.asynchrony->extra_copies > 0;
  if (predicts) found.emplace_back("prediction");
  if (corrects) found.emplace_back("correction");
  return found;
}

}  // namespace

ScheduleNeeds needs_of(const ScheduleEntry* entry, const Schedule& schedule) {
  ScheduleNeeds needs;
  const bool copies = schedule.placement.replicas() > 1 && !schedule.replicas_share_weights;
  needs.more_weights = copies || keeps_versions(schedule.asynchrony);
  needs.split_backward = has_weight_grads(schedule);
  needs.even_devices = entry != nullptr && entry->even_devices;
  needs.asynchronous = schedule.asynchrony.has_value();
  needs.moves_activations =
      std::any_of(schedule.copies.begin(), schedule.copies.end(), [](const auto& lane) { return !lane.empty(); });
  needs.slices = schedule.sliced;
  needs.not_charged = not_charged_by(schedule);
  if (entry != nullptr) needs.frameworks = entry->frameworks;
  return needs;
}

std::string marks(const ScheduleNeeds& needs) {
  std::string text;
  for (const Mark& mark : kMarks) {
    if (needs.*mark.flag) text += mark.letter;
  }
  return text.empty() ? "-" : text;
}

std::string legend(std::span<const ScheduleNeeds> all) {
  std::string text;
  for (const Mark& mark : kMarks) {
    if (std::none_of(all.begin(), all.end(), [&](const ScheduleNeeds& needs) { return needs.*mark.flag; })) continue;
    text += std::string(text.empty() ? "" : "; ") + mark.letter + " " + mark.meaning;
  }
  return text;
}

}  // namespace debubble
