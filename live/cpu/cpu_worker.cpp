#include "live/cpu/cpu_worker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "live/checksum.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

constexpr std::size_t kFloat = sizeof(float);

// Numbers in [-1, 1) times `scale`, the same on every machine.
void fill(std::vector<float>& values, std::size_t count, std::uint64_t seed, float scale) {
  for (std::size_t k = 0; k < count; ++k) {
    seed = mix(seed, k);
    values[k] = (static_cast<float>(seed >> 40) / static_cast<float>(1 << 23) - 1.0F) * scale;
  }
}

// memcpy, which must not get the null of an empty buffer even for no bytes.
void copy_bytes(void* to, const std::byte* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count);
}

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

}  // namespace

CpuWorker::CpuWorker(const Job& job, std::int32_t device, const WorkShape& shape, const MatmulLibrary& matmul)
    : job_(job), shape_(shape), matmul_(matmul) {
  const auto side = static_cast<std::size_t>(shape.hidden);
  const std::size_t block = side * static_cast<std::size_t>(shape.block_rows);
  for (Buffer* each : {&pattern_, &left_, &right_, &result_}) each->assign(block, 0.0F);
  fill(pattern_, block, 1, 1.0F);
  left_ = right_ = pattern_;
  for (const Job::Resident& each : job.residents(device)) {
    Weights& weights = weights_[each.stage];
    weights.values.resize(std::max(weights.values.size() + floats(each.bytes), side * side));
    fill(weights.values, side * side, static_cast<std::uint64_t>(each.stage),
         std::sqrt(3.0F / static_cast<float>(side)));
    weights.gradient.assign(side * side, 0.0F);
  }
}

void CpuWorker::start(Ledger& ledger) {
  ledger_ = &ledger;
  for (auto& [stage, weights] : weights_) std::fill(weights.gradient.begin(), weights.gradient.end(), 0.0F);
}

void CpuWorker::begin(const Op& op) {
  const StageCost& cost = job_.cost(op);
  const Key key{op.stage, op.microbatch};
  workspaces_[key] = take_buffer(job_.piece(cost.workspace));
  ledger_->change_other(job_.piece(cost.workspace));
  if (op.kind != OpKind::kForward) return;
  activations_[key] = take_buffer(job_.piece(cost.activation));
  ledger_->change_activation(job_.piece(cost.activation));
}

void CpuWorker::end(const Op& op) {
  const StageCost& cost = job_.cost(op);
  const Key key{op.stage, op.microbatch};
  give_back(workspaces_, key);
  ledger_->change_other(-job_.piece(cost.workspace));
  switch (op.kind) {
    case OpKind::kForward:
      break;
    case OpKind::kBackward:
    case OpKind::kInputGrad:
      give_back(activations_, key);
      ledger_->change_activation(-job_.piece(cost.activation));
      if (op.kind == OpKind::kInputGrad) ledger_->change_activation(job_.piece(cost.weight_grad_held));
      break;
    case OpKind::kWeightGrad:
      give_back(held_, key);
      ledger_->change_activation(-job_.piece(cost.weight_grad_held));
      break;
    case OpKind::kRecompute:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      break;  // no plan holds them
  }
}

Payload CpuWorker::work(const Op& op, std::span<const std::byte> input) {
  const Key key{op.stage, op.microbatch};
  const Rows rows = rows_of(op);
  switch (op.kind) {
    case OpKind::kForward: {
      Buffer& activation = activations_[key];
      const std::span<const std::byte> from = input.empty() ? bytes_of(pattern_) : input;
      copy_bytes(activation.data(), from.data(), std::min(from.size(), bytes_of(activation).size()));
      return multiply(Matmul::kForward, op.stage, rows.input_or_forward, kept(activation, from), {});
    }
    case OpKind::kInputGrad: {
      Payload gradient = multiply(Matmul::kInputGrad, op.stage, rows.input_or_forward, input, {});
      keep_for_weight_grad(op, input);
      return gradient;
    }
    case OpKind::kBackward: {
      Payload gradient = multiply(Matmul::kInputGrad, op.stage, rows.input_or_forward, input, {});
      (void)multiply(Matmul::kWeightGrad, op.stage, rows.weight, kept(activations_[key], bytes_of(pattern_)), input);
      return gradient;
    }
    case OpKind::kWeightGrad: {
      const auto held = bytes_of(held_[key]);
      const auto half = held.first(held.size() / 2);
      return multiply(Matmul::kWeightGrad, op.stage, rows.weight, half, held.subspan(half.size()));
    }
    case OpKind::kRecompute:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      break;  // no plan holds them
  }
  return {};
}

void CpuWorker::try_out(Matmul which, std::int32_t stage, std::int64_t rows) {
  (void)multiply(which, stage, rows, {}, {});
}

Payload CpuWorker::sample_output(std::int32_t stage) const {
  return Payload(floats(job_.piece(job_.request().costs.stages[to_index(stage)].output)) * kFloat);
}

std::size_t CpuWorker::floats(Bytes bytes) const {
  const Bytes part = shape_.divisor * static_cast<Bytes>(kFloat);
  return static_cast<std::size_t>(bytes / part + (bytes % part > 0 ? 1 : 0));
}

CpuWorker::Buffer CpuWorker::take_buffer(Bytes bytes) {
  const std::size_t size = floats(bytes);
  std::vector<Buffer>& list = free_[size];
  if (list.empty()) {
    Buffer zeros(size, 0.0F);
    return zeros;
  }
  Buffer buffer = std::move(list.back());
  list.pop_back();
  return buffer;
}

void CpuWorker::give_back(std::map<Key, Buffer>& from, const Key& key) {
  auto found = from.extract(key);
  if (!found.empty()) free_[found.mapped().size()].push_back(std::move(found.mapped()));
}

CpuWorker::Rows CpuWorker::rows_of(const Op& op) const {
  if (shape_.token) return {shape_.block_rows, shape_.block_rows};
  const auto found = rows_.find({op.kind, job_.nominal(op)});
  if (found == rows_.end()) return {};
  const auto slowed = [&](std::int64_t rows) {
    return std::llround(std::min(static_cast<double>(rows) * slowdown_, 1e18));
  };
  return {slowed(found->second.input_or_forward), slowed(found->second.weight)};
}

// The part of the activation buffer that holds what came in; what came in itself where the model keeps nothing.
std::span<const std::byte> CpuWorker::kept(const Buffer& activation, std::span<const std::byte> input) {
  if (activation.empty()) return input;
  return bytes_of(activation).first(std::min(bytes_of(activation).size(), input.size()));
}

// A W needs X and dY: half of what is held for it is of each.
void CpuWorker::keep_for_weight_grad(const Op& op, std::span<const std::byte> gradient) {
  const Key key{op.stage, op.microbatch};
  Buffer& held = held_[key];
  held = take_buffer(job_.piece(job_.cost(op).weight_grad_held));
  const Buffer& activation = activations_[key];
  const std::size_t half = held.size() / 2;
  std::copy_n(activation.begin(), std::min(half, activation.size()), held.begin());
  copy_bytes(held.data() + half, gradient.data(), std::min(gradient.size(), (held.size() - half) * kFloat));
}

// Multiplies that many rows of the sources, each repeated as often as needed, and writes the result, as far as there
// is room, into a tensor of the size of the neighbour's input.
Payload CpuWorker::multiply(Matmul which, std::int32_t stage, std::int64_t rows, std::span<const std::byte> left,
                            std::span<const std::byte> right) {
  Payload out;
  if (which == Matmul::kForward) out = sample_output(stage);
  if (which == Matmul::kInputGrad && stage > 0) out = sample_output(stage - 1);
  Weights& weights = weights_.at(stage);
  std::size_t left_at = 0;
  std::size_t right_at = 0;
  std::size_t written = 0;
  for (std::int64_t done = 0; done < rows; done += shape_.block_rows) {
    const auto count = static_cast<int>(std::min<std::int64_t>(shape_.block_rows, rows - done));
    load(left, left_at, left_);
    if (which == Matmul::kWeightGrad) load(right, right_at, right_);
    one_matmul(which, weights, count);
    if (which == Matmul::kWeightGrad) continue;
    const std::size_t made = static_cast<std::size_t>(count * shape_.hidden) * kFloat;
    const std::size_t room = std::min(out.size() - written, made);
    copy_bytes(out.data() + written, reinterpret_cast<const std::byte*>(result_.data()), room);
    written += room;
  }
  return out;
}

void CpuWorker::one_matmul(Matmul which, Weights& weights, int rows) {
  using Form = MatmulLibrary::Form;
  const int h = shape_.hidden;
  switch (which) {
    case Matmul::kForward:
      matmul_.multiply(Form::kPlain, Form::kPlain, rows, h, h, left_.data(), weights.values.data(), false,
                       result_.data());
      break;
    case Matmul::kInputGrad:
      matmul_.multiply(Form::kPlain, Form::kTransposed, rows, h, h, left_.data(), weights.values.data(), false,
                       result_.data());
      break;
    case Matmul::kWeightGrad:
      matmul_.multiply(Form::kTransposed, Form::kPlain, h, h, rows, left_.data(), right_.data(), true,
                       weights.gradient.data());
      break;
  }
}

// Fills an operand from the source, from `at` on, which moves on. A source smaller than the operand is repeated.
void CpuWorker::load(std::span<const std::byte> source, std::size_t& at, Buffer& operand) const {
  if (source.empty()) source = bytes_of(pattern_);
  auto* to = reinterpret_cast<std::byte*>(operand.data());
  const std::size_t size = operand.size() * kFloat;
  if (source.size() < size) {
    if (at > 0) return;  // it is there already
    at = source.size();
    std::memcpy(to, source.data(), at);
    for (std::size_t done = at; done < size; done *= 2) std::memcpy(to + done, to, std::min(done, size - done));
    return;
  }
  const std::size_t first = std::min(size, source.size() - at);
  std::memcpy(to, source.data() + at, first);
  std::memcpy(to + first, source.data(), size - first);
  at = (at + size) % source.size();
}

}  // namespace debubble::live
