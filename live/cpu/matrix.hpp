// Matmul on one core: OpenBLAS where it is installed, our own where it is not.
#pragma once

#include <string>

namespace debubble::live {

class MatmulLibrary {
 public:
  // Loads OpenBLAS (libopenblas.so.0) when first called. Any thread.
  [[nodiscard]] static const MatmulLibrary& best();
  [[nodiscard]] static MatmulLibrary own();

  [[nodiscard]] const std::string& name() const { return name_; }  // "OpenBLAS 0.3.21"

  enum class Form { kPlain, kTransposed };
  // c (m x n) = a (m x k) times b (k x n), row-major; `add`: plus what c was. A transposed factor is stored as its
  // transpose. Any thread, each with its own c.
  void multiply(Form a_form, Form b_form, int m, int n, int k, const float* a, const float* b, bool add,
                float* c) const;

 private:
  // cblas_sgemm with CBLAS's numbers for its enums.
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                         int lda, const float* b, int ldb, float beta, float* c, int ldc);

  MatmulLibrary() = default;
  [[nodiscard]] static MatmulLibrary load();

  Sgemm sgemm_ = nullptr;
  std::string name_;
};

}  // namespace debubble::live
