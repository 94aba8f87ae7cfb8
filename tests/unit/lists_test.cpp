// Small things that many parts share: lists that are typed, and medians.
#include "sim/core/keyed_list.hpp"
#include "sim/core/median.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "tests/support/test.hpp"

namespace debubble {

TEST_CASE("a list has one part more than separators") {
  using Parts = std::vector<std::string>;
  CHECK(split("") == Parts{""});
  CHECK(split("a") == Parts{"a"});
  CHECK(split("a,b c,") == Parts{"a", "b c", ""});
  CHECK(split(",,") == Parts{"", "", ""});
  CHECK(split("1-2-3", '-') == Parts{"1", "2", "3"});
}

TEST_CASE("a keyed list hands on what is right and tells all that is wrong, in the order of its items") {
  const KeyedForm form{.place = "--form",
                       .example = "write a=1",
                       .keys = {"step", "memory"},
                       .unknown = "no \"{}\" here",
                       .known = "step or memory"};
  std::string taken;
  const auto read = [&](const std::string& text) {
    taken.clear();
    std::string problems;
    try {
      read_keyed_list(split(text), form, [&](const std::string& key, const std::string& value) {
        if (value == "bad") fail("C012", "--form", "bad " + key, "");
        taken += key + ":" + value + ";";
      });
    } catch (const InputError& error) {
      for (const Diagnostic& one : error.diagnostics())
        problems += one.code + " " + one.message + " | " + one.help + "\n";
    }
    return problems;
  };
  CHECK(read(" step = 5 %,memory=") == "");
  CHECK(taken == "step:5 %;memory:;");
  CHECK(read("step=bad,stp=1,=2,,memory=x,memory=y,q=1") ==
        "C012 bad step | \n"
        "C017 no \"stp\" here | did you mean step?\n"
        "C006 \"=2\" is not KEY=VALUE | write a=1\n"
        "C006 \"\" is not KEY=VALUE | write a=1\n"
        "C007 \"memory\" is given twice | give each once\n"
        "C017 no \"q\" here | step or memory\n");
  CHECK(taken == "memory:x;");
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

// sim/core/numbers.hpp: what is a number, and what is left of the text.

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
