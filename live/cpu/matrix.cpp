#include "live/cpu/matrix.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace debubble::live {

namespace {

// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." without what follows the version.
std::string blas_name(const char* config) {
  std::istringstream words(config);
  std::string name;
  std::string version;
  words >> name >> version;
  return name + " " + version;
}

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

constexpr int kBlock = 64;

// Rows of b are read in order, in blocks that stay in the cache; a(i, k) = a[i * row + k * column].
void multiply_blocked(int m, int n, int k, const float* a, std::ptrdiff_t row, std::ptrdiff_t column, const float* b,
                      float* c) {
  for (int block = 0; block < k; block += kBlock) {
    const int end = std::min(k, block + kBlock);
    for (int i = 0; i < m; ++i) {
      float* out = c + static_cast<std::ptrdiff_t>(i) * n;
      for (int x = block; x < end; ++x) {
        const float factor = a[i * row + x * column];
        const float* in = b + static_cast<std::ptrdiff_t>(x) * n;
        for (int j = 0; j < n; ++j) out[j] += factor * in[j];
      }
    }
  }
}

std::vector<float> transposed(const float* matrix, int rows, int columns) {
  std::vector<float> result(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      result[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)] =
          matrix[static_cast<std::ptrdiff_t>(i) * columns + j];
    }
  }
  return result;
}

}  // namespace

const MatmulLibrary& MatmulLibrary::best() {
  static const MatmulLibrary matmul = load();
  return matmul;
}

MatmulLibrary MatmulLibrary::own() {
  MatmulLibrary matmul;
  matmul.name_ = "debubble's own matmul (no OpenBLAS found)";
  return matmul;
}

MatmulLibrary MatmulLibrary::load() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // before it starts its threads: a device is one core
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return own();
  MatmulLibrary matmul;
  matmul.sgemm_ = find<Sgemm>(library, "cblas_sgemm");
  const auto config = find<const char* (*)()>(library, "openblas_get_config");
  const auto set_threads = find<void (*)(int)>(library, "openblas_set_num_threads");
  if (matmul.sgemm_ == nullptr || config == nullptr || set_threads == nullptr) return own();
  set_threads(1);
  matmul.name_ = blas_name(config());
  return matmul;
}

void MatmulLibrary::multiply(Form a_form, Form b_form, int m, int n, int k, const float* a, const float* b, bool add,
                             float* c) const {
  const bool turn_a = a_form == Form::kTransposed;
  const bool turn_b = b_form == Form::kTransposed;
  if (sgemm_ != nullptr) {
    constexpr int kRowMajor = 101;
    constexpr int kPlainFactor = 111;
    sgemm_(kRowMajor, kPlainFactor + (turn_a ? 1 : 0), kPlainFactor + (turn_b ? 1 : 0), m, n, k, 1.0F, a,
           turn_a ? m : k, b, turn_b ? k : n, add ? 1.0F : 0.0F, c, n);
    return;
  }
  if (!add) std::fill(c, c + static_cast<std::ptrdiff_t>(m) * n, 0.0F);
  const std::vector<float> turned = turn_b ? transposed(b, n, k) : std::vector<float>{};
  multiply_blocked(m, n, k, a, turn_a ? 1 : k, turn_a ? m : 1, turn_b ? turned.data() : b, c);
}

}  // namespace debubble::live
