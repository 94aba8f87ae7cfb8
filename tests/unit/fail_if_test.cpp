#include "tools/output/fail_if.hpp"

#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"
#include "tools/output/metrics.hpp"

using namespace debubble;
using debubble::test::refusal;
using debubble::test::small_report;

namespace {

bool fires(const std::string& text, const Report& report = small_report()) {
  return FailIf::parse(text).evaluate(report).fired;
}

std::string refused(const std::string& text) {
  return refusal([&] { static_cast<void>(FailIf::parse(text)); });
}

const std::string kHelp = "  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'\n";

}  // namespace

TEST_CASE("each comparison is decided on both sides of its bound") {
  CHECK(fires("makespan<=9ms"));
  CHECK_FALSE(fires("makespan<9ms"));
  CHECK(fires("makespan<9.000001ms"));
  CHECK(fires("makespan>=9ms"));
  CHECK_FALSE(fires("makespan>9ms"));
  CHECK(fires("makespan>8.999999ms"));
  CHECK(fires("makespan==9ms"));
  CHECK_FALSE(fires("makespan==9.000001ms"));
  CHECK(fires("makespan!=9.000001ms"));
  CHECK_FALSE(fires("makespan!=9ms"));
}

TEST_CASE("a name goes with or without its unit, and by its short form") {
  CHECK(fires("makespan_ns==9000000"));
  CHECK(fires("makespan_ns == 9ms"));
  CHECK(fires("bubble>33%"));
  CHECK(fires("bubble_ratio > 0.33"));
  CHECK_FALSE(fires("bubble>33.4%"));
  CHECK(fires("bubble_over_ideal==50%"));
  CHECK(fires("bubble_over_ideal==0.5"));
  CHECK(fires("mem==2MiB"));
  CHECK(fires("peak_memory_bytes==2097152"));
  CHECK(fires("peak_activation_shares==2"));
  CHECK(fires("p2p_messages==4"));
  CHECK(fires("weight_copies<2"));
  CHECK(fires("critical_path.hops==2 && critical_path.transfer==0ns"));
  CHECK(fires("peak_by_category.activations == 2 MiB"));
}

TEST_CASE("what devices have is taken from the worst of them") {
  CHECK(fires("idle_by_cause.fill==2ms"));
  CHECK(fires("idle_by_cause_ns.drain==2ms"));
  CHECK(fires("idle==3ms && busy==6ms"));
}

TEST_CASE("and binds tighter than or, and parentheses bind tightest") {
  CHECK(fires("bubble>0 || bubble>0 && bubble<0"));
  CHECK_FALSE(fires("(bubble>0 || bubble>0) && bubble<0"));
  CHECK(fires("bubble<0&&bubble<0||bubble>0"));
  CHECK(fires("((bubble>0))"));
}

TEST_CASE("the verdict names the comparisons that made it") {
  const auto verdict =
      FailIf::parse("bubble>25% || (mem>1GiB) || makespan > 1 ms && p2p_messages>=4").evaluate(small_report());
  CHECK(verdict.fired);
  REQUIRE(verdict.because.size() == 3);
  CHECK(verdict.because[0] == "bubble > 25%: it is 33.3 %");
  CHECK(verdict.because[1] == "makespan > 1 ms: it is 9.000 ms");
  CHECK(verdict.because[2] == "p2p_messages >= 4: it is 4");
  CHECK(FailIf::parse("bubble>50% && makespan>1ms").evaluate(small_report()).because.empty());
}

TEST_CASE("a misspelt name gets a suggestion and a caret") {
  CHECK(refused("makespan<1s && buble_ratio>0.25") ==
        "error[C032]: 'buble_ratio' is not a number of the report; did you mean 'bubble_ratio'?\n"
        "  --> --fail-if:16\n"
        "   |\n"
        "   | makespan<1s && buble_ratio>0.25\n"
        "   |                ^^^^^^^^^^^\n"
        "  = help: known names: step span steady_period ideal bubble bubble_over_ideal span_bubble_ratio "
        "throughput_samples throughput_tokens mfu weight_copies p2p p2p_messages busy idle inside_collectives mem "
        "peak_activation "
        "peak_activation_shares, and the keys of idle_by_cause, peak_by_category and critical_path: "
        "idle_by_cause.fill\n");
}

TEST_CASE("each slip of grammar is shown where it is") {
  CHECK(refused("  ") == "error[C031]: the expression is empty\n  --> --fail-if:3\n   |\n   |   \n   |   ^\n" + kHelp);
  CHECK(refused("bubble>25% &") ==
        "error[C031]: expected && or || or the end, found '&'\n  --> --fail-if:12\n   |\n   | bubble>25% &\n"
        "   |            ^\n" +
            kHelp);
  CHECK(refused("bubble 25%") ==
        "error[C031]: expected < <= > >= == or != after 'bubble'\n  --> --fail-if:8\n   |\n   | bubble 25%\n"
        "   |        ^^^\n" +
            kHelp);
  CHECK(refused("bubble>") ==
        "error[C031]: expected a value after 'bubble >'\n  --> --fail-if:8\n   |\n   | bubble>\n   |        ^\n" +
            kHelp);
  CHECK(refused("(bubble>1").find("error[C031]: this parenthesis is not closed\n  --> --fail-if:1\n") == 0);
  CHECK(refused("bubble>1)").find("error[C031]: expected && or || or the end, found ')'\n  --> --fail-if:9\n") == 0);
  CHECK(refused("bubble>1 &&").find("error[C031]: the expression ends where a comparison is expected\n") == 0);
  CHECK(refused("0.25<bubble").find("error[C031]: expected a name, found '0.25<bubble'\n  --> --fail-if:1\n") == 0);
  CHECK(refused(std::string(200, '(')).find("error[C031]") == 0);
  CHECK(refused(std::string(101, '(') + "bubble>1" + std::string(101, ')')).find("error[C031]") == 0);
  CHECK(refused(std::string(100, '(') + "bubble>1" + std::string(100, ')')) == "");
}

TEST_CASE("a value must be of the kind of its name") {
  CHECK(refused("makespan>5") ==
        "error[C033]: '5' cannot be compared with makespan: '5' has no unit\n"
        "  --> --fail-if:10\n   |\n   | makespan>5\n   |          ^\n"
        "  = help: write it like 1.5ms, 601us or 2s\n");
  CHECK(refused("makespan>5GiB").find("error[C033]") == 0);
  CHECK(refused("mem>5ms").find("error[C033]") == 0);
  CHECK(refused("bubble>5ms").find("error[C033]: bubble is a plain number or a percentage; '5ms' is not\n") == 0);
  CHECK(refused("bubble>nan").find("error[C033]") == 0);
  CHECK(refused("p2p_messages>4.5").find("error[C033]: p2p_messages is a count; '4.5' is not\n") == 0);
  CHECK(refused("throughput_samples>5%").find("error[C033]") == 0);
}

TEST_CASE("a number that this run does not have is an error, even where the rest would decide") {
  const FailIf condition = FailIf::parse("bubble>0 || throughput_samples<5");
  CHECK(refusal([&] { static_cast<void>(condition.evaluate(small_report())); }) ==
        "error[C036]: throughput_samples_per_s is not known in this run\n"
        "  --> --fail-if\n"
        "  = help: throughput needs a profile that states the microbatch size: --profile FILE\n");
  Report report = small_report();
  report.samples_per_second = 4.9;
  CHECK(FailIf::parse("throughput_samples_per_s<5").evaluate(report).because.front() ==
        "throughput_samples_per_s < 5: it is 4.9");
}

TEST_CASE("a steady period that a run does not show is an error in a condition") {
  const FailIf condition = FailIf::parse("steady_period>1ms");
  CHECK(condition.evaluate(small_report()).because.front() == "steady_period > 1ms: it is 6.000 ms");
  Report report = small_report();
  report.steady_period.reset();
  CHECK(refusal([&] { static_cast<void>(condition.evaluate(report)); }) ==
        "error[C036]: steady_period_ns is not known in this run\n"
        "  --> --fail-if\n"
        "  = help: iterations that begin together do not show it: take it from `simulate`\n");
}

TEST_CASE("every metric has one name of its own and can be found by it") {
  std::set<std::string_view> names;
  for (const Metric& metric : metric_catalog()) {
    CHECK(names.insert(metric.name).second);
    CHECK(find_metric(metric.name) == &metric);
    CHECK(find_metric(metric.key) == &metric);
    CHECK((metric.integer != nullptr) != (metric.real != nullptr));
  }
  CHECK(find_metric("") == nullptr);
}

TEST_CASE("a ratio that can never be reached is refused, for it was meant as a percentage") {
  CHECK_THROWS_AS((void)FailIf::parse("bubble>25"), InputError);
  CHECK_THROWS_AS((void)FailIf::parse("span_bubble_ratio>=100.1%"), InputError);
  CHECK_NOTHROW((void)FailIf::parse("bubble>=1"));
  CHECK_NOTHROW((void)FailIf::parse("bubble>=100%"));
  CHECK_NOTHROW((void)FailIf::parse("bubble_over_ideal>1.5"));
}
