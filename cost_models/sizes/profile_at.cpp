#include "cost_models/sizes/profile_at.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/sizes/between.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// From which measured sizes a wanted one is reached, first along the microbatch, then along the sequence.
struct SizePath {
  // All sizes measured at one sequence, by rising microbatch: one that is the wanted microbatch, or at least two.
  struct Row {
    std::int64_t sequence = 0;
    std::vector<std::size_t> profiles;  // numbers in the list of measured ones
  };
  RunSize wanted;
  std::vector<Row> rows;  // by rising sequence: one that is the wanted sequence, or at least two
};

// The indices of the points that decide at `size` among rising `sizes`: itself, its neighbours, or the nearest two.
std::vector<std::size_t> deciding(const std::vector<std::int64_t>& sizes, std::int64_t size) {
  const auto found = std::lower_bound(sizes.begin(), sizes.end(), size);
  const auto at = static_cast<std::size_t>(found - sizes.begin());
  if (found != sizes.end() && *found == size) return {at};
  const std::size_t high = std::clamp<std::size_t>(at, 1, sizes.size() - 1);
  return {high - 1, high};
}

bool outside(const std::vector<std::int64_t>& sizes, std::int64_t size) {
  return size < sizes.front() || size > sizes.back();
}

std::string listed_in_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == words.size() ? " and " : ", ") + words[k];
  }
  return text;
}

std::vector<std::int64_t> sequences_of(const SizePath& path) {
  std::vector<std::int64_t> sequences;
  for (const SizePath::Row& row : path.rows) sequences.push_back(row.sequence);
  return sequences;
}

// Nothing where too few sizes were measured.
std::optional<SizePath> find_path(const std::vector<RunSize>& measured, const RunSize& wanted) {
  std::map<std::int64_t, std::map<std::int64_t, std::size_t>> by_sequence;
  for (std::size_t k = 0; k < measured.size(); ++k) by_sequence[measured[k].sequence][measured[k].microbatch] = k;
  SizePath path{wanted, {}};
  for (const auto& [sequence, by_microbatch] : by_sequence) {
    if (by_microbatch.size() < 2 && !by_microbatch.contains(wanted.microbatch)) continue;
    SizePath::Row row{sequence, {}};
    for (const auto& [microbatch, number] : by_microbatch) row.profiles.push_back(number);
    if (sequence == wanted.sequence) return SizePath{wanted, {row}};
    path.rows.push_back(std::move(row));
  }
  if (path.rows.size() < 2) return std::nullopt;
  return path;
}

// "interpolated from microbatch 2 and 4", "extrapolated from 2048 and 4096 tokens", "interpolated from 2 x 2048, ...":
// the sizes that decide next to the wanted one.
std::string size_words(const SizePath& path, const std::vector<RunSize>& measured) {
  std::vector<RunSize> used;
  const std::vector<std::int64_t> sequences = sequences_of(path);
  bool beyond = outside(sequences, path.wanted.sequence);
  for (const std::size_t number : deciding(sequences, path.wanted.sequence)) {
    std::vector<std::int64_t> microbatches;
    const std::vector<std::size_t>& row = path.rows[number].profiles;
    for (const std::size_t profile : row) microbatches.push_back(measured[profile].microbatch);
    beyond = beyond || outside(microbatches, path.wanted.microbatch);
    for (const std::size_t k : deciding(microbatches, path.wanted.microbatch)) used.push_back(measured[row[k]]);
  }
  const auto all = [&](const auto& same) { return std::all_of(used.begin(), used.end(), same); };
  std::vector<std::string> words;
  std::string before;
  std::string behind;
  if (all([&](const RunSize& size) { return size.sequence == path.wanted.sequence; })) {
    before = "microbatch ";
    for (const RunSize& size : used) words.push_back(std::to_string(size.microbatch));
  } else if (all([&](const RunSize& size) { return size.microbatch == path.wanted.microbatch; })) {
    behind = " tokens";
    for (const RunSize& size : used) words.push_back(std::to_string(size.sequence));
  } else {
    for (const RunSize& size : used) words.push_back(to_string(size));
  }
  return std::string(beyond ? "extrapolated" : "interpolated") + " from " + before + listed_in_words(words) + behind;
}

// What was counted while the layers were made, for the words of a report.
struct MatchTally {
  bool waves = false;  // in this layer
  bool rate = false;
  bool bent = false;
  std::size_t by_waves = 0;  // layers all of whose times go by waves
  std::size_t by_rate = 0;   // layers with a time that does not
  std::size_t off_curve = 0;
};

// Reads one number of one layer in all profiles and finds it at the wanted size.
class ProfileSizeReader {
 public:
  ProfileSizeReader(const std::vector<NamedProfile>& measured, const SizePath& path, const LayerWaves& waves)
      : measured_(measured), path_(path), waves_(waves) {}

  template <typename Get>
  [[nodiscard]] TimeStatistics time(std::size_t layer, CostPhase phase, const Get& get, MatchTally& tally) const {
    std::vector<MeasuredPoint> along_sequence;
    for (const SizePath::Row& row : path_.rows) {
      const RunSize size{path_.wanted.microbatch, row.sequence};
      const auto points = points_of(row, layer, get, phase);
      const double waves = count(layer, phase, size);
      const auto wanted = static_cast<double>(size.microbatch);
      note(points, wanted, waves, tally);
      along_sequence.push_back(
          {static_cast<double>(row.sequence), waves, time_between(points, wanted, waves, SizeAxis::kMicrobatch)});
    }
    const double waves = count(layer, phase, path_.wanted);
    const auto wanted = static_cast<double>(path_.wanted.sequence);
    note(along_sequence, wanted, waves, tally);
    TimeStatistics time;
    time.median = whole(time_between(along_sequence, wanted, waves, SizeAxis::kSequence), kLongestDuration, "time");
    return time;
  }

  template <typename Get>
  [[nodiscard]] Bytes bytes(std::size_t layer, const Get& get, MatchTally& tally) const {
    std::vector<MeasuredPoint> along_sequence;
    for (const SizePath::Row& row : path_.rows) {
      const auto points = points_of(row, layer, get, std::nullopt);
      const auto wanted = static_cast<double>(path_.wanted.microbatch);
      const BytesBetween found = bytes_between(points, wanted, SizeAxis::kMicrobatch);
      tally.bent = tally.bent || !found.on_curve;
      along_sequence.push_back({static_cast<double>(row.sequence), 0, found.value});
    }
    const BytesBetween found =
        bytes_between(along_sequence, static_cast<double>(path_.wanted.sequence), SizeAxis::kSequence);
    tally.bent = tally.bent || !found.on_curve;
    return whole(found.value, kLargestSize, "size");
  }

 private:
  // `get` of the layer in every profile of the row; with its waves where a phase is given.
  template <typename Get>
  [[nodiscard]] std::vector<MeasuredPoint> points_of(const SizePath::Row& row, std::size_t layer, const Get& get,
                                                     std::optional<CostPhase> phase) const {
    std::vector<MeasuredPoint> points;
    for (const std::size_t number : row.profiles) {
      const Profile& profile = measured_[number].profile;
      const RunSize size{profile.microbatch_size, profile.sequence_length};
      points.push_back({static_cast<double>(size.microbatch), phase ? count(layer, *phase, size) : 0,
                        static_cast<double>(get(profile.layers[layer]))});
    }
    return points;
  }

  [[nodiscard]] double count(std::size_t layer, CostPhase phase, const RunSize& size) const {
    return waves_ ? waves_(layer, phase, size) : 0;
  }

  // A phase that takes no time at all needs no rule.
  static void note(const std::vector<MeasuredPoint>& points, double size, double waves, MatchTally& tally) {
    const auto is_there = [&](const MeasuredPoint& point) { return point.size == size; };
    if (std::any_of(points.begin(), points.end(), is_there)) return;
    if (std::all_of(points.begin(), points.end(), [](const MeasuredPoint& p) { return p.value <= 0; })) return;
    (goes_by_waves(points, size, waves) ? tally.waves : tally.rate) = true;
  }

  [[nodiscard]] std::int64_t whole(double value, std::int64_t most, const char* what) const {
    if (value <= static_cast<double>(most)) return std::llround(value);
    throw InputError(
        {"L025", "",
         std::string("a layer's ") + what + " at " + to_string(path_.wanted) + " is beyond what can be counted",
         "ask for a size nearer to those that were measured"});
  }

  const std::vector<NamedProfile>& measured_;
  const SizePath& path_;
  const LayerWaves& waves_;
};

Nanoseconds median_of(const std::optional<TimeStatistics>& time) { return time ? time->median : 0; }

ProfileLayer layer_at(const ProfileSizeReader& reader, std::size_t number, const ProfileLayer& like,
                      MatchTally& tally) {
  ProfileLayer layer;
  layer.name = like.name;
  layer.kind = like.kind;
  layer.parameters = like.parameters;
  layer.grad_split = like.grad_split;
  const auto forward = [](const ProfileLayer& one) { return one.forward.median; };
  const auto backward = [](const ProfileLayer& one) { return median_of(one.backward); };
  const auto input_grad = [](const ProfileLayer& one) { return median_of(one.input_grad); };
  const auto weight_grad = [](const ProfileLayer& one) { return median_of(one.weight_grad); };
  const auto held = [](const ProfileLayer& one) { return one.weight_grad_held.value_or(0); };
  layer.forward = reader.time(number, CostPhase::kForward, forward, tally);
  if (like.backward) layer.backward = reader.time(number, CostPhase::kBackward, backward, tally);
  if (like.input_grad) layer.input_grad = reader.time(number, CostPhase::kInputGrad, input_grad, tally);
  if (like.weight_grad) layer.weight_grad = reader.time(number, CostPhase::kWeightGrad, weight_grad, tally);
  layer.activation = reader.bytes(
      number, [](const ProfileLayer& one) { return one.activation; }, tally);
  if (like.weight_grad_held) layer.weight_grad_held = reader.bytes(number, held, tally);
  layer.output = reader.bytes(
      number, [](const ProfileLayer& one) { return one.output; }, tally);
  layer.workspace = reader.bytes(
      number, [](const ProfileLayer& one) { return one.workspace; }, tally);
  return layer;
}

std::string of_layers(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " layers";
}

Derivation derivation_of(const std::string& from, const MatchTally& tally, std::size_t layers) {
  Derivation derived;
  derived.by_waves = tally.by_waves > 0;
  derived.times = from + ", by " + (derived.by_waves ? "waves" : "the achieved rate");
  if (derived.by_waves && tally.by_rate > 0) {
    derived.times += " in " + of_layers(tally.by_waves, layers) + ", by the achieved rate in the others";
  }
  derived.sizes = from + ", polynomials through the measured sizes";
  if (tally.off_curve > 0) {
    derived.sizes += ", but straight lines between neighbours in " + of_layers(tally.off_curve, layers);
  }
  return derived;
}

std::vector<RunSize> sizes_of(const std::vector<NamedProfile>& measured) {
  std::vector<RunSize> sizes;
  for (const NamedProfile& one : measured) {
    sizes.push_back({one.profile.microbatch_size, one.profile.sequence_length});
  }
  return sizes;
}

[[noreturn]] void refuse_run_size(const std::vector<RunSize>& sizes, const RunSize& wanted) {
  std::string all;
  for (const RunSize& size : sizes) all += (all.empty() ? "" : ", ") + to_string(size);
  const std::string measured = sizes.size() == 1 ? "one size was" : std::to_string(sizes.size()) + " sizes were";
  const auto measured_at = [&](const auto& same) { return std::any_of(sizes.begin(), sizes.end(), same); };
  std::string help = "measure two microbatches at each of two sequences";
  if (measured_at([&](const RunSize& size) { return size.sequence == wanted.sequence; })) {
    help = "measure a second microbatch at that sequence";
  } else if (measured_at([&](const RunSize& size) { return size.microbatch == wanted.microbatch; })) {
    help = "measure a second sequence at that microbatch";
  }
  throw InputError({"L025", "",
                    "there are no times for " + to_string(wanted) + ": " + measured + " measured (" + all + ")",
                    help + "; or take a measured size"});
}

}  // namespace

std::string to_string(const RunSize& size) {
  const std::string samples = size.microbatch < 1 ? "?" : std::to_string(size.microbatch);
  if (size.sequence == 0) return samples + (size.microbatch == 1 ? " sample" : " samples");
  return samples + " x " + std::to_string(size.sequence);
}

Profile profile_at(const std::vector<NamedProfile>& measured, const RunSize& wanted, const LayerWaves& waves) {
  const std::vector<RunSize> sizes = sizes_of(measured);
  const auto found = std::find(sizes.begin(), sizes.end(), wanted);
  if (found != sizes.end()) return at(measured, found - sizes.begin()).profile;
  const std::optional<SizePath> path = find_path(sizes, wanted);
  if (!path) refuse_run_size(sizes, wanted);

  const Profile& like = measured.front().profile;
  Profile profile = like;
  profile.microbatch_size = wanted.microbatch;
  profile.sequence_length = wanted.sequence;
  profile.measurement.reset();
  profile.layers.clear();
  const ProfileSizeReader reader(measured, *path, waves);
  MatchTally all;
  for (std::size_t k = 0; k < like.layers.size(); ++k) {
    MatchTally tally;
    profile.layers.push_back(layer_at(reader, k, like.layers[k], tally));
    all.by_waves += tally.waves && !tally.rate ? 1U : 0U;
    all.by_rate += tally.rate ? 1U : 0U;
    all.off_curve += tally.bent ? 1U : 0U;
  }
  profile.derived = derivation_of(size_words(*path, sizes), all, like.layers.size());
  return profile;
}

}  // namespace debubble
