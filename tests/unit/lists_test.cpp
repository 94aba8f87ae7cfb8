// Small things that many parts share: lists that are typed, and medians.
#include "sim/core/keyed_list.hpp"
#include "sim/core/median.hpp"
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

}  // namespace debubble
