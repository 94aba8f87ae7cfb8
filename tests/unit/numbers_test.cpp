// sim/core/numbers.hpp: what is a number, and what is left of the text.
#include "sim/core/numbers.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("a whole number is the whole text, and fits") {
  CHECK(read_whole<std::int32_t>("0") == 0);
  CHECK(read_whole<std::int32_t>("-2147483648") == std::numeric_limits<std::int32_t>::min());
  CHECK(read_whole<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const char* const text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "2147483648", "-", "1,000"}) {
    CAPTURE(text);
    CHECK_FALSE(read_whole<std::int32_t>(text));
  }
  CHECK_FALSE(read_whole<std::uint32_t>("-1"));
}

TEST_CASE("a count is within its bounds") {
  CHECK(count_of("0") == 0);
  CHECK_FALSE(count_of("-1"));
  CHECK(count_of("2147483647") == 2147483647);
  CHECK_FALSE(count_of("2147483648"));
  CHECK_FALSE(count_of("11", 10));
  CHECK(read_whole_within("-3", -3, 3) == -3);
  CHECK_FALSE(read_whole_within("-4", -3, 3));
}

TEST_CASE("a number is finite, and the whole text") {
  CHECK(number_of("1.5") == 1.5);
  CHECK(number_of("-2e3") == -2000);
  for (const char* const text : {"", "inf", "nan", "-inf", "1e400", "1.5x", " 1", "+1", "1,5"}) {
    CAPTURE(text);
    CHECK_FALSE(number_of(text));
  }
}

TEST_CASE("a number at the front is cut off, and what begins with none stays") {
  std::string_view text = "12us";
  CHECK(take_whole<std::int64_t>(text) == 12);
  CHECK(text == "us");
  CHECK_FALSE(take_whole<std::int64_t>(text));
  CHECK(text == "us");
  text = "99999999999,1";
  CHECK_FALSE(take_whole<std::int32_t>(text));
  CHECK(text == "99999999999,1");
  text = "ff0";
  CHECK(take_whole<std::int32_t>(text, 16) == 0xff0);
  text = "2.5GB/s";
  CHECK(take_number(text) == 2.5);
  CHECK(text == "GB/s");
  text = "inf";
  CHECK_FALSE(take_number(text));
  CHECK(text == "inf");
}

}  // namespace
}  // namespace debubble
