#include "schedules/transforms/catalog.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "schedules/transforms/fill_bubbles.hpp"
#include "schedules/transforms/offload.hpp"
#include "schedules/transforms/recompute.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/split_backward.hpp"
#include "schedules/transforms/vocabulary_parallel.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

void check_transform_params(const TransformEntry& entry, const TransformRequest& request) {
  std::vector<std::string> known;
  for (const ParamSpec& spec : entry.params) known.push_back(spec.name);
  for (const auto& [name, value] : request.params) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string help = entry.name + " takes:";
    for (const std::string& candidate : known) help += " " + candidate;
    if (known.empty()) help = entry.name + " takes no parameters";
    if (const std::string guess = closest_name(name, known); !guess.empty()) help = "did you mean " + guess + "?";
    TransformParams(request, entry.name)
        .refuse("C017", name, entry.name + " has no parameter \"" + name + "\"", std::move(help));
  }
}

}  // namespace

std::span<const TransformEntry> transform_catalog() {
  static const std::array entries{split_backward_entry(), recompute_entry(), vocabulary_parallel_entry(),
                                  fill_bubbles_entry(), offload_entry()};
  return entries;
}

const TransformEntry* find_transform(std::string_view name) {
  for (const TransformEntry& entry : transform_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

void check_transform(std::string_view name, const TransformRequest& request) {
  const TransformEntry* entry = find_transform(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    std::string all;
    for (const TransformEntry& row : transform_catalog()) {
      names.push_back(row.name);
      all += " " + row.name;
    }
    const std::string guess = closest_name(name, names);
    throw InputError(Diagnostic{"C003", "--transform", "no transform is called \"" + std::string(name) + "\"",
                                guess.empty() ? "known transforms:" + all : "did you mean " + guess + "?"});
  }
  check_transform_params(*entry, request);
}

Schedule apply_transform(std::string_view name, const Schedule& schedule, const TransformRequest& request) {
  check_transform(name, request);
  return find_transform(name)->apply(schedule, request);
}

}  // namespace debubble
