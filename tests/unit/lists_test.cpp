// Small things that many parts share: lists that are typed, and medians.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/median.hpp"
#include "sim/core/split.hpp"

namespace debubble {

TEST_CASE("a list has one part more than separators") {
  using Parts = std::vector<std::string>;
  CHECK(split("") == Parts{""});
  CHECK(split("a") == Parts{"a"});
  CHECK(split("a,b c,") == Parts{"a", "b c", ""});
  CHECK(split(",,") == Parts{"", "", ""});
  CHECK(split("1-2-3", '-') == Parts{"1", "2", "3"});
}

TEST_CASE("of two values in the middle the larger or the smaller is the median, of none 0") {
  using Values = std::vector<std::int64_t>;
  CHECK(upper_median(Values{}) == 0);
  CHECK(lower_median(Values{}) == 0);
  CHECK(upper_median(Values{7}) == 7);
  CHECK(lower_median(Values{7}) == 7);
  CHECK(upper_median(Values{4, 1, 3, 2}) == 3);
  CHECK(lower_median(Values{4, 1, 3, 2}) == 2);
  CHECK(upper_median(Values{5, 1, 9}) == 5);
  CHECK(lower_median(Values{5, 1, 9}) == 5);
}

}  // namespace debubble
