// A recording written down by hand: ranges open and close, kernels are launched in the innermost one.
//
//     Script script;
//     script.in("debubble.layer:a", [&] { script.kernel(100); });
//     Attribution found = script.attributed();
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/attribution/attribution.hpp"

namespace debubble::test {

inline AttributionRules all_steps_explained() {
  AttributionRules rules;
  rules.explain = true;
  rules.warm_up_steps = 0;
  return rules;
}

struct ScriptRange {
  std::int64_t sequence = -1;
  std::string_view sizes = {};
  std::uint32_t forward_thread = 0;
};

class Script {
 public:
  explicit Script(const AttributionRules& rules = all_steps_explained()) : attributor(rules) {}

  void open(std::string_view name, const ScriptRange& with = {}) {
    ranges_[thread].push_back(++range_);
    attributor.on(RangePush{range_, thread, ++now, name, with.sequence, with.forward_thread, with.sizes});
  }
  void close() {
    if (!ranges_[thread].empty()) ranges_[thread].pop_back();
    attributor.on(RangePop{thread, ++now});
  }
  template <typename Body>
  void in(std::string_view name, const Body& body) {
    open(name);
    body();
    close();
  }
  template <typename Body>
  void in(std::string_view name, const ScriptRange& with, const Body& body) {
    open(name, with);
    body();
    close();
  }

  // A kernel of so many nanoseconds, launched here; returns its correlation.
  std::uint32_t kernel(Nanoseconds duration, std::string_view name = "kernel") {
    KernelRecord record;
    record.name = name;
    return work(duration, record);
  }
  std::uint32_t work(Nanoseconds duration, KernelRecord record) {
    record.correlation = ++correlation;
    if (!ranges_[thread].empty()) attributor.on(LinkRecord{correlation, ranges_[thread].back()});
    attributor.on(LaunchRecord{correlation, thread, ++now, now});
    record.begin = now + 10;
    record.end = record.begin + duration;
    attributor.on(record);
    return correlation;
  }
  // The innermost open range.
  [[nodiscard]] std::uint64_t range() const { return ranges_.at(thread).back(); }

  Attribution attributed(const std::map<std::string, LayerFacts>& facts = {}) { return attributor.finish(facts); }

  Attributor attributor;
  std::uint32_t thread = 1;
  Nanoseconds now = 1'000'000'000;
  std::uint32_t correlation = 0;

 private:
  std::uint64_t range_ = 0;
  std::map<std::uint32_t, std::vector<std::uint64_t>> ranges_;
};

// A layer whose forward op makes node `sequence`.
inline void forward(Script& script, const std::string& layer, std::int64_t sequence, std::string_view op = "aten::mul",
                    std::string_view sizes = {}) {
  script.in("debubble.layer:" + layer, [&] { script.in(op, {sequence, sizes}, [&] { script.kernel(1000, "fwd"); }); });
}

// A training step of one layer with one kernel.
inline void step(Script& script, Nanoseconds duration) {
  script.in("debubble.step:1", [&] { script.in("debubble.layer:a", [&] { script.kernel(duration); }); });
}

// "layer phase rule kernel count total", longest first.
inline std::vector<std::string> lines_of(const Attribution& found) {
  std::vector<std::string> lines;
  for (const Explanation& line : found.explanations) {
    lines.push_back(line.layer + " " + (line.phase.empty() ? "-" : line.phase) + " " + line.rule + " " + line.kernel +
                    " " + std::to_string(line.count) + " " + std::to_string(line.total));
  }
  return lines;
}

inline bool noted(const Attribution& found, const std::string& note) {
  return std::find(found.notes.begin(), found.notes.end(), note) != found.notes.end();
}

inline bool noted_in_part(const Attribution& found, const std::string& part) {
  return std::any_of(found.notes.begin(), found.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

inline const ProfileLayer& layer_of(const Attribution& found, std::string_view name) {
  return *std::find_if(found.profile.layers.begin(), found.profile.layers.end(),
                       [&](const ProfileLayer& layer) { return layer.name == name; });
}

inline std::int64_t lost(const Attribution& found, const std::string& what) {
  for (const LossItem& loss : found.profile.measurement->losses) {
    if (loss.what == what) return loss.count;
  }
  return 0;
}

}  // namespace debubble::test
