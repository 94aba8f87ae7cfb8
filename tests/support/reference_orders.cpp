#include "tests/support/reference_orders.hpp"

#include <algorithm>
#include <utility>

namespace debubble::reference {
namespace {

constexpr OpKind kF = OpKind::kForward;
constexpr OpKind kB = OpKind::kBackward;
constexpr OpKind kI = OpKind::kInputGrad;
constexpr OpKind kW = OpKind::kWeightGrad;

// Op in a slot of time in which every op takes one slot.
struct Slotted {
  int slot = 0;
  Op op;
};

std::vector<Op> by_slot(std::vector<Slotted> ops) {
  std::sort(ops.begin(), ops.end(), [](const Slotted& a, const Slotted& b) { return a.slot < b.slot; });
  std::vector<Op> row;
  for (const Slotted& each : ops) row.push_back(each.op);
  return row;
}

// How many microbatches each pipe gets in a unit of n: evenly, down pipes first where it does not come out even.
std::vector<int> shares(int n, int f) {
  std::vector<int> share(static_cast<std::size_t>(2 * f), n / (2 * f));
  int rest = n % (2 * f);
  for (int j = 0; rest > 0; ++j) {
    for (const int pipe : {j, f + j}) {
      if (rest-- > 0) ++share[static_cast<std::size_t>(pipe)];
    }
  }
  return share;
}

}  // namespace

Op make_op(OpKind kind, int stage, int microbatch) {
  Op op;
  op.kind = kind;
  op.stage = stage;
  op.microbatch = microbatch;
  return op;
}

Rows gpipe_rows(int p, int m, bool descending) {
  Rows rows(static_cast<std::size_t>(p));
  for (int d = 0; d < p; ++d) {
    auto& row = rows[static_cast<std::size_t>(d)];
    for (int i = 0; i < m; ++i) row.push_back(make_op(kF, d, i));
    for (int i = 0; i < m; ++i) row.push_back(make_op(kB, d, descending ? m - 1 - i : i));
  }
  return rows;
}

Rows one_f_one_b_rows(int p, int m) {
  Rows rows(static_cast<std::size_t>(p));
  for (int d = 0; d < p; ++d) {
    auto& row = rows[static_cast<std::size_t>(d)];
    const int w = std::min(p - 1 - d, m);
    for (int i = 0; i < w; ++i) row.push_back(make_op(kF, d, i));
    for (int i = 0; i < m - w; ++i) {
      row.push_back(make_op(kF, d, w + i));
      row.push_back(make_op(kB, d, i));
    }
    for (int i = m - w; i < m; ++i) row.push_back(make_op(kB, d, i));
  }
  return rows;
}

Rows interleaved_rows(int p, int m, int v, int g) {
  std::vector<std::pair<int, int>> table;  // (microbatch, chunk)
  for (int base = 0; base < m; base += g) {
    for (int c = 0; c < v; ++c) {
      for (int i = base; i < std::min(base + g, m); ++i) table.emplace_back(i, c);
    }
  }
  Rows rows(static_cast<std::size_t>(p));
  for (int d = 0; d < p; ++d) {
    auto& row = rows[static_cast<std::size_t>(d)];
    const auto emit = [&](OpKind kind, int k) {
      const auto [i, c] = table[static_cast<std::size_t>(k)];
      row.push_back(make_op(kind, (kind == kF ? c : v - 1 - c) * p + d, i));
    };
    const int total = m * v;
    const int w = std::min(2 * (p - 1 - d) + (v - 1) * g, total);
    for (int k = 0; k < w; ++k) emit(kF, k);
    for (int k = 0; k < total - w; ++k) {
      emit(kF, w + k);
      emit(kB, k);
    }
    for (int k = total - w; k < total; ++k) emit(kB, k);
  }
  return rows;
}

Rows chimera_rows(int devices, int m, int f) {
  const int D = devices;
  std::vector<std::vector<Slotted>> slotted(static_cast<std::size_t>(D));
  std::vector<int> total(static_cast<std::size_t>(2 * f), 0);
  for (int left = m; left > 0; left -= D) {
    const auto share = shares(std::min(left, D), f);
    for (std::size_t j = 0; j < share.size(); ++j) total[j] += share[j];
  }
  int first_of_pipe = 0;
  for (int pipe = 0; pipe < 2 * f; ++pipe) {
    int index = first_of_pipe;
    for (int unit = 0; unit * D < m; ++unit) {
      const int n = shares(std::min(m - unit * D, D), f)[static_cast<std::size_t>(pipe)];
      for (int k = 0; k < n; ++k, ++index) {
        for (int s = 0; s < D; ++s) {
          const int shift = (pipe % f) * (D / f);
          const int device = (shift + (pipe < f ? s : D - 1 - s)) % D;
          auto& on_device = slotted[static_cast<std::size_t>(device)];
          on_device.push_back({unit * 2 * D + 2 * k + s, make_op(kF, s, index)});
          on_device.push_back({unit * 2 * D + 2 * k + D + (D - 1 - s), make_op(kB, s, index)});
        }
      }
    }
    first_of_pipe += total[static_cast<std::size_t>(pipe)];
  }
  Rows rows;
  for (auto& on_device : slotted) rows.push_back(by_slot(std::move(on_device)));
  return rows;
}

namespace {

// One device of the published block form: "main" is the pipe that enters on this half, "other" the opposite one.
class DoublingRow {
 public:
  DoublingRow(int devices, int m, int device, bool fused)
      : main_(device < devices / 2 ? 0 : 1), device_(device), devices_(devices), m_(m), fused_(fused) {}

  void forward_pair(bool other) {
    const int pipe = other ? 1 - main_ : main_;
    for (int half = 0; half < 2; ++half) {
      Op op = make_op(kF, stage(pipe), pipe * m_ / 2 + forwards_[pipe]++);
      op.paired_with_next = fused_ && half == 0;
      row.push_back(op);
    }
  }
  void backward(bool other) {
    const int pipe = other ? 1 - main_ : main_;
    row.push_back(make_op(kB, stage(pipe), pipe * m_ / 2 + backwards_[pipe]++));
  }

  std::vector<Op> row;

 private:
  [[nodiscard]] int stage(int pipe) const { return pipe == 0 ? device_ : devices_ - 1 - device_; }

  int main_;
  int device_;
  int devices_;
  int m_;
  bool fused_;
  int forwards_[2] = {0, 0};
  int backwards_[2] = {0, 0};
};

}  // namespace

Rows chimera_doubling_rows(int devices, int m, bool fused) {
  const int D = devices;
  Rows rows;
  for (int d = 0; d < D; ++d) {
    DoublingRow on(D, m, d, fused);
    const int a = d < D / 2 ? D / 2 - d : d - D / 2 + 1;
    const int b = D / 2 - a;
    for (int u = 0; u < m / (2 * D); ++u) {
      for (int n = 0; n < a; ++n) {
        if (u > 0) on.backward(false);
        on.forward_pair(false);
      }
      for (int n = 0; n < b; ++n) {
        on.forward_pair(true);
        on.forward_pair(false);
      }
      for (int n = 0; n < a; ++n) {
        on.forward_pair(true);
        on.backward(true);
      }
      for (int n = 0; n < D - a; ++n) {
        on.backward(false);
        on.backward(true);
      }
    }
    for (int n = 0; n < a; ++n) on.backward(false);
    rows.push_back(on.row);
  }
  return rows;
}

Rows zb_h1_rows(int p, int m) {
  Rows rows(static_cast<std::size_t>(p));
  for (int d = 0; d < p; ++d) {
    auto& row = rows[static_cast<std::size_t>(d)];
    const int warm = std::min(p - 1 - d, m);
    int next_weight = 0;
    for (int i = 0; i < warm; ++i) row.push_back(make_op(kF, d, i));
    for (int j = 0; j < m; ++j) {
      if (warm + j < m) row.push_back(make_op(kF, d, warm + j));
      row.push_back(make_op(kI, d, j));
      if (j >= d) row.push_back(make_op(kW, d, next_weight++));
    }
    while (next_weight < m) row.push_back(make_op(kW, d, next_weight++));
  }
  return rows;
}

}  // namespace debubble::reference
