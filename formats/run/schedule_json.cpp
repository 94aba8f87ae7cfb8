#include "formats/run/schedule_json.hpp"

#include <algorithm>
#include <string>

#include "formats/run/run_words.hpp"
#include "schedules/exchange/compute_table.hpp"

namespace debubble {
namespace {

// Rows as PyTorch's table writes them, so that there is one way to name cells.
void write_rows(JsonLines& json, const Schedule& schedule) {
  const std::string table = write_compute_table(schedule);
  json.member("rows").begin('[');
  std::string_view rest = table;
  for (std::size_t row = 0; row < schedule.rows.size(); ++row) {
    const std::size_t end = rest.find('\n');
    json.item().text(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  json.end(']');
}

void write_placement(JsonLines& json, const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  json.member("placement").begin('[');
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    std::vector<std::int32_t> devices;
    for (int stage = 0; stage < placement.stages(); ++stage) devices.push_back(placement.device_of(replica, stage));
    json.item().integers(devices);
  }
  json.end(']');
  if (placement.replicas() > 1) json.member("replica_of").integers(schedule.replica_of);
}

void write_asynchrony(JsonLines& json, const Asynchrony& asynchrony) {
  json.member("asynchrony").begin('{');
  json.member("versions").text(to_word(asynchrony.versions));
  json.member("update_every").integer(asynchrony.update_every);
  json.member("extra_copies").integer(asynchrony.extra_copies);
  json.member("stash_predicted").boolean(asynchrony.stash_predicted);
  json.member_if_any("forward_ahead", asynchrony.forward_ahead);
  json.member_if_any("backward_ahead", asynchrony.backward_ahead);
  json.end('}');
}

// Only what differs from a plain schedule is written.
void write_features(JsonLines& json, const Schedule& schedule) {
  if (schedule.sliced) json.member("sliced").boolean(true);
  json.member_if_any("piece_shares", schedule.piece_shares);
  if (schedule.pairs_run_side_by_side) json.member("pairs_run_side_by_side").boolean(true);
  if (schedule.replicas_share_weights) json.member("replicas_share_weights").boolean(true);
  json.member_if_any("vocabulary_barriers", std::int64_t{schedule.vocabulary_barriers});
  if (schedule.asynchrony) write_asynchrony(json, *schedule.asynchrony);
}

void write_copies(JsonLines& json, const Schedule& schedule) {
  if (schedule.copies.empty()) return;
  json.member("copies").begin('[');
  for (const std::vector<Copy>& copies : schedule.copies) {
    std::string text;
    for (const Copy& copy : copies) {
      text += (text.empty() ? "" : ",") + std::to_string(copy.stage);
      text += to_word(copy.way);
      text += std::to_string(copy.microbatch);
      if (copy.after >= 0) text += '@' + std::to_string(copy.after);
      if (copy.peer >= 0) text += ':' + std::to_string(copy.peer);
    }
    json.item().text(text);
  }
  json.end(']');
}

}  // namespace

void write_texts(JsonLines& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.member(key).begin('[');
  for (const std::string& text : texts) json.item().text(text);
  json.end(']');
}

void write_schedule(JsonLines& json, const Schedule& schedule) {
  json.begin('{');
  json.member("name").text(schedule.name);
  json.member("devices").integer(schedule.devices);
  json.member("stages").integer(schedule.stages);
  json.member("chunks").integer(schedule.chunks);
  json.member("microbatches").integer(schedule.microbatches);
  json.member("pieces").integer(schedule.pieces);
  if (!schedule.params.empty()) {
    json.member("params").begin('{');
    for (const auto& [name, value] : schedule.params) json.member(name).text(value);
    json.end('}');
  }
  write_texts(json, "notes", schedule.notes);
  write_features(json, schedule);
  write_placement(json, schedule);
  write_rows(json, schedule);
  write_copies(json, schedule);
  json.end('}');
}

}  // namespace debubble
