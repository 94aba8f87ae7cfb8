// CUDA's words for a host compiler, so that the kernels' own text can be compiled here (host_kernels_*.cpp).
//
// The names are CUDA's, reserved as they are.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "tests/workload/block_runner.hpp"

#define KERNEL(name) static void name
#define DEVICE static inline
#define DEVICE_TEMPLATE static inline
#define DEVICE_MEMBER static inline
#define __shared__ static

namespace debubble::test {

struct ShimIndex {
  unsigned x = 0;
};

struct ShimThread {
  struct Number {
    operator unsigned() const {
      return static_cast<unsigned>(BlockRunner::current());
    }  // NOLINT(google-explicit-constructor)
  } x;
};

inline ShimThread threadIdx;
inline ShimIndex blockIdx;
inline ShimIndex blockDim;
inline ShimIndex gridDim;

// A factor that a test can set to make one function wrong; 1 leaves it right.
inline float shim_rsqrt_factor = 1.0F;
inline float shim_exp_factor = 1.0F;
inline float shim_tanh_factor = 1.0F;

// The GPU's clock: when the kernel began, and how far each reading moves it.
inline unsigned long long shim_time = 0;
inline unsigned long long shim_time_step = 0;

inline void __syncthreads() { BlockRunner::barrier(); }

// Two tables in turn: who writes the next value cannot destroy one that another thread has yet to read.
inline float __shfl_xor_sync(unsigned /*mask*/, float value, int distance) {
  static std::array<std::array<float, 1024>, 2> values;
  static std::array<unsigned char, 1024> turns;
  const auto self = static_cast<std::size_t>(BlockRunner::current());
  std::array<float, 1024>& table = values[turns[self]];
  turns[self] ^= 1U;
  table[self] = value;
  BlockRunner::barrier();
  return table[self ^ static_cast<std::size_t>(distance)];
}

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline void atomicAdd(float* to, float value) { *to += value; }
inline void atomicAdd(unsigned long long* to, unsigned long long value) { *to += value; }

inline float rsqrtf(float x) { return shim_rsqrt_factor / std::sqrt(x); }
inline float expf(float x) { return shim_exp_factor * std::exp(x); }
inline float tanhf(float x) { return shim_tanh_factor * std::tanh(x); }

}  // namespace debubble::test
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
