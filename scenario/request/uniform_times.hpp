// --times: what the stages cost where there is no profile.
#pragma once

#include <string_view>

#include "cost_models/uniform.hpp"

namespace debubble {

// "f=1,i=1,w=1", "f=1,b=2", with "fb=1.5" for an overlapped pair, "r=1" for a recomputation and "s=1,t=1" for the
// passes of one device's shard of the output layer; in toy units, or with units of their own. A key that is absent
// keeps its default; of i and w, what is absent follows from b: half of it, or what the other leaves. `weight_share` is
// not touched. All problems of the list are thrown at once.
[[nodiscard]] UniformTimes parse_times(std::string_view text, std::string_view place);

}  // namespace debubble
