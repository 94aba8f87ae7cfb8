// The combinations of a sweep: their order, their flags, and the number that tells one sweep from another.
#include "studies/sweep/space.hpp"
#include "scenario/request/flag.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Typed = std::vector<std::pair<std::string, std::string>>;

class Swept {
 public:
  explicit Swept(const Typed& flags) {
    const FlagRows rows = flags_.rows();
    for (const auto& [name, text] : flags) REQUIRE(set_flag(*find_flag(rows, name), text));
  }
  [[nodiscard]] const SweepFlags& flags() const { return flags_; }
  [[nodiscard]] std::uint64_t fingerprint(const std::string& version = "1") const {
    return fingerprint_of(flags_, SweepSpace(flags_), version);
  }

 private:
  SweepFlags flags_;
};

TEST_CASE("the last flag of the help varies fastest, whatever the order of typing") {
  const Swept swept(Typed{{"--tp", "1,2"}, {"--microbatches", "8,16,32"}, {"--schedule", "gpipe,1f1b"}});
  const SweepSpace space(swept.flags());
  REQUIRE(space.rows() == 12);
  SweepPoint point(space);
  std::string order;
  for (std::int64_t row = 0; row < space.rows(); ++row) {
    point.move_to(row);
    const ScenarioFlags& flags = point.flags();
    order += flags.schedules.front() + "/" + std::to_string(*flags.microbatches) + "/" +
             std::to_string(*flags.cluster.tensor) + " ";
  }
  CHECK(order ==
        "gpipe/8/1 gpipe/8/2 gpipe/16/1 gpipe/16/2 gpipe/32/1 gpipe/32/2 "
        "1f1b/8/1 1f1b/8/2 1f1b/16/1 1f1b/16/2 1f1b/32/1 1f1b/32/2 ");
}

TEST_CASE("a flag that counts several times is an axis each time, any other one list") {
  const Swept swept(Typed{{"--param", "group=4;8"},
                          {"--param", "rounding=a;b"},
                          {"--slow", "device=1:2"},
                          {"--slow", "device=0:2;device=0:3"},
                          {"--tp", "1,2"},
                          {"--tp", "4"}});
  const SweepSpace space(swept.flags());
  CHECK(space.rows() == 2 * 2 * 2 * 3);
  std::string names;
  for (const SweepAxis& axis : space.axes()) names += axis.name + " ";
  CHECK(names == "param.group param.rounding tp slow slow.2 ");
  SweepPoint point(space);
  point.move_to(0);
  CHECK(point.flags().params == Words("group=4 rounding=a"));
  CHECK(point.flags().variation.slow == Words("device=1:2 device=0:2"));
}

TEST_CASE("a sweep of nothing is one row") {
  const Swept swept(Typed{});
  CHECK(SweepSpace(swept.flags()).rows() == 1);
}

TEST_CASE("a switch takes part") {
  const Swept swept(Typed{{"--sequence-parallel", "off,on"}});
  const SweepSpace space(swept.flags());
  SweepPoint point(space);
  point.move_to(0);
  CHECK_FALSE(point.flags().cluster.sequence_parallel);
  point.move_to(1);
  CHECK(point.flags().cluster.sequence_parallel);
  point.move_to(0);
  CHECK_FALSE(point.flags().cluster.sequence_parallel);
}

TEST_CASE("what is not a whole number is refused at once, and so are too many combinations") {
  CHECK_THROWS_AS(SweepSpace(Swept(Typed{{"--tp", "1,two"}}).flags()), InputError);
  CHECK_THROWS_AS(SweepSpace(Swept(Typed{{"--tp", "1:4:+0.5"}}).flags()), InputError);
  CHECK_THROWS_AS(SweepSpace(Swept(Typed{{"--seed", "1:1000000"}, {"--tp", "1:1000000"}, {"--dp", "1,2"}}).flags()),
                  InputError);
}

TEST_CASE("the fingerprint is of what is asked, not of how it is written") {
  const std::uint64_t one = Swept(Typed{{"--tp", "1,2,4"}, {"--microbatches", "8"}}).fingerprint();
  CHECK(one == Swept(Typed{{"--microbatches", "8"}, {"--tp", "1:4:*2"}}).fingerprint());
  CHECK(one != Swept(Typed{{"--tp", "1,4,2"}, {"--microbatches", "8"}}).fingerprint());
  CHECK(one != Swept(Typed{{"--tp", "1,2,4"}, {"--microbatches", "9"}}).fingerprint());
  CHECK(one != Swept(Typed{{"--dp", "1,2,4"}, {"--microbatches", "8"}}).fingerprint());
  CHECK(one != Swept(Typed{{"--tp", "1,2,4"}}).fingerprint());
  CHECK(one != Swept(Typed{{"--tp", "1,2,4"}, {"--microbatches", "8"}}).fingerprint("2"));
}

TEST_CASE_IN_FOLDER("the fingerprint is of the contents of files, too") {
  const auto of = [&](const char* text) {
    folder.write("profile.json", text);
    return Swept(Typed{{"--profile", folder.path("profile.json")}}).fingerprint();
  };
  const std::uint64_t one = of("one");
  CHECK(one != of("two"));
  CHECK(one == of("one"));
}

}  // namespace
}  // namespace debubble::testing
