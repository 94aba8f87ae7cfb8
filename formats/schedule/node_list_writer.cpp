#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "formats/json/json_lines.hpp"
#include "formats/schedule/node_list.hpp"
#include "formats/schedule/node_words.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kMicrosecond = 1000;

// To the nearest microsecond.
std::int64_t microseconds(Nanoseconds time) { return (time + kMicrosecond / 2) / kMicrosecond; }

class NodeWriter {
 public:
  NodeWriter(const Schedule& schedule, const Timeline& timeline, JsonLines& json)
      : schedule_(schedule), timeline_(timeline), json_(json), chunk_of_(chunks_of(schedule)) {
    for (const auto& row : schedule.rows) {
      for (const Op& op : row) {
        if (op.kind == OpKind::kRecompute) recomputed_.insert({op.stage, op.microbatch});
      }
    }
  }

  void write() {
    json_.begin('[');
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      json_.item().begin('[');
      for (std::int32_t k = timeline_.device_begin[device]; k < timeline_.device_begin[device + 1]; ++k) {
        write_node(at(timeline_.spans, k));
      }
      json_.end(']');
    }
    json_.end(']');
  }

 private:
  void write_node(const Span& span) {
    const Op& op = span.op;
    const int slices = schedule_.sliced ? schedule_.pieces : 1;
    const bool forward = op.kind == OpKind::kForward;
    const bool back = makes_input_gradient(op.kind);
    const bool recomputed = forward && recomputed_.contains({op.stage, op.microbatch});
    json_.item().begin_on_one_line('{');
    json_.member("type").text(node_word(op.kind));
    json_.member("stage").integer(device_of(op.stage));
    json_.member("microbatch").integer(op.microbatch / slices);
    json_.member("chunk").integer(at(chunk_of_, op.stage));
    json_.member("seq_split_idx").integer(op.microbatch % slices);
    json_.member("layer_group_idx").integer(op.stage);
    json_.member("start_time").integer(microseconds(span.begin));
    json_.member("completion_time").integer(microseconds(span.end));
    write_peer("recv_peer_stage", op.stage, forward ? op.stage - 1 : op.stage + 1, forward || back);
    write_peer("send_peer_stage", op.stage, forward ? op.stage + 1 : op.stage - 1, forward || back);
    for (const char* key : {"comm_direction", "comm_peer_stage", "comm_pair_id"}) json_.member(key).null();
    json_.member("rollback").boolean(false);
    json_.member("need_recompute").boolean(recomputed);
    json_.member("should_offload").boolean(false);
    json_.end('}');
  }

  void write_peer(std::string_view key, std::int32_t stage, std::int32_t neighbour, bool exchanges) {
    const std::optional<std::int32_t> peer = exchanges ? peer_of(schedule_, stage, neighbour) : std::nullopt;
    json_.member(key);
    if (peer) {
      json_.integer(*peer);
    } else {
      json_.null();
    }
  }

  [[nodiscard]] std::int32_t device_of(std::int32_t stage) const { return schedule_.placement.device_of(0, stage); }

  const Schedule& schedule_;
  const Timeline& timeline_;
  JsonLines& json_;
  std::vector<std::int32_t> chunk_of_;                          // by stage
  std::set<std::pair<std::int32_t, std::int32_t>> recomputed_;  // stage and piece
};

}  // namespace

std::string_view node_word(OpKind kind) {
  constexpr std::array<std::string_view, kOpKinds> kWords{"F", "BW", "B", "W", "R", "", ""};
  return at(kWords, kind);
}

std::vector<std::int32_t> chunks_of(const Schedule& schedule) {
  std::map<std::int32_t, std::int32_t> held;  // by device: stages so far
  std::vector<std::int32_t> chunks;
  for (std::int32_t stage = 0; stage < schedule.stages; ++stage) {
    chunks.push_back(held[schedule.placement.device_of(0, stage)]++);
  }
  return chunks;
}

std::optional<std::int32_t> peer_of(const Schedule& schedule, std::int32_t stage, std::int32_t neighbour) {
  if (neighbour < 0 || neighbour >= schedule.stages) return std::nullopt;
  const std::int32_t peer = schedule.placement.device_of(0, neighbour);
  return peer == schedule.placement.device_of(0, stage) ? std::nullopt : std::optional(peer);
}

void write_node_list(const Schedule& schedule, const Timeline& timeline,
                     const std::function<void(std::string_view)>& sink) {
  TextBuffer buffer(sink);
  JsonLines json(buffer);
  NodeWriter(schedule, timeline, json).write();
  buffer << "\n";
  buffer.flush();
}

}  // namespace debubble
