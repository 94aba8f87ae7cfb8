// Alternatives: the values that a sweep tries for a flag, as people type them.
//
//     --tp 1,2,4                       1, 2, 4
//     -m 8:64:*2                       8, 16, 32, 64: from, to, and what leads from one to the next
//     -p 2:8:+2  --seed 1:3            2, 4, 6, 8;  1, 2, 3
//     --comm 0.1:0.3:+0.1,1            0.1, 0.2, 0.3, 1
//     --memory "40GiB:80GiB:+20GiB"    40GiB, 60GiB, 80GiB: both ends have one unit
//     --times "f=1,b=2; f=1,b=3"       where a value may have commas of its own, semicolons separate
//     --param "group=4; 8; 12:16:+2"   group=4, group=8, group=12, group=14, group=16
//
// A semicolon separates everywhere, and where there is one, no comma does: a file's name may have a comma ("a,b.csv;").
// What is not a number, a colon and a number is no range: dgx-h100:8, lognormal:0.05 and device=3:1.25 are single
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble {

// A range or list of more values than this is refused.
inline constexpr int kMostAlternatives = 1'000'000;

// In the order of typing, at least one. Of a switch, "true" and "false". Throws InputError: C006 for an empty item, a
// range that does not rise, or a step that does not lead to its end; C007 for a value that is there twice; C012 for
// more than kMostAlternatives. Whether the flag takes the values is not looked at.
[[nodiscard]] std::vector<std::string> alternatives_of(const Flag& flag, std::string_view text);

}  // namespace debubble
