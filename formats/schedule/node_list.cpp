#include "formats/schedule/node_list.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/run/run_parts.hpp"
#include "formats/schedule/node_words.hpp"
#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/at.hpp"
#include "sim/core/word_list.hpp"
#include "sim/rows/check.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostNode = std::numeric_limits<std::int32_t>::max() - 1;
constexpr const char* kNumbered = "numbers count from 0";
constexpr IntegerRule kStageNumber{"pipeline stages, numbered from 0", 0, kMostNode, "the number of the node's list"};
constexpr IntegerRule kMicrobatch{"microbatches, numbered from 0", 0, kMostNode, kNumbered};
constexpr IntegerRule kChunk{"chunks, numbered from 0", 0, kMostNode, kNumbered};
constexpr IntegerRule kSlice{"slices, numbered from 0", 0, kMostNode, kNumbered};
constexpr IntegerRule kNodeLayers{"stages in model order, numbered from 0", 0, kMostNode, kNumbered};
constexpr IntegerRule kNodeTime{"microseconds", 0, kLongestDuration, "times are whole microseconds"};

// The authors' other node types: their passes add them after scheduling.
constexpr std::string_view kOtherTypes =
    "SEND_FORWARD RECV_FORWARD SEND_BACKWARD RECV_BACKWARD POST_VALIDATION SEND_POST_VALIDATION RECV_POST_VALIDATION "
    "OFFLOAD_BARRIER OFFLOAD_SEND_START OFFLOAD_SEND_END OFFLOAD_RECV_PREP OFFLOAD_RECV_START OFFLOAD_RECV_END";

struct Node {
  OpKind kind = OpKind::kForward;
  std::int64_t microbatch = 0;
  std::int64_t slice = 0;
  std::optional<std::int64_t> chunk;
  std::optional<std::int64_t> layers;  // layer_group_idx
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> completion;
  std::optional<std::int64_t> receives_from;
  std::optional<std::int64_t> sends_to;
  bool recomputes = false;
};

class NodeListReader {
 public:
  NodeListReader(const JsonValue& root, ProblemList& problems) : root_(root), problems_(problems) {}

  Schedule read() {
    read_lists();
    if (!problems_.empty()) return {};
    number_stages();
    if (!problems_.empty()) return {};
    place_nodes();
    if (problems_.empty()) check();
    return std::move(schedule_);
  }

 private:
  static std::string pointer(std::size_t list, std::size_t node) {
    return "/" + std::to_string(list) + "/" + std::to_string(node);
  }

  void read_lists() {
    if (!root_.integers.empty() || root_.children.empty()) {
      problems_.add_at_pointer("P010", "", "a node list holds a list of nodes for each pipeline stage",
                               "write [[{\"type\": \"F\", ...}, ...], ...]");
      return;
    }
    for (std::size_t list = 0; list < root_.children.size(); ++list) {
      const JsonValue& value = root_.children[list];
      std::vector<Node>& nodes = nodes_.emplace_back();
      if (value.kind != JsonValue::Kind::kArray || value.children.empty()) {
        problems_.add_at_pointer("P010", "/" + std::to_string(list),
                                 "a list of nodes is expected here; got " + describe(value),
                                 "every pipeline stage has its nodes, in the order in which it runs them");
        continue;
      }
      for (std::size_t node = 0; node < value.children.size(); ++node) {
        nodes.push_back(read_node(value.children[node], list, node));
      }
    }
  }

  // A number that may be null, as Python's None is.
  std::optional<std::int64_t> number(JsonObjectReader& reader, std::string_view key, const IntegerRule& rule) {
    const JsonValue* value = reader.member(key, false);
    if (value == nullptr || value->kind == JsonValue::Kind::kNull) return std::nullopt;
    return reader.optional_integer(key, rule);
  }

  bool flag(JsonObjectReader& reader, std::string_view key) {
    const JsonValue* value = reader.member(key, false);
    if (value == nullptr || value->kind == JsonValue::Kind::kNull) return false;
    return reader.optional_flag(key, "without quotes");
  }

  Node read_node(const JsonValue& value, std::size_t list, std::size_t position) {
    JsonObjectReader reader(value, pointer(list, position), problems_);
    Node node;
    if (!reader.is_object()) return node;
    if (!read_type(reader, node)) return node;
    if (reader.integer("stage", kStageNumber) != static_cast<std::int64_t>(list)) {
      reader.complain("T008", "stage", "the node is in the list of stage " + std::to_string(list),
                      "\"stage\" is the number of the node's list");
    }
    node.microbatch = reader.integer("microbatch", kMicrobatch);
    node.slice = number(reader, "seq_split_idx", kSlice).value_or(0);
    node.chunk = number(reader, "chunk", kChunk);
    node.layers = number(reader, "layer_group_idx", kNodeLayers);
    node.start = number(reader, "start_time", kNodeTime);
    node.completion = number(reader, "completion_time", kNodeTime);
    node.receives_from = number(reader, "recv_peer_stage", kStageNumber);
    node.sends_to = number(reader, "send_peer_stage", kStageNumber);
    node.recomputes = flag(reader, "need_recompute");
    refuse_the_rest(reader);
    reader.finish();
    return node;
  }

  bool read_type(JsonObjectReader& reader, Node& node) {
    const std::string type = reader.text("type");
    for (int kind = 0; kind < kOpKinds; ++kind) {
      if (type.empty() || node_word(static_cast<OpKind>(kind)) != type) continue;
      node.kind = static_cast<OpKind>(kind);
      return true;
    }
    if (type.empty()) return false;
    if (is_word_in(kOtherTypes, type)) {
      reader.complain("J021", "type", type + " is not a compute node",
                      "give the list as the scheduler returns it, before transfers, post-validation and offloading are "
                      "added: F, B, W, BW and R alone");
    } else {
      reader.complain("P011", "type", quoted_text(type) + " is not a type of node",
                      "the compute types are F, B, W, BW and R");
    }
    return false;
  }

  // What only means something on other nodes, or changes what compute means.
  void refuse_the_rest(JsonObjectReader& reader) {
    for (const char* key : {"comm_direction", "comm_peer_stage", "comm_pair_id"}) {
      const JsonValue* value = reader.member(key, false);
      if (value == nullptr || value->kind == JsonValue::Kind::kNull) continue;
      reader.complain("J021", key, "\"" + std::string(key) + "\" is of a transfer, and this is a compute node",
                      "leave it out, or null");
    }
    for (const char* key : {"rollback", "should_offload"}) {
      if (!flag(reader, key)) continue;
      reader.complain("J021", key, "\"" + std::string(key) + "\" cannot be simulated from a node list",
                      "leave it out, or false; --to schedule-json keeps copies of activations");
    }
  }

  // Stages in model order, slices per microbatch, and which device holds which stage.
  void number_stages() {
    std::int64_t stages = 0;
    std::int64_t microbatches = 0;
    std::int64_t slices = 1;
    std::int64_t nodes = 0;
    for (std::size_t list = 0; list < nodes_.size(); ++list) {
      for (std::size_t k = 0; k < nodes_[list].size(); ++k) {
        Node& node = nodes_[list][k];
        ++nodes;
        if (!node.layers && node.chunk.value_or(0) > 0) {
          problems_.add_at_pointer("P012", pointer(list, k),
                                   "\"layer_group_idx\" is missing on a node of chunk " + std::to_string(*node.chunk),
                                   "with several chunks it says which stage in model order the node is of");
        }
        if (!node.layers) node.layers = static_cast<std::int64_t>(list);
        stages = std::max(stages, *node.layers + 1);
        microbatches = std::max(microbatches, node.microbatch + 1);
        slices = std::max(slices, node.slice + 1);
      }
    }
    // A complete list has at least two nodes for each, so larger numbers leave gaps; they would only cost memory.
    if (stages > nodes || microbatches > nodes || slices > nodes || microbatches * slices > nodes) {
      problems_.add_at_pointer("T030", "",
                               std::to_string(nodes) + " nodes for " + std::to_string(stages) + " stages and " +
                                   std::to_string(microbatches) + " microbatches of " + std::to_string(slices) +
                                   (slices == 1 ? " slice" : " slices"),
                               "stages, microbatches and slices are numbered from 0 without gaps");
      return;
    }
    schedule_.devices = static_cast<int>(nodes_.size());
    schedule_.stages = static_cast<int>(stages);
    schedule_.microbatches = static_cast<int>(microbatches);
    schedule_.pieces = static_cast<int>(slices);
    schedule_.sliced = slices > 1;
    schedule_.chunks = (schedule_.stages + schedule_.devices - 1) / schedule_.devices;
    schedule_.replica_of.assign(static_cast<std::size_t>(schedule_.total_pieces()), 0);
  }

  void place_nodes() {
    std::vector<std::int32_t> device(static_cast<std::size_t>(schedule_.stages), -1);
    for (std::size_t list = 0; list < nodes_.size(); ++list) {
      std::vector<Op>& row = schedule_.rows.emplace_back();
      for (std::size_t k = 0; k < nodes_[list].size(); ++k) {
        const Node& node = nodes_[list][k];
        const auto stage = static_cast<std::int32_t>(*node.layers);
        std::int32_t& home = at(device, stage);
        if (home < 0) home = static_cast<std::int32_t>(list);
        if (home != static_cast<std::int32_t>(list)) {
          problems_.add_at_pointer(
              "P012", pointer(list, k),
              "layer group " + std::to_string(stage) + " is on pipeline stage " + std::to_string(home) + " already",
              "a node list holds each layer group on one pipeline stage");
        }
        row.push_back(
            {node.kind, false, stage, static_cast<std::int32_t>(node.microbatch * schedule_.pieces + node.slice)});
      }
    }
    for (std::size_t stage = 0; stage < device.size(); ++stage) {
      if (device[stage] >= 0) continue;
      problems_.add_at_pointer("P012", "", "no node is of layer group " + std::to_string(stage),
                               "layer groups are numbered from 0 without gaps");
    }
    schedule_.placement = Placement(1, schedule_.stages, std::move(device));
  }

  void check() {
    check_nodes();
    if (!problems_.empty()) return;
    for (const ScheduleProblem& problem : find_problems(schedule_)) {
      std::string place;
      if (problem.device >= 0) place = "/" + std::to_string(problem.device);
      if (problem.device >= 0 && problem.position >= 0) place += "/" + std::to_string(problem.position);
      problems_.add_at_pointer(problem.code, place, problem.message + " (in our words: I is their B, B their BW)",
                               problem.help.empty() ? "every node runs once, after what it needs" : problem.help);
    }
    if (!problems_.empty()) return;
    if (const std::optional<Deadlock> deadlock = find_deadlock(schedule_)) {
      const Deadlock::Wait& first = deadlock->cycle.front();
      problems_.add_at_pointer(
          "T011", pointer(static_cast<std::size_t>(first.device), static_cast<std::size_t>(first.position)),
          "the pipeline stages wait for each other: " + to_string(*deadlock), "reorder one of these lists");
      return;
    }
    if (has_times_)
      schedule_.notes.emplace_back("the node list's times are not used: costs come from the command line");
  }

  void check_nodes() {
    std::set<std::pair<std::int32_t, std::int32_t>> recomputed;
    for (const auto& row : schedule_.rows) {
      for (const Op& op : row) {
        if (op.kind == OpKind::kRecompute) recomputed.insert({op.stage, op.microbatch});
      }
    }
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> stage_of_chunk;  // device and chunk
    for (std::size_t list = 0; list < nodes_.size(); ++list) {
      std::int64_t last = 0;
      for (std::size_t k = 0; k < nodes_[list].size(); ++k) {
        const Node& node = nodes_[list][k];
        const Op& op = schedule_.rows[list][k];
        if (node.chunk) {
          const auto known = stage_of_chunk.try_emplace({static_cast<std::int64_t>(list), *node.chunk}, op.stage);
          if (known.first->second != op.stage) {
            complain("P012", list, k,
                     "chunk " + std::to_string(*node.chunk) + " is layer group " + std::to_string(known.first->second) +
                         " elsewhere, and " + std::to_string(op.stage) + " here",
                     "a chunk of a pipeline stage is one layer group");
          }
        }
        check_times(node, list, k, last);
        check_peers(node, op, list, k);
        if (node.recomputes && !recomputed.contains({op.stage, op.microbatch})) {
          complain("P012", list, k, "\"need_recompute\" is true, and no R recomputes it",
                   "add the R nodes, or leave it false");
        }
      }
    }
  }

  void complain(const char* code, std::size_t list, std::size_t node, std::string message, const char* help) {
    problems_.add_at_pointer(code, pointer(list, node), std::move(message), help);
  }

  void check_times(const Node& node, std::size_t list, std::size_t k, std::int64_t& last) {
    has_times_ = has_times_ || node.start || node.completion;
    if (node.start && *node.start < last) {
      complain("V023", list, k, "it starts before the node ahead of it is complete",
               "a list is in the order in which its pipeline stage runs");
    } else if (node.start && node.completion && *node.completion < *node.start) {
      complain("V023", list, k, "it completes before it starts", "check the times");
    }
    if (node.completion) last = std::max(last, *node.completion);
  }

  // Where the fields are filled in, they must say what follows from the order.
  void check_peers(const Node& node, const Op& op, std::size_t list, std::size_t k) {
    const bool forward = op.kind == OpKind::kForward;
    const bool exchanges = is_pipelined(op.kind);
    const auto check = [&](const char* key, const std::optional<std::int64_t>& said, std::int32_t neighbour) {
      if (!said) return;  // their scheduler leaves them empty; a later pass fills them
      const auto peer = exchanges ? peer_of(schedule_, op.stage, neighbour) : std::nullopt;
      if (peer && *peer == *said) return;
      complain("T008", list, k,
               std::string("\"") + key + "\" is " + std::to_string(*said) + ", and the node " +
                   (peer ? "exchanges with pipeline stage " + std::to_string(*peer) : "has no peer there"),
               "the peer is the pipeline stage of the neighbouring layer group, where it is another one");
    };
    check("recv_peer_stage", node.receives_from, forward ? op.stage - 1 : op.stage + 1);
    check("send_peer_stage", node.sends_to, forward ? op.stage + 1 : op.stage - 1);
  }

  const JsonValue& root_;
  ProblemList& problems_;
  std::vector<std::vector<Node>> nodes_;
  Schedule schedule_;
  bool has_times_ = false;
};

}  // namespace

Schedule read_node_list(const JsonValue& root, ProblemList& problems) { return NodeListReader(root, problems).read(); }

}  // namespace debubble
