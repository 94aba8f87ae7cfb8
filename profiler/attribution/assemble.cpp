#include "profiler/attribution/assemble.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/text/text.hpp"
#include "profiler/attribution/layer_report.hpp"
#include "profiler/attribution/measurement_notes.hpp"
#include "profiler/attribution/statistics.hpp"
#include "sim/core/error.hpp"

namespace debubble::attribution {
namespace {

constexpr std::size_t kMostCandidates = 8;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

std::string losses_text(const Ledger& ledger) {
  std::string text;
  for (const auto& [what, count] : ledger.losses()) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  }
  return text.empty() ? text : "what was lost or refused: " + text;
}

void require_layers(const Ledger& ledger, const RangeNames& names) {
  const std::string losses = losses_text(ledger);
  if (ledger.entered() == 0) {
    throw InputError({"A003", "", "no GPU work was recorded",
                      losses.empty() ? "the program launched none while it was recorded" : losses});
  }
  if (!names.layers().empty()) return;
  const std::vector<std::string> candidates = names.candidates(kMostCandidates);
  throw InputError({"A002", "", "no range is a layer",
                    candidates.empty() ? "name ranges debubble.layer:NAME, or run the script under debubble_hooks"
                                       : "name the layers with a pattern; ranges that repeat: " + listed(candidates)});
}

[[noreturn]] void refuse_empty_layers(const Ledger& ledger, const RangeNames& names) {
  std::vector<std::string> some = names.layers();
  if (some.size() > kMostCandidates) some.resize(kMostCandidates);
  const std::string losses = losses_text(ledger);
  throw InputError(
      {"A004", "", "no GPU work was launched from inside a layer",
       "are launches linked to their ranges? layers seen: " + listed(some) + (losses.empty() ? "" : "; " + losses)});
}

std::vector<std::vector<Tally>> by_layer(const std::vector<Tally>& tallies, std::size_t layers) {
  std::vector<std::vector<Tally>> result(layers);
  for (const Tally& tally : tallies) {
    if (tally.in_layer) result[tally.layer].push_back(tally);
  }
  return result;
}

// Layers in order of their first forward; those without one at the end.
std::vector<std::uint32_t> ordered(const Results& results, std::size_t layers) {
  std::vector<std::uint32_t> order = results.order;
  std::vector<bool> placed(layers);
  for (const std::uint32_t layer : order) placed[layer] = true;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    if (!placed[layer]) order.push_back(layer);
  }
  return order;
}

void add_rest(const std::vector<Tally>& tallies, Measurement& measurement) {
  std::array<RestItem, kRests> items;
  for (const Tally& tally : tallies) {
    if (tally.in_layer) continue;
    RestItem& item = items.at(static_cast<std::size_t>(tally.rest));
    item.what = to_string(tally.rest);
    item.count += tally.count;
    item.total += tally.total;
  }
  for (RestItem& item : items) {
    if (item.count > 0) measurement.rest.push_back(std::move(item));
  }
}

Measurement measured(const Results& results, const Ledger& ledger, const std::vector<Tally>& tallies) {
  Measurement measurement;
  measurement.on_cpu = results.on_cpu();
  measurement.kernels = ledger.entered();
  measurement.kernel_time = ledger.entered_time();
  Nanoseconds rest = 0;
  for (const Tally& tally : tallies) (tally.in_layer ? measurement.layer_time : rest) += tally.total;
  // The invariant of the ledger, checked once more on what is about to be reported.
  if (measurement.layer_time + rest != measurement.kernel_time) throw std::logic_error("attribution lost GPU time");
  add_rest(tallies, measurement);
  for (const auto& [what, count] : ledger.losses()) {
    if (count > 0) measurement.losses.push_back({what, count});
  }
  if (results.incomplete > 0) measurement.losses.push_back({"incomplete recordings", results.incomplete});
  measurement.steps = results.steps;
  measurement.warm_up_steps = results.warm_up_steps;
  // The overhead of recording: steps with and without it in the same run, so that the machine's state is the same.
  // CUPTI stays attached in both, so it is a lower bound.
  if (std::min(results.recorded_walls.size(), results.unrecorded_walls.size()) >= kLeastToCompare) {
    measurement.overhead_ppm = change_ppm(median_of(results.unrecorded_walls), median_of(results.recorded_walls));
  }
  measurement.clock = results.clock.state();
  return measurement;
}

std::vector<Explanation> explained(const std::vector<Tally>& tallies, const Ledger& ledger, const RangeNames& names) {
  std::vector<Explanation> lines;
  for (const Tally& tally : tallies) {
    lines.push_back({tally.in_layer ? names.layers()[tally.layer] : to_string(tally.rest),
                     tally.in_layer ? to_string(tally.phase) : "", to_string(tally.rule),
                     demangled(ledger.kernels().text(tally.kernel)), tally.count, tally.total});
  }
  std::sort(lines.begin(), lines.end(), [](const Explanation& left, const Explanation& right) {
    return std::tie(right.total, left.layer, left.phase, left.rule, left.kernel, left.count) <
           std::tie(left.total, right.layer, right.phase, right.rule, right.kernel, right.count);
  });
  return lines;
}

// What is said of several layers is said once, with the first of their names.
class LayerNotes {
 public:
  void add(const std::string& layer, const std::string& note) {
    const auto known = std::find_if(said_.begin(), said_.end(), [&](const auto& one) { return one.first == note; });
    if (known == said_.end()) {
      said_.emplace_back(note, std::vector<std::string>{layer});
    } else {
      known->second.push_back(layer);
    }
  }

  void drop(const std::string& note) {
    std::erase_if(said_, [&](const auto& one) { return one.first == note; });
  }

  void append_to(std::vector<std::string>& notes) const {
    for (const auto& [note, layers] : said_) notes.push_back(subject(layers) + ": " + note);
  }

 private:
  static std::string subject(const std::vector<std::string>& layers) {
    constexpr std::size_t kNamed = 3;
    std::string text = layers.size() == 1 ? "layer" : "layers";
    for (std::size_t k = 0; k < std::min(layers.size(), kNamed); ++k) {
      text += (k == 0 ? " \"" : ", \"") + layers[k] + "\"";
    }
    return layers.size() > kNamed ? text + " and " + std::to_string(layers.size() - kNamed) + " more" : text;
  }

  std::vector<std::pair<std::string, std::vector<std::string>>> said_;  // in order of first appearance
};

void add_layers(const Results& results, const Ledger& ledger, const RangeNames& names,
                const std::map<std::string, LayerFacts>& facts, Attribution& attribution) {
  const std::size_t count = names.layers().size();
  const std::vector<std::vector<Tally>> tallies = by_layer(ledger.tallies().sorted(), count);
  const LayerSamples none;
  LayerNotes notes;
  std::size_t without_backward = 0;
  for (const std::uint32_t layer : ordered(results, count)) {
    const std::string& name = names.layers()[layer];
    const auto known = facts.find(name);
    LayerReport report =
        report_layer(name, layer < results.layers.size() ? results.layers[layer] : none,
                     time_of(tallies[layer], ledger.kernels()), known == facts.end() ? nullptr : &known->second);
    for (const std::string& note : report.notes) {
      notes.add(name, note);
      if (note == kNoBackwardNote) ++without_backward;
    }
    attribution.profile.layers.push_back(std::move(report.layer));
  }
  attribution.any_backward = without_backward < count;
  if (!attribution.any_backward) {
    notes.drop(kNoBackwardNote);
    attribution.notes.emplace_back("no backward was recorded (inference?): a schedule of this profile means nothing");
  }
  notes.append_to(attribution.notes);
}

std::string fact(const Results& results, const char* key) {
  std::string text;
  const auto found = results.facts.find(key);
  if (found == results.facts.end()) return text;
  for (const std::string& value : found->second) text += (text.empty() ? "" : ", ") + value;
  return text;
}

bool any_memory(const Results& results) {
  return std::any_of(results.layers.begin(), results.layers.end(),
                     [](const LayerSamples& samples) { return !samples.kept.empty(); });
}

// How the backward was told apart is part of how it was measured.
std::string cpu_method(const std::string& torch) {
  return "own time of the operators of PyTorch" + (torch.empty() ? "" : " " + torch) +
         " on the CPU (torch.profiler), input and weight gradient by the operators inside backward nodes";
}

void fill_origin(const Results& results, bool sizes_known, Profile& profile) {
  ProfileOrigin& origin = profile.origin;
  origin.times = Source::kMeasured;
  origin.memory = sizes_known ? Source::kMeasured : Source::kModelled;
  origin.device = fact(results, "device.0.name");
  if (origin.device.empty()) origin.device = results.on_cpu() ? "unknown CPU" : "unknown GPU";
  if (results.on_cpu()) origin.method = cpu_method(fact(results, "torch"));
  origin.driver = fact(results, "driver");
  origin.cuda = fact(results, "cuda");
  origin.date = fact(results, "date");
  for (const ProfileLayer& layer : profile.layers) {
    if (layer.forward.n > 0 && (origin.repetitions == 0 || layer.forward.n < origin.repetitions)) {
      origin.repetitions = layer.forward.n;
    }
  }
}

}  // namespace

Attribution assemble(const Results& results, const Ledger& ledger, const RangeNames& names,
                     const std::map<std::string, LayerFacts>& facts, bool explain) {
  require_layers(ledger, names);
  const std::vector<Tally> tallies = ledger.tallies().sorted();
  Attribution attribution;
  attribution.profile.measurement = measured(results, ledger, tallies);
  if (attribution.profile.measurement->layer_time == 0) refuse_empty_layers(ledger, names);
  add_layers(results, ledger, names, facts, attribution);
  fill_origin(results, !facts.empty() || any_memory(results), attribution.profile);
  add_measurement_notes(results, ledger, facts, any_memory(results), attribution);
  for (const std::string& note : attribution.notes) {
    attribution.profile.origin.notes += (attribution.profile.origin.notes.empty() ? "" : "; ") + note;
  }
  if (explain) attribution.explanations = explained(tallies, ledger, names);
  return attribution;
}

}  // namespace debubble::attribution
