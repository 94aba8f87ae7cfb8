#include "cost_models/sizes/path.hpp"

#include <algorithm>
#include <map>

namespace debubble {
namespace {

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

}  // namespace

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

std::string words_of(const SizePath& path, const std::vector<RunSize>& measured) {
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

}  // namespace debubble
