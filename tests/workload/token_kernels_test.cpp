// The kernels that know tokens, positions and keys, each alone against plain loops in double.
#include "tests/support/test.hpp"
#include "tests/workload/kernel_bench.hpp"

namespace debubble {
namespace {

using test::Doubles;
using test::for_each_type;
using test::KernelBench;

constexpr DeviceAddress kTokenKernelsNone = 0;

std::size_t token_kernels_at(std::int64_t row, std::int64_t column, std::int64_t width) {
  return static_cast<std::size_t>(row * width + column);
}

TEST_CASE("embedding: lookup, tokens of another device, positions, and the gradients of both tables") {
  for_each_type([](DataType type) {
    for (const std::int64_t width : {8, 2120}) {
      KernelBench bench(type);
      constexpr std::int64_t kSamples = 2, kSequence = 3, kRows = 6, kVocabulary = 5;
      const std::vector<std::int32_t> tokens{4, 0, 4, 7, 1, 4};  // 7 is not in this part of the table
      Doubles word, place, g;
      const DeviceAddress ids = bench.integers(tokens);
      const DeviceAddress table = bench.random(kVocabulary * width, &word);
      const DeviceAddress positions = bench.random(kSequence * width, &place);
      const DeviceAddress dout = bench.random(kRows * width, &g);
      const DeviceAddress both = bench.room(kRows * width), bare = bench.room(kRows * width);
      const DeviceAddress dtable = bench.floats(Doubles(word.size(), 1.0));
      const DeviceAddress dplace = bench.floats(Doubles(place.size(), 1.0));
      const std::int32_t threads = row_threads(width, type);
      bench.launch("embedding_forward", 4, threads, ids, table, positions, both, kRows, kSamples, width, kVocabulary);
      bench.launch("embedding_forward", 4, threads, ids, table, kTokenKernelsNone, bare, kRows, kSamples, width,
                   kVocabulary);
      bench.launch("embedding_weight_grad", 4, threads, ids, dout, dtable, kRows, width, kVocabulary);
      bench.launch("position_weight_grad", 2, threads, dout, dplace, kSequence, kSamples, width);
      Doubles right, right_bare, right_table(word.size(), 1.0), right_place(place.size(), 1.0);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const std::int64_t token = tokens[static_cast<std::size_t>(row)];
        for (std::int64_t i = 0; i < width; ++i) {
          right_bare.push_back(token < kVocabulary ? word[token_kernels_at(token, i, width)] : 0);
          right.push_back(right_bare.back() + place[token_kernels_at(row / kSamples, i, width)]);
          if (token < kVocabulary) right_table[token_kernels_at(token, i, width)] += g[token_kernels_at(row, i, width)];
          right_place[token_kernels_at(row / kSamples, i, width)] += g[token_kernels_at(row, i, width)];
        }
      }
      CHECK(bench.close(bench.read_reals(both, kRows * width), right));
      CHECK(bench.close(bench.read_reals(bare, kRows * width), right_bare));
      CHECK(bench.close(bench.read_floats(dtable, kVocabulary * width), right_table, 0));
      CHECK(bench.close(bench.read_floats(dplace, kSequence * width), right_place, 0));
    }
  });
}

TEST_CASE("rotary positions turn queries and keys, leave values, and turn back") {
  for_each_type([](DataType type) {
    KernelBench bench(type);
    constexpr std::int64_t kSamples = 2, kRows = 6, kGroups = 2, kSlots = 4, kSize = 16, kHalf = 8;
    constexpr std::int64_t kWidth = kGroups * kSlots * kSize;
    Doubles x, cosines, sines;
    const DeviceAddress data = bench.random(kRows * kWidth, &x);
    for (int i = 0; i < kRows / kSamples * kHalf; ++i) {
      cosines.push_back(std::cos(0.3 * i));
      sines.push_back(std::sin(0.3 * i));
    }
    const DeviceAddress c = bench.floats(cosines), s = bench.floats(sines);
    const auto turn = [&](float direction) {
      bench.launch("rotary", 4, 32, data, c, s, kRows, kSamples, kGroups, kSlots, kSlots - 1, kSize, direction);
      return bench.read_reals(data, kRows * kWidth);
    };
    Doubles right = x;
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t slot = 0; slot < kGroups * kSlots; ++slot) {
        for (std::int64_t i = 0; slot % kSlots < kSlots - 1 && i < kHalf; ++i) {
          const std::size_t low = token_kernels_at(row, slot * kSize + i, kWidth);
          const double angle = 0.3 * static_cast<double>(row / kSamples * kHalf + i);
          right[low] = x[low] * std::cos(angle) - x[low + kHalf] * std::sin(angle);
          right[low + kHalf] = x[low + kHalf] * std::cos(angle) + x[low] * std::sin(angle);
        }
      }
    }
    CHECK(bench.close(turn(1.0F), right));
    const Doubles back = turn(-1.0F);  // two roundings, the first of numbers up to sqrt(2) times as large
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(back[i] - x[i]) < 16 * unit_roundoff(type));
  });
}

// Probabilities of the keys 0 to the query, from scores.
Doubles softmax(const Doubles& scores, std::int64_t row, std::int64_t sequence, std::int64_t leading, double scale) {
  Doubles p(static_cast<std::size_t>(leading));
  double total = 0;
  double largest = -1e300;
  for (std::int64_t key = 0; key <= row % sequence; ++key)
    largest = std::max(largest, scores[token_kernels_at(row, key, leading)]);
  for (std::int64_t key = 0; key <= row % sequence; ++key) {
    p[static_cast<std::size_t>(key)] = std::exp(scale * (scores[token_kernels_at(row, key, leading)] - largest));
    total += p[static_cast<std::size_t>(key)];
  }
  for (double& number : p) number /= total;
  return p;
}

void check_softmax(DataType type, std::int64_t sequence, std::int64_t matrices, double deviation) {
  KernelBench bench(type);
  const std::int64_t leading = (sequence + 7) / 8 * 8;
  const std::int64_t rows = matrices * sequence;
  constexpr double kScale = 0.25;
  Doubles scores, dp;
  const DeviceAddress data = bench.random(rows * leading, &scores, 0, deviation);
  const DeviceAddress grads = bench.random(rows * leading, &dp);
  // What stands behind the mask, or behind the row, must never count.
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t key = row % sequence + 1; key < leading; ++key) {
      scores[token_kernels_at(row, key, leading)] = dp[token_kernels_at(row, key, leading)] = std::nan("");
    }
  }
  upload_numbers(bench.device, data, scores, type);
  upload_numbers(bench.device, grads, dp, type);
  const std::int32_t threads = row_threads(sequence, type);
  bench.launch("causal_softmax_forward", 5, threads, data, data, rows, sequence, leading, static_cast<float>(kScale));
  const Doubles p = bench.read_reals(data, rows * leading);
  bench.launch("causal_softmax_backward", 5, threads, data, grads, grads, rows, sequence, leading,
               static_cast<float>(kScale));
  Doubles right, right_grad;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Doubles exact = softmax(scores, row, sequence, leading, kScale);
    right.insert(right.end(), exact.begin(), exact.end());
    double average = 0;  // of the kernel's own, rounded probabilities
    for (std::int64_t key = 0; key <= row % sequence; ++key)
      average += p[token_kernels_at(row, key, leading)] * dp[token_kernels_at(row, key, leading)];
    for (std::int64_t key = 0; key < leading; ++key) {
      const bool seen = key <= row % sequence;
      right_grad.push_back(seen ? kScale * p[token_kernels_at(row, key, leading)] *
                                      (dp[token_kernels_at(row, key, leading)] - average)
                                : 0);
    }
  }
  CHECK(bench.close(p, right, 2));
  CHECK(bench.close(bench.read_reals(grads, rows * leading), right_grad, 2));
}

TEST_CASE("causal softmax and its gradient, in place, with rows that end within a pack") {
  for_each_type([](DataType type) {
    check_softmax(type, 1, 2, 1);
    check_softmax(type, 13, 3, 1);
    check_softmax(type, 16, 1, 200);  // one key takes all
    check_softmax(type, 530, 1, 1);
  });
}

void check_cross_entropy(DataType type, std::int64_t width, double deviation) {
  KernelBench bench(type);
  constexpr std::int64_t kRows = 3;
  const auto last = static_cast<std::int32_t>(width - 1);
  const std::vector<std::int32_t> targets{last, 0, last + 5};  // the last one is another device's
  Doubles logits;
  const DeviceAddress data = bench.random(kRows * width, &logits, 0, deviation);
  const DeviceAddress ids = bench.integers(targets);
  const DeviceAddress loss = bench.room(kRows), log_sum = bench.room(kRows);
  const std::int32_t threads = row_threads(width, type);
  bench.launch("cross_entropy_forward", 2, threads, data, ids, loss, log_sum, kRows, width);
  bench.launch("cross_entropy_backward", 2, threads, data, ids, log_sum, data, kRows, width, 0.5F);
  Doubles right_loss, right_sum, right_grad;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const std::int64_t target = targets[static_cast<std::size_t>(row)];
    double largest = -1e300;
    for (std::int64_t i = 0; i < width; ++i) largest = std::max(largest, logits[token_kernels_at(row, i, width)]);
    double total = 0;
    for (std::int64_t i = 0; i < width; ++i) total += std::exp(logits[token_kernels_at(row, i, width)] - largest);
    right_sum.push_back(largest + std::log(total));
    right_loss.push_back(right_sum.back() - (target < width ? logits[token_kernels_at(row, target, width)] : 0));
    for (std::int64_t i = 0; i < width; ++i) {
      right_grad.push_back(
          0.5 * (std::exp(logits[token_kernels_at(row, i, width)] - right_sum.back()) - (i == target ? 1 : 0)));
    }
  }
  CHECK(bench.close(bench.read_floats(loss, kRows), right_loss, 0));
  CHECK(bench.close(bench.read_floats(log_sum, kRows), right_sum, 0));
  // The exponent's own rounding counts: log_sum is fp32.
  CHECK(bench.close(bench.read_reals(data, kRows * width), right_grad, type == DataType::kFp32 ? 80 : 1.5));
}

TEST_CASE("cross-entropy and its gradient, in place") {
  for_each_type([](DataType type) {
    for (const std::int64_t width : {8, 128, 2120, 6000}) check_cross_entropy(type, width, 1);
    check_cross_entropy(type, 264, 30);
  });
}

}  // namespace
}  // namespace debubble
