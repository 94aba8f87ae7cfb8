// Independent work on all cores, with the same result on any number of them.
#pragma once

#include <cstddef>
#include <functional>

namespace debubble {

// As many as there are cores, or `asked` where that is not 0; never more than `pieces`.
[[nodiscard]] int threads_for(std::size_t pieces, int asked);

// Calls `work(k)` once for each k below `count`, on that many threads, in any order; each call writes its own place. Of
// what they throw, the exception of the lowest k comes out, when all have ended.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace debubble
