// All cuts of so many layers into non-empty stages: the best of them is what a cut is compared with.
#pragma once

#include <functional>
#include <vector>

namespace debubble::testing {

inline void for_each_cut(int layers, int stages, const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> cut;
  const std::function<void(int)> next = [&](int left) {
    const int more = stages - static_cast<int>(cut.size());
    if (more == 0) {
      if (left == 0) visit(cut);
      return;
    }
    for (int take = 1; take + more - 1 <= left; ++take) {
      cut.push_back(take);
      next(left - take);
      cut.pop_back();
    }
  };
  next(layers);
}

}  // namespace debubble::testing
