#include "sim/core/quantities.hpp"
#include "scenario/request/uniform_times.hpp"

#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::refusal;

namespace {

Nanoseconds duration(const char* text) { return parse_duration(text, "--comm"); }
Nanoseconds toy_duration(const char* text) { return parse_duration(text, "--comm", BareNumber::kToyUnits); }
Bytes size(const char* text) { return parse_size(text, "--memory"); }
std::int64_t bandwidth(const char* text) { return parse_bandwidth(text, "--bandwidth"); }

std::string refused_duration(std::string text) {
  return refusal([&] { static_cast<void>(parse_duration(text, "--comm")); });
}
std::string refused_times(std::string text) {
  return refusal([&] { static_cast<void>(parse_times(text, "--times")); });
}

}  // namespace

TEST_CASE("durations are read exactly in every unit") {
  CHECK(duration("250ns") == 250);
  CHECK(duration("601us") == 601'000);
  CHECK(duration("601\u00b5s") == 601'000);
  CHECK(duration("601\u03bcs") == 601'000);
  CHECK(duration("1.5ms") == 1'500'000);
  CHECK(duration("  1.5 ms ") == 1'500'000);
  CHECK(duration("2s") == 2'000'000'000);
  CHECK(duration("1.5min") == 90'000'000'000);
  CHECK(duration("2h") == 7'200'000'000'000);
  CHECK(duration(".5ms") == 500'000);
  CHECK(duration("3.ms") == 3'000'000);
  CHECK(duration("0ns") == 0);
  // Doubles near 4.5 million seconds are almost a nanosecond apart: the digits decide.
  CHECK(duration("4503599.627370495s") == 4'503'599'627'370'495);
}

TEST_CASE("what is finer than a nanosecond is rounded to the nearest, halves up") {
  CHECK(duration("0.4ns") == 0);
  CHECK(duration("0.5ns") == 1);
  CHECK(duration("1.499999999999ns") == 1);
  CHECK(duration("0.0000004999999999ms") == 0);
  CHECK(duration("0.0000005ms") == 1);
  CHECK(duration("0.333333333333333333333333333333s") == 333'333'333);
}

TEST_CASE("bare numbers mean toy units only where that was allowed") {
  CHECK(toy_duration("1.5") == 1'500'000);
  CHECK(toy_duration("250us") == 250'000);
  CHECK(parse_size("4", "--memory", BareNumber::kToyUnits) == 4 * kMebibyte);
  CHECK(parse_size("0.5", "--memory", BareNumber::kToyUnits) == kMebibyte / 2);
  CHECK(refused_duration("1.5") ==
        "error[C014]: '1.5' has no unit\n"
        "  --> --comm\n"
        "  = help: write it like 1.5ms, 601us or 2s\n");
  CHECK(refusal([] { static_cast<void>(size("76")); }) ==
        "error[C014]: '76' has no unit\n"
        "  --> --memory\n"
        "  = help: write it like 76GiB, 352.1MB or 80GB\n");
}

TEST_CASE("sizes know powers of 1000 and of 1024") {
  CHECK(size("17B") == 17);
  CHECK(size("1kB") == 1000);
  CHECK(size("1KiB") == 1024);
  CHECK(size("352.1MB") == 352'100'000);
  CHECK(size("80GB") == 80'000'000'000);
  CHECK(size("76GiB") == 76LL * 1024 * 1024 * 1024);
  CHECK(size("1.5TiB") == 3LL * 512 * 1024 * 1024 * 1024);
  CHECK(size("0.1GiB") == 107'374'182);  // 107374182.4
}

TEST_CASE("bandwidths are bytes or bits per second") {
  CHECK(bandwidth("50GB/s") == 50'000'000'000);
  CHECK(bandwidth("400Gbit/s") == 50'000'000'000);
  CHECK(bandwidth("400Gbps") == 50'000'000'000);  // a small b is a bit, a large one a byte
  CHECK(bandwidth("50GBps") == 50'000'000'000);
  CHECK(bandwidth("400Gb/s") == 50'000'000'000);
  CHECK(bandwidth("600GiB/s") == 600LL * 1024 * 1024 * 1024);
  CHECK(bandwidth("8kbit/s") == 1000);
  CHECK(refusal([] { static_cast<void>(bandwidth("0GB/s")); }) ==
        "error[C012]: the bandwidth must not be zero\n"
        "  --> --bandwidth\n"
        "  = help: leave it out for links of unlimited bandwidth\n");
  CHECK(refusal([] { static_cast<void>(bandwidth("50GB")); }) ==
        "error[C014]: 'GB' is not a unit of a bandwidth\n"
        "  --> --bandwidth\n"
        "  = help: write it like 50GB/s, 600GiB/s or 400Gbit/s\n");
}

TEST_CASE("each way of getting a quantity wrong has its own message") {
  const std::string help = "\n  --> --comm\n  = help: write it like 1.5ms, 601us or 2s\n";
  CHECK(refused_duration("") == "error[C065]: the duration is empty" + help);
  CHECK(refused_duration("  ") == "error[C065]: the duration is empty" + help);
  CHECK(refused_duration("nan") == "error[C011]: 'nan' is not a duration" + help);
  CHECK(refused_duration("inf") == "error[C011]: 'inf' is not a duration" + help);
  CHECK(refused_duration("+5ms") == "error[C011]: '+5ms' is not a duration" + help);
  CHECK(refused_duration(".ms") == "error[C011]: '.ms' is not a duration" + help);
  CHECK(refused_duration("1.2.3ms") == "error[C011]: '1.2.3ms' is not a duration" + help);
  CHECK(refused_duration("-1ms") == "error[C012]: a duration cannot be negative: '-1ms'" + help);
  CHECK(refused_duration("-0ms") == "error[C012]: a duration cannot be negative: '-0ms'" + help);
  CHECK(refused_duration("1,5ms") == "error[C014]: ',5ms' is not a unit of a duration" + help);
  CHECK(refused_duration("1e3ms") == "error[C014]: 'e3ms' is not a unit of a duration" + help);
  CHECK(refused_duration("5mss") == "error[C014]: 'mss' is not a unit of a duration; did you mean 'ms'?" + help);
  CHECK(contains(refused_duration(std::string("5ms\0", 4)), "C014"));
}

TEST_CASE("the largest duration is taken and one more nanosecond is not") {
  CHECK(duration("4503599627370496ns") == kLongestDuration);
  CHECK(refused_duration("4503599627370497ns").find("error[C012]") == 0);
  CHECK(refused_duration("4503599.627370497s").find("error[C012]") == 0);
  CHECK(refused_duration("9999999999999999999999999999999999999999h").find("error[C012]") == 0);
  CHECK(refused_duration("53d") ==
        "error[C014]: 'd' is not a unit of a duration; did you mean 's'?\n  --> --comm\n"
        "  = help: write it like 1.5ms, 601us or 2s\n");
  CHECK(size("4096TiB") == kLargestSize);
  CHECK(refusal([] { static_cast<void>(size("4097TiB")); }) ==
        "error[C012]: the size '4097TiB' is larger than debubble can add up (4 PiB)\n"
        "  --> --memory\n"
        "  = help: write it like 76GiB, 352.1MB or 80GB\n");
}

TEST_CASE("times of a device share follow from what is given") {
  const UniformTimes all = parse_times("f=1,i=2,w=3", "--times");
  CHECK(all.forward == 1'000'000);
  CHECK(all.input_grad == 2'000'000);
  CHECK(all.weight_grad == 3'000'000);
  CHECK_FALSE(all.backward);
  CHECK_FALSE(all.overlapped_pair);

  const UniformTimes halved = parse_times("f=1, b=2.000001", "--times");
  CHECK(halved.backward == 2'000'001);
  CHECK(halved.input_grad == 1'000'000);
  CHECK(halved.weight_grad == 1'000'001);

  const UniformTimes rest = parse_times("b=3,i=1", "--times");
  CHECK(rest.weight_grad == 2'000'000);
  CHECK(rest.forward == UniformTimes{}.forward);

  const UniformTimes fused = parse_times("f=1,b=1.9,i=1,w=1,fb=2.5ms", "--times");
  CHECK(fused.backward == 1'900'000);
  CHECK(fused.weight_grad == 1'000'000);
  CHECK(fused.overlapped_pair == 2'500'000);
}

TEST_CASE("all faults of a list of times are reported together") {
  CHECK(refused_times("f=1,f=2,x=1,b,i=-1") ==
        "error[C007]: 'f' is given twice\n  --> --times\n"
        "  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight "
        "gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an "
        "activation)\n"
        "error[C017]: 'x' is not a key of the times\n  --> --times\n"
        "  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight "
        "gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an "
        "activation)\n"
        "error[C006]: 'b' is not of the form key=time\n  --> --times\n"
        "  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight "
        "gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an "
        "activation)\n"
        "error[C012]: a duration cannot be negative: '-1'\n  --> --times i\n"
        "  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms\n");
  CHECK(refused_times("").find("error[C006]: '' is not of the form") == 0);
  CHECK(refused_times("f=1,").find("error[C006]: '' is not of the form") == 0);
  CHECK(refused_times("b=1,i=2").find("error[C009]: b is shorter than its part i\n") == 0);
  CHECK(refused_times("b=1,w=2").find("error[C009]: b is shorter than its part w\n") == 0);
  CHECK(refused_times("b=2,w=2") == "");
}

TEST_CASE("durations are shown with four significant digits") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(999) == "999 ns");
  CHECK(format_duration(1'000) == "1.000 us");
  CHECK(format_duration(601'000) == "601.0 us");
  CHECK(format_duration(999'949) == "999.9 us");
  CHECK(format_duration(999'950) == "1.000 ms");
  CHECK(format_duration(33'000'000) == "33.00 ms");
  CHECK(format_duration(1'457'000'000) == "1.457 s");
  CHECK(format_duration(86'400'000'000'000) == "86400 s");
  CHECK(format_duration(-1'500'000) == "-1.500 ms");
}

TEST_CASE("an exact duration drops the zeros that say nothing") {
  CHECK(format_duration_exact(0) == "0 ns");
  CHECK(format_duration_exact(1'000'000) == "1 ms");
  CHECK(format_duration_exact(1'500'000) == "1.5 ms");
  CHECK(format_duration_exact(10'000'000) == "10 ms");
  CHECK(format_duration_exact(1'000'001) == "1.000001 ms");
}

TEST_CASE("sizes are shown with three significant digits") {
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(1023) == "1023 B");
  CHECK(format_size(1024) == "1.00 KiB");
  CHECK(format_size(4 * kMebibyte) == "4.00 MiB");
  CHECK(format_size(76'450'466'202) == "71.2 GiB");
  CHECK(format_size(kLargestSize) == "4096 TiB");
}

TEST_CASE("ratios are shown as percentages") {
  CHECK(format_percent(0) == "0.0 %");
  CHECK(format_percent(3.0 / 11) == "27.3 %");
  CHECK(format_percent(1.161) == "116.1 %");
  CHECK(format_percent(std::nan("")) == "unknown");
  CHECK(format_percent(std::numeric_limits<double>::infinity()) == "unknown");
}

TEST_CASE("decimals are scaled exactly and rounded as asked") {
  CHECK(decimal_times("1.5", 1024) == 1536);
  CHECK(decimal_times("0.0015", 1000) == 2);
  CHECK(decimal_times("0.0015", 1000, Rounding::kDown) == 1);
  CHECK(decimal_times("0.0011", 1000, Rounding::kUp) == 2);
  CHECK(decimal_times("99999999999999999999", 1) == std::int64_t{1} << 62);
  for (const char* text : {"", ".", "1.2.3", "-1", "1e3", "1 "}) CHECK_FALSE(decimal_times(text, 1));
  CHECK(unit_factor(QuantityKind::kBandwidth, "GiB/s") == std::int64_t{1} << 30);
  CHECK_FALSE(unit_factor(QuantityKind::kBandwidth, "ms/s"));
  CHECK_FALSE(unit_factor(QuantityKind::kSize, "ms"));
}

TEST_CASE("scaled numbers are written with the decimals and the rounding asked for") {
  CHECK(format_scaled(1'500'000, scale_of("ms", 3)) == "1.500");
  CHECK(format_short(1'500'000, scale_of("ms", 3)) == "1.5");
  CHECK(format_short(2'000'000, scale_of("ms", 3)) == "2");
  CHECK(format_short(2'000'001, scale_of("ms", 3), Rounding::kUp) == "2.001");
  CHECK(format_scaled(-400, scale_of("us")) == "0");
  CHECK(format_with_unit(50'000'000'000, scale_of("GB/s", 1)) == "50.0 GB/s");
  CHECK(format_change(0.0731) == "+7.3 %");
  CHECK(format_change(-0.0213, "pp", 2) == "-2.13 pp");
  CHECK(format_percent_to(0.27272, 2) == "27.27 %");
  CHECK(plain(1.25) == "1.25");
  CHECK(plain(100'000) == "100000");
  CHECK(plain(1e-5) == "1e-05");
  CHECK(plain(0) == "0");
}

TEST_CASE("one scale serves a whole column") {
  const Scale scale = duration_scale(33'000'000);
  CHECK(scale.unit == std::string("ms"));
  CHECK(format_scaled(33'000'000, scale) == "33.00");
  CHECK(format_scaled(5'000, scale) == "0.01");
  CHECK(format_scaled(4'999, scale) == "0.00");
  CHECK(format_scaled(1'234'567'890, scale) == "1234.57");
}
