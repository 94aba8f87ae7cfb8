#include "live/cuda/stage_work.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "live/cuda/stage_layers.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {
namespace {

constexpr Bytes kChainBytes = Arena::kAlignment;  // one word, and the next buffer aligned

using WorkPiece = std::pair<std::int32_t, std::int32_t>;  // stage, microbatch
using Layers = std::vector<std::unique_ptr<BufferedLayer>>;

Shard shard_of_piece(const StagedModel& model, const Schedule& schedule) {
  WorkloadSize size = model.size;
  size.microbatch /= schedule.pieces;
  return shard_of(model.shape, size);
}

// Gives the layers of one piece their places: parameters of the first piece's layers, the scratch of all, and for the
// rest three runs of arena bytes.
class PieceLender final : public BufferLender {
 public:
  PieceLender(DeviceAddress scratch, const std::array<DeviceAddress, kRegions>& regions)
      : scratch_(scratch), next_(regions) {}

  DeviceAddress take(Region region, Bytes bytes) {
    DeviceAddress& next = at(next_, region);
    return std::exchange(next, next + static_cast<DeviceAddress>(Arena::rounded(bytes)));
  }

  // What the next layer to be made reads and writes beyond its own; 0 where it has no such buffer.
  DeviceAddress x = 0, y = 0, dy = 0, dx = 0;
  const LayerBuffers* parameters = nullptr;  // nullptr: it makes its own
  DataType type = DataType::kBf16;

  std::optional<DeviceAddress> lend(const LayerBuffer& wanted) override {
    if (wanted.element == Element::kInt) return std::nullopt;
    const Bytes bytes = wanted.elements * (wanted.element == Element::kReal ? bytes_of(type) : 4);
    switch (wanted.purpose) {
      case Purpose::kParameter:
      case Purpose::kGradient:
        if (parameters == nullptr) return std::nullopt;
        return parameters->find(wanted.name).data;
      case Purpose::kKept:
        return take(Region::kUntilBackward, bytes);
      case Purpose::kKeptForW:
        return wanted.name == "x" ? x : take(Region::kUntilWeightGrad, bytes);
      case Purpose::kHeld:
        return wanted.name == "dy" ? dy : take(Region::kHeld, bytes);
      case Purpose::kOutput:
        return y == 0 ? std::nullopt : std::optional(y);  // the loss is the head's own
      case Purpose::kInputGrad:
        return dx;
      case Purpose::kScratch:
        return scratch_;
    }
    return std::nullopt;
  }

 private:
  DeviceAddress scratch_;
  std::array<DeviceAddress, kRegions> next_;
};

// Memory of the device, given back at the end.
class Owned {
 public:
  Owned(WorkDevice& device, Bytes bytes) : device_(&device), address_(device.allocate(bytes)), bytes_(bytes) {
    device.zero(address_, bytes);
  }
  Owned(Owned&& other) noexcept
      : device_(other.device_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  Owned& operator=(Owned&&) = delete;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { device_->release(address_); }
  [[nodiscard]] DeviceAddress address() const { return address_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  WorkDevice* device_;
  DeviceAddress address_;
  Bytes bytes_;
};

DeviceAddress found_in(const std::map<Tensor, DeviceAddress>& places, const Tensor& tensor) {
  const auto found = places.find(tensor);
  if (found == places.end()) throw std::logic_error(to_string(tensor) + " has no buffer on this device");
  return found->second;
}

}  // namespace

void check_model(const StagedModel& model, const Schedule& schedule) {
  std::vector<Diagnostic> problems;
  const auto& partition = model.partition;
  const bool positive = std::all_of(partition.begin(), partition.end(), [](int layers) { return layers > 0; });
  const std::int64_t layers = model.shape.layers + 2;
  if (static_cast<int>(partition.size()) != schedule.stages || !positive) {
    problems.push_back({"L005", "--partition",
                        "the schedule has " + std::to_string(schedule.stages) + " stages; the partition gives " +
                            std::to_string(partition.size()) + (positive ? "" : ", some without layers"),
                        "one number of layers, at least 1, for each stage"});
  } else if (std::accumulate(partition.begin(), partition.end(), std::int64_t{0}) != layers) {
    problems.push_back({"L006", "--partition",
                        "the stages have " +
                            std::to_string(std::accumulate(partition.begin(), partition.end(), std::int64_t{0})) +
                            " layers together; " + model.shape.name + " has " + std::to_string(layers),
                        std::to_string(model.shape.layers) + " blocks, an embedding before and a head after them"});
  }
  if (model.size.microbatch % schedule.pieces != 0) {
    problems.push_back({"F003", "--microbatch-size",
                        "the schedule cuts a microbatch into " + std::to_string(schedule.pieces) + " pieces; " +
                            std::to_string(model.size.microbatch) + " samples cannot be",
                        "a multiple of " + std::to_string(schedule.pieces) + " can"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  static_cast<void>(shard_of_piece(model, schedule));
}

StageCosts memory_costs(const StagedModel& model, const Schedule& schedule) {
  check_model(model, schedule);
  const StageLayers layers(model.shape, shard_of_piece(model, schedule), model.partition);
  StageCosts costs;
  for (std::int32_t stage = 0; stage < schedule.stages; ++stage) {
    StageCost cost = layers.memory(stage);
    for (Bytes* size : {&cost.activation, &cost.weight_grad_held, &cost.output, &cost.workspace}) {
      *size *= schedule.pieces;
    }
    costs.stages.push_back(cost);
  }
  return costs;
}

struct StageWork::State {
  State(WorkDevice& on, const Schedule& of, std::int32_t row, const StagedModel& model)
      : device(on),
        schedule(of),
        index(row),
        shard(shard_of_piece(model, of)),
        stages(model.shape, shard, model.partition),
        rotary(on, shard, model.shape.rotary_base),
        memory(plan_row_memory(at(of.rows, row), footprints())),
        arena(on, memory.extent),
        scratch(on, stages.scratch()),
        transfers(on, transfer_bytes()) {
    place_tensors();
    for (const Op& op : row_ops()) {
      if (op.kind == OpKind::kForward) make_piece({op.stage, op.microbatch});
    }
    device.synchronise();
  }

  [[nodiscard]] const std::vector<Op>& row_ops() const { return at(schedule.rows, index); }
  [[nodiscard]] Bytes payload() const { return shard.tokens() * shard.hidden * bytes_of(shard.type); }
  [[nodiscard]] Bytes tensor() const { return Arena::rounded(payload()) + kChainBytes; }

  [[nodiscard]] std::vector<StageFootprint> footprints() const {
    std::vector<StageFootprint> all;
    for (std::int32_t stage = 0; stage < stages.stages(); ++stage) all.push_back(stages.footprint(stage));
    return all;
  }

  // Visits every tensor that this device makes or uses, once per end.
  template <typename Visit>
  void for_each_tensor(const Visit& visit) const {
    for (const Op& op : row_ops()) {
      Tensor tensor;
      if (op.kind == OpKind::kWeightGrad) continue;
      if (input_of(schedule, op, tensor)) visit(tensor, false);
      if (output_of(schedule, op, tensor)) visit(tensor, true);
    }
  }

  [[nodiscard]] Bytes transfer_bytes() const {
    Bytes sum = 0;
    for_each_tensor([&](const Tensor& tensor_of, bool made) {
      const bool stays = maker(schedule, tensor_of) == user(schedule, tensor_of);
      if (made || !stays) sum += tensor();
    });
    return sum;
  }

  void place_tensors() {
    DeviceAddress next = transfers.address();
    for_each_tensor([&](const Tensor& tensor_of, bool made) {
      const bool stays = maker(schedule, tensor_of) == user(schedule, tensor_of);
      if (stays && !made) return;
      (made ? outgoing : incoming)[tensor_of] = next;
      if (stays) incoming[tensor_of] = next;
      next += static_cast<DeviceAddress>(tensor());
    });
  }

  // The incoming or outgoing buffer of a piece's forward or gradient; 0 where the stage is the model's end.
  [[nodiscard]] DeviceAddress end_of(const WorkPiece& piece, OpKind kind, bool made) const {
    Tensor tensor_of;
    const Op op{kind, false, piece.first, piece.second};
    const bool is_there = made ? output_of(schedule, op, tensor_of) : input_of(schedule, op, tensor_of);
    return is_there ? found_in(made ? outgoing : incoming, tensor_of) : 0;
  }

  void make_piece(const WorkPiece& piece) {
    std::array<DeviceAddress, kRegions> regions{};
    for (std::size_t k = 0; k < kRegions; ++k) {
      regions[k] = arena.address() + static_cast<DeviceAddress>(memory.places[piece][k]);
    }
    PieceLender lender(scratch.address(), regions);
    lender.type = shard.type;
    const int first = stages.first(piece.first);
    const int end = stages.end(piece.first);
    const auto count = static_cast<std::size_t>(end - first);
    // Where layers meet, the output of one is the input of the next, and the gradients likewise.
    std::vector<DeviceAddress> x(count + 1, 0);
    std::vector<DeviceAddress> dy(count + 1, 0);
    for (std::size_t k = 0; k < count; ++k) {
      const int layer = first + static_cast<int>(k);
      x[k] = k == 0 ? end_of(piece, OpKind::kForward, false)
                    : lender.take(Region::kUntilWeightGrad, stages.bytes(layer, "x"));
      dy[k] = k + 1 == count ? end_of(piece, OpKind::kInputGrad, false)
                             : lender.take(Region::kHeld, stages.bytes(layer, "dy"));
    }
    x[count] = end_of(piece, OpKind::kForward, true);
    const DeviceAddress dx = end_of(piece, OpKind::kInputGrad, true);
    Layers& made = layers[piece];
    for (std::size_t k = 0; k < count; ++k) {
      lender.x = x[k];
      lender.y = x[k + 1];
      lender.dy = dy[k];
      lender.dx = k == 0 ? dx : dy[k - 1];
      made.push_back(make_layer(first + static_cast<int>(k), piece, lender));
    }
  }

  std::unique_ptr<BufferedLayer> make_layer(int layer, const WorkPiece& piece, PieceLender& lender) {
    const int replica = at(schedule.replica_of, piece.second);
    BufferedLayer*& shared = parameters[{replica, layer}];
    lender.parameters = shared == nullptr ? nullptr : &shared->buffers();
    // Layers and microbatches differ, so that no two tensors are alike.
    const std::int64_t seed = 1'000'000 * (layer + 1) + 1000 * piece.second;
    std::unique_ptr<BufferedLayer> made;
    switch (stages.kind(layer)) {
      case LayerKind::kEmbedding:
        made = make_embedding(device, shard, seed, &lender);
        break;
      case LayerKind::kBlock:
        made = make_block(device, shard, rotary, seed, &lender);
        break;
      case LayerKind::kHead:
        made = make_head(device, shard, seed, &lender);
        break;
    }
    if (shared == nullptr) shared = made.get();
    return made;
  }

  WorkDevice& device;
  Schedule schedule;
  std::int32_t index;
  Shard shard;
  StageLayers stages;
  RotaryTable rotary;
  RowMemory memory;
  Owned arena;
  Owned scratch;
  Owned transfers;
  std::map<Tensor, DeviceAddress> incoming;
  std::map<Tensor, DeviceAddress> outgoing;
  std::map<std::pair<int, int>, BufferedLayer*> parameters;  // by replica and layer: who owns them
  std::map<WorkPiece, Layers> layers;
};

StageWork::StageWork(WorkDevice& device, const Schedule& schedule, std::int32_t index, const StagedModel& model) {
  check_model(model, schedule);
  state_ = std::make_unique<State>(device, schedule, index, model);
}

StageWork::~StageWork() = default;

void StageWork::run(const Op& op) {
  const auto found = state_->layers.find({op.stage, op.microbatch});
  if (found == state_->layers.end()) throw std::logic_error(to_string(op) + " is not of this device");
  Layers& layers = found->second;
  if (op.kind == OpKind::kForward) {
    for (const auto& layer : layers) layer->run(Pass::kForward);
    return;
  }
  // NOLINTNEXTLINE(modernize-loop-convert): std::views::reverse needs clang 15
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (op.kind != OpKind::kWeightGrad) (*layer)->run(Pass::kInputGrad);
    if (op.kind != OpKind::kInputGrad) (*layer)->run(Pass::kWeightGrad);
  }
}

DeviceAddress StageWork::outgoing(const Tensor& tensor) const { return found_in(state_->outgoing, tensor); }
DeviceAddress StageWork::incoming(const Tensor& tensor) const { return found_in(state_->incoming, tensor); }
Bytes StageWork::payload_bytes() const { return state_->payload(); }
Bytes StageWork::tensor_bytes() const { return state_->tensor(); }
Bytes StageWork::chain_offset() const { return Arena::rounded(state_->payload()); }

StageCost StageWork::memory_of(std::int32_t stage) const {
  StageCost cost = state_->stages.memory(stage);
  for (Bytes* size : {&cost.activation, &cost.weight_grad_held, &cost.output, &cost.workspace}) {
    *size *= state_->schedule.pieces;
  }
  return cost;
}

Bytes StageWork::peak_activation() const { return state_->memory.peak_activation; }

Bytes StageWork::peak_memory() const {
  Bytes sum = state_->memory.high_water + state_->scratch.bytes() + state_->transfers.bytes();
  for (const auto& [key, layer] : state_->parameters) {
    const LayerMemory memory = layer->memory();
    sum += memory.parameters + memory.gradients;
  }
  return sum;
}

Bytes StageWork::transfer_buffers() const { return state_->transfers.bytes(); }
Bytes StageWork::arena_gaps() const { return state_->memory.extent - state_->memory.high_water; }

}  // namespace debubble::live
