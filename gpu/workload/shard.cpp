#include "gpu/workload/shard.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kVocabularyMultiple = 128;

// What one tensor may have at most: 2^44 elements, far beyond any GPU, far within 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 44;

class Problems {
 public:
  explicit Problems(std::string model) : model_(std::move(model)) {}

  void add(const char* code, std::string message, std::string help) {
    diagnostics_.push_back({code, model_, std::move(message), std::move(help)});
  }
  [[nodiscard]] bool empty() const { return diagnostics_.empty(); }
  void throw_if_any() {
    if (!diagnostics_.empty()) throw InputError(std::move(diagnostics_));
  }

 private:
  std::string model_;
  std::vector<Diagnostic> diagnostics_;
};

struct NamedSize {
  const char* name;
  std::int64_t value;
};

void check_shard_range(const TransformerShape& shape, const WorkloadSize& size, Problems& problems) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::array<NamedSize, 10> sizes{{{"layers", shape.layers},
                                         {"hidden", shape.hidden},
                                         {"heads", shape.heads},
                                         {"key/value heads", shape.kv_heads},
                                         {"head size", shape.head_size},
                                         {"feed-forward width", shape.feed_forward},
                                         {"vocabulary", shape.vocabulary},
                                         {"microbatch", size.microbatch},
                                         {"sequence", size.sequence},
                                         {"tensor parallelism", size.tensor_parallel}}};
  for (const NamedSize& item : sizes) {
    if (item.value >= 1 && item.value <= kMost) continue;
    problems.add("F001", std::string(item.name) + " must be from 1 to 2^24; got " + std::to_string(item.value),
                 "sizes are counts: of layers, of numbers, of samples, of tokens, of devices");
  }
  if (shape.positions < 0 || shape.positions > kMost) {
    problems.add("F001", "positions must be from 0 to 2^24; got " + std::to_string(shape.positions),
                 "0 means rotary positions");
  }
}

void check_shard_heads(const TransformerShape& shape, Problems& problems) {
  if (shape.heads % shape.kv_heads == 0) return;
  problems.add(
      "F003",
      std::to_string(shape.kv_heads) + " key/value heads cannot serve " + std::to_string(shape.heads) + " heads evenly",
      "the number of heads must be a multiple of the number of key/value heads");
}

void check_division(const TransformerShape& shape, const WorkloadSize& size, Problems& problems) {
  const std::array<NamedSize, 3> divided{
      {{"heads", shape.heads}, {"key/value heads", shape.kv_heads}, {"feed-forward width", shape.feed_forward}}};
  for (const NamedSize& item : divided) {
    if (item.value % size.tensor_parallel == 0) continue;
    problems.add("F003",
                 "--tp " + std::to_string(size.tensor_parallel) + " does not divide the " + item.name + ", " +
                     std::to_string(item.value),
                 "choose a divisor of all three: heads, key/value heads, feed-forward width");
  }
}

void check_alignment(const TransformerShape& shape, const WorkloadSize& size, Problems& problems) {
  const auto check = [&problems](const std::string& name, std::int64_t value, std::int64_t multiple) {
    if (value % multiple == 0) return;
    problems.add("F003", name + " must be a multiple of " + std::to_string(multiple) + "; got " + std::to_string(value),
                 "the kernels, and the tensor cores, take rows 16 bytes at a time");
  };
  check("hidden", shape.hidden, 8);
  check(shape.positions == 0 ? "the head size of rotary positions" : "head size", shape.head_size,
        shape.positions == 0 ? 16 : 8);
  if (shape.feed_forward % size.tensor_parallel == 0) {
    check("each device's feed-forward width", shape.feed_forward / size.tensor_parallel, 8);
  }
}

void check_positions(const TransformerShape& shape, const WorkloadSize& size, Problems& problems) {
  if (shape.positions == 0 || size.sequence <= shape.positions) return;
  problems.add("F002",
               "a sequence of " + std::to_string(size.sequence) + " tokens, but the model has " +
                   std::to_string(shape.positions) + " positions",
               "give --sequence " + std::to_string(shape.positions) + " or less");
}

Shard divide(const TransformerShape& shape, const WorkloadSize& size) {
  Shard shard;
  shard.type = size.type;
  shard.samples = size.microbatch;
  shard.sequence = size.sequence;
  shard.hidden = shape.hidden;
  shard.groups = shape.kv_heads / size.tensor_parallel;
  shard.queries = shape.heads / shape.kv_heads;
  shard.head_size = shape.head_size;
  shard.feed_forward = shape.feed_forward / size.tensor_parallel;
  const std::int64_t padding = kVocabularyMultiple * size.tensor_parallel;
  shard.all_vocabulary = (shape.vocabulary + padding - 1) / padding * padding;
  shard.vocabulary = shard.all_vocabulary / size.tensor_parallel;
  shard.positions = shape.positions;
  shard.norm = shape.norm;
  shard.activation = shape.activation;
  shard.gated = shape.gated;
  shard.biases = shape.biases;
  shard.qkv_biases = shape.biases || shape.qkv_biases;
  return shard;
}

// Every factor is at most 2^26 here, so two of them never overflow.
void check_total(const Shard& shard, Problems& problems) {
  const auto too_many = [](std::int64_t a, std::int64_t b) { return a > kMostElements / b; };
  const std::int64_t heads = shard.groups * shard.queries;
  bool wrong = too_many(shard.tokens(), 2 * shard.feed_forward) || too_many(shard.tokens(), shard.vocabulary) ||
               too_many(shard.tokens(), shard.hidden) || too_many(heads + 2 * shard.groups, shard.head_size) ||
               too_many(shard.tokens(), shard.score_leading());
  wrong = wrong || too_many(shard.tokens(), shard.qkv_width()) || too_many(shard.qkv_width(), shard.hidden) ||
          too_many(shard.tokens() * shard.score_leading(), heads);
  if (!wrong) return;
  problems.add("X005", "a tensor of these sizes would have more than 2^44 elements",
               "give a smaller --microbatch-size or --sequence");
}

}  // namespace

Shard shard_of(const TransformerShape& shape, const WorkloadSize& size) {
  Problems problems(shape.name);
  check_shard_range(shape, size, problems);
  problems.throw_if_any();
  check_shard_heads(shape, problems);
  check_division(shape, size, problems);
  check_alignment(shape, size, problems);
  check_positions(shape, size, problems);
  problems.throw_if_any();
  Shard shard = divide(shape, size);
  check_total(shard, problems);
  problems.throw_if_any();
  return shard;
}

}  // namespace debubble
