#include "live/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/op.hpp"

namespace debubble::live {

namespace {

constexpr std::uint64_t kSeed = 0x6465627562626c65;  // of what enters the pipeline at either end

std::uint64_t identity(char kind, std::int32_t stage, std::int32_t piece, std::int32_t iteration) {
  std::uint64_t name = mix(kSeed, static_cast<std::uint64_t>(kind));
  for (const std::int32_t part : {stage, piece, iteration}) name = mix(name, static_cast<std::uint64_t>(part));
  return name;
}

}  // namespace

// The finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
std::uint64_t mix(std::uint64_t chain, std::uint64_t value) {
  std::uint64_t z = chain * 0x9e3779b97f4a7c15 + value + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t pipeline_end_chain() { return kSeed; }

std::uint64_t forward_chain(std::uint64_t input, std::int32_t stage, std::int32_t piece, std::int32_t iteration) {
  return mix(input, identity('F', stage, piece, iteration));
}

std::uint64_t backward_chain(std::uint64_t gradient, std::uint64_t forward, std::int32_t stage, std::int32_t piece,
                             std::int32_t iteration) {
  return mix(mix(gradient, forward), identity('B', stage, piece, iteration));
}

std::uint64_t weight_chain(std::uint64_t backward) { return mix(backward, 'W'); }

std::uint64_t expected_chain(const Schedule& schedule, const Tensor& tensor, std::int32_t iteration) {
  const std::int32_t last = tensor.gradient ? schedule.stages - 1 : tensor.stage;
  std::vector<std::uint64_t> forward;
  for (std::int32_t stage = 0; stage <= last; ++stage) {
    forward.push_back(forward_chain(stage == 0 ? kSeed : forward.back(), stage, tensor.piece, iteration));
  }
  if (!tensor.gradient) return forward.back();
  std::uint64_t chain = kSeed;
  for (std::int32_t stage = last; stage > tensor.stage; --stage) {
    chain = backward_chain(chain, at(forward, stage), stage, tensor.piece, iteration);
  }
  return chain;
}

std::uint64_t expected_weight_chain(const Schedule& schedule, std::int32_t replica, std::int32_t stage,
                                    std::int32_t iteration) {
  std::uint64_t sum = 0;
  for (std::int32_t piece = 0; piece < schedule.total_pieces(); ++piece) {
    if (at(schedule.replica_of, piece) != replica) continue;
    sum += weight_chain(expected_chain(schedule, {true, stage - 1, piece}, iteration));
  }
  return sum;
}

// Four sums side by side: one multiplication need not wait for the last.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kLanes = 4;
  std::array<std::uint64_t, kLanes> sums{kSeed, kSeed + 1, kSeed + 2, kSeed + 3};
  std::size_t lane = 0;
  for (std::size_t k = 0; k < bytes.size(); k += sizeof(std::uint64_t), lane = (lane + 1) % kLanes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + k, std::min(sizeof(word), bytes.size() - k));
    sums[lane] = (sums[lane] ^ word) * 0x9e3779b97f4a7c15;
    sums[lane] ^= sums[lane] >> 29;
  }
  std::uint64_t sum = mix(kSeed, bytes.size());
  for (const std::uint64_t each : sums) sum = mix(sum, each);
  return sum;
}

}  // namespace debubble::live
