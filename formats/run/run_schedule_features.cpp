// What only few schedules have in addition to their rows: slices, copies, asynchrony and the like. All of it is
// optional, so that files written before it existed are still read.
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "formats/run/run_parts.hpp"
#include "formats/run/run_words.hpp"
#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max() - 1;
constexpr IntegerRule kShares{"shares", 1, kMostInt, "what each piece of a microbatch costs, relative to the others"};
constexpr IntegerRule kBarriers{"barriers", 0, 2, "1 or 2 where rows hold S and T"};
constexpr IntegerRule kUpdates{"backward passes", 1, kMostInt, "of a stage, per optimizer step"};
constexpr IntegerRule kAhead{"updates", 0, kMostInt, "how far a stage predicts its weights"};
constexpr IntegerRule kBuffers{"buffers", 0, kMostInt, "as large as the weights, in addition to their versions"};

std::vector<std::int32_t> read_ahead(JsonObjectReader& reader, std::string_view key, int stages,
                                     ProblemList& problems) {
  if (reader.member(key, false) == nullptr) return {};
  const auto ahead = read_integers(reader, key, kAhead, static_cast<std::size_t>(stages), problems);
  std::vector<std::int32_t> result;
  for (const std::int64_t updates : ahead) result.push_back(static_cast<std::int32_t>(updates));
  return result;
}

Asynchrony read_asynchrony(const JsonValue& value, const std::string& pointer, int stages, ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  Asynchrony asynchrony;
  if (!reader.is_object()) return asynchrony;
  const std::string word = reader.text("versions");
  std::size_t k = 0;
  while (k < kVersionWords.size() && kVersionWords[k] != word) ++k;
  if (k < kVersionWords.size()) asynchrony.versions = static_cast<Asynchrony::Versions>(k);
  if (k == kVersionWords.size() && !word.empty()) {
    reader.complain("P011", "versions",
                    "\"versions\" must be one of: latest, stashed, per-batch, predicted; got " + quoted_text(word),
                    "write one of these words");
  }
  asynchrony.update_every = static_cast<int>(reader.optional_integer("update_every", kUpdates).value_or(1));
  asynchrony.extra_copies = static_cast<int>(reader.optional_integer("extra_copies", kBuffers).value_or(0));
  asynchrony.stash_predicted = reader.optional_flag("stash_predicted", "without quotes");
  asynchrony.forward_ahead = read_ahead(reader, "forward_ahead", stages, problems);
  asynchrony.backward_ahead = read_ahead(reader, "backward_ahead", stages, problems);
  reader.finish();
  return asynchrony;
}

// Takes a number from the front; nothing when there is none or it is too large.
std::optional<std::int32_t> take_piece_number(std::string_view& text) {
  const auto value = take_whole<std::int32_t>(text);
  return value && *value >= 0 && *value <= kMostInt ? value : std::nullopt;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "3OUT12:1", "3BACK12@7": stage, direction, microbatch, the row position it waits for, the peer that keeps it.
std::optional<Copy> read_copy(std::string_view text) {
  Copy copy;
  const std::optional<std::int32_t> stage = take_piece_number(text);
  const bool back = take_word(text, to_word(Copy::Way::kBack));
  if (!stage || (!back && !take_word(text, to_word(Copy::Way::kOut)))) return std::nullopt;
  const std::optional<std::int32_t> microbatch = take_piece_number(text);
  if (!microbatch) return std::nullopt;
  copy = {back ? Copy::Way::kBack : Copy::Way::kOut, *stage, *microbatch, -1, -1};
  for (const auto& [mark, value] : {std::pair("@", &copy.after), std::pair(":", &copy.peer)}) {
    if (!take_word(text, mark)) continue;
    const std::optional<std::int32_t> number = take_piece_number(text);
    if (!number) return std::nullopt;
    *value = *number;
  }
  return text.empty() ? std::optional(copy) : std::nullopt;
}

void read_copies_of(std::string_view text, const std::string& pointer, std::vector<Copy>& copies,
                    ProblemList& problems) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    if (const std::optional<Copy> copy = read_copy(item)) {
      copies.push_back(*copy);
    } else {
      problems.add_at_pointer(
          "T024", pointer, quoted_text(item) + " is not a copy of an activation",
          "write it like 3OUT12 or 3BACK12@7: stage, direction, microbatch, row position; :PEER after it "
          "where a device keeps it");
      return;
    }
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

void read_copies(JsonObjectReader& reader, Schedule& schedule, ProblemList& problems) {
  const std::vector<JsonValue>* rows = read_items(reader, "copies", false, problems);
  if (rows == nullptr) return;
  for (std::size_t k = 0; k < rows->size(); ++k) {
    const std::string pointer = reader.pointer_to("copies/" + std::to_string(k));
    std::vector<Copy>& copies = schedule.copies.emplace_back();
    if ((*rows)[k].kind == JsonValue::Kind::kString) {
      read_copies_of((*rows)[k].text, pointer, copies, problems);
    } else {
      problems.add_at_pointer("P007", pointer, "a device's copies must be a string; got " + describe((*rows)[k]),
                              "write them like \"0OUT3,0BACK3@7\"");
    }
  }
}

}  // namespace

void read_schedule_features(JsonObjectReader& reader, Schedule& schedule, ProblemList& problems) {
  schedule.sliced = reader.optional_flag("sliced", "without quotes");
  if (reader.member("piece_shares", false) != nullptr) {
    schedule.piece_shares =
        read_integers(reader, "piece_shares", kShares, static_cast<std::size_t>(schedule.pieces), problems);
  }
  schedule.pairs_run_side_by_side = reader.optional_flag("pairs_run_side_by_side", "without quotes");
  schedule.replicas_share_weights = reader.optional_flag("replicas_share_weights", "without quotes");
  schedule.vocabulary_barriers =
      static_cast<int>(reader.optional_integer("vocabulary_barriers", kBarriers).value_or(0));
  if (const JsonValue* value = reader.member("asynchrony", false)) {
    schedule.asynchrony = read_asynchrony(*value, reader.pointer_to("asynchrony"), schedule.stages, problems);
  }
  read_copies(reader, schedule, problems);
}

}  // namespace debubble
