// What --slow, --factors and --jitter mean: the factors they give, and what they refuse.
#include "scenario/job/make_variation.hpp"
#include "scenario/request/draws.hpp"
#include "scenario/request/factors.hpp"
#include "scenario/request/factors_file.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

std::vector<std::string> codes_of(const auto& work) {
  return codes_by([&] { work(); });
}

std::vector<std::string> file_codes(const std::string& name, const std::string& text) {
  return codes_of([&] { (void)read_factors_file(text, name); });
}

Variation made(const VariationFlags& flags, const Schedule& schedule, int replicas = 1) {
  return make_variation(check_variation(flags), schedule, replicas);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using Codes = std::vector<std::string>;

TEST_CASE("slow items fill tables, one entry for each device, stage and replica") {
  const Schedule schedule = build("1f1b", 4, 8);
  const Variation variation = made({{"device=3:1.25", "stage=0-1:1.1", "replica=1:2"}, "", "", ""}, schedule, 2);
  CHECK(variation.device == std::vector<double>{1, 1, 1, 1.25});
  CHECK(variation.stage == std::vector<double>{1.1, 1.1, 1, 1});
  CHECK(variation.pipeline_replica == std::vector<double>{1, 2});
  CHECK(variation.piece.empty());
  CHECK(made({{"devices=1,0.5,2,1"}, "", "", ""}, schedule).device == std::vector<double>{1, 0.5, 2, 1});
  CHECK(made({}, schedule).none());
}

TEST_CASE("a slow item that is none, or of what the run does not have, is refused") {
  const auto parse = [](std::vector<std::string> items) { return codes_of([&] { (void)parse_slow(items); }); };
  CHECK(parse({"device"}) == Codes{"C006"});
  CHECK(parse({"device=3"}) == Codes{"C006"});
  CHECK(parse({"device=x:2"}) == Codes{"C006"});
  CHECK(parse({"device=3-1:2"}) == Codes{"C006"});
  CHECK(parse({"gpu=1:2"}) == Codes{"C002"});
  CHECK(parse({"device=1:0"}) == Codes{"C012"});
  CHECK(parse({"device=1:0.0009"}) == Codes{"C012"});
  CHECK(parse({"device=1:0.001"}).empty());
  CHECK(parse({"device=1:1000"}).empty());
  CHECK(parse({"device=1:1001"}) == Codes{"C012"});
  CHECK(parse({"device=1:nan"}) == Codes{"C012"});
  CHECK(parse({"devices=1,,1"}) == Codes{"C012"});
  CHECK(parse({"device", "gpu=1:2", "device=1:x"}) == Codes{"C006", "C002", "C012"});

  const Schedule schedule = build("1f1b", 4, 8);
  const auto make = [&](std::vector<std::string> items) {
    return codes_of([&] { (void)made({std::move(items), "", "", ""}, schedule); });
  };
  CHECK(make({"device=3:2"}).empty());
  CHECK(make({"device=4:2"}) == Codes{"O004"});
  CHECK(make({"replica=1:2"}) == Codes{"O004"});
  CHECK(make({"devices=1,1,1"}) == Codes{"O005"});
  CHECK(make({"device=1:2", "device=0-2:3"}) == Codes{"C007"});
  CHECK(make({"device=4:2", "stages=1"}) == Codes{"O004", "O005"});
}

TEST_CASE("drawn factors have the mean of 1 and the spread that was asked for") {
  constexpr int kMany = 20'000;
  const std::vector<double> lognormal = microbatch_factors(parse_factors("lognormal:0.3"), kMany, 7);
  CHECK(mean(lognormal) == doctest::Approx(1));
  double squares = 0;
  for (const double factor : lognormal) squares += std::log(factor) * std::log(factor);
  // The logarithm has mean -0.045 (so that the factor's is 1) and deviation 0.3.
  CHECK(std::sqrt(squares / kMany) == doctest::Approx(std::sqrt(0.3 * 0.3 + 0.045 * 0.045)).epsilon(0.02));

  const std::vector<double> uniform = microbatch_factors(parse_factors("uniform:0.5-1.5"), kMany, 7);
  CHECK(mean(uniform) == doctest::Approx(1));
  const auto [least, most] = std::minmax_element(uniform.begin(), uniform.end());
  CHECK(*least == doctest::Approx(0.5).epsilon(0.02));
  CHECK(*most == doctest::Approx(1.5).epsilon(0.02));

  // Zipf's law says which factors there are; only their order is drawn.
  std::vector<double> zipf = microbatch_factors(parse_factors("zipf:1"), 4, 1);
  std::sort(zipf.begin(), zipf.end());
  const double sum = (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0) / 4;
  CHECK(zipf[0] == doctest::Approx(0.25 / sum));
  CHECK(zipf[3] == doctest::Approx(1 / sum));

  // The busiest of n equal experts has the mean load; uneven ones never less.
  const std::vector<double> experts = microbatch_factors(parse_factors("experts:8:0.5"), 1000, 1);
  CHECK(*std::min_element(experts.begin(), experts.end()) > 1);
  CHECK(*std::max_element(experts.begin(), experts.end()) < 8);
}

TEST_CASE("the same seed draws the same, another one something else") {
  const FactorSource source = parse_factors("lognormal:0.3");
  CHECK(microbatch_factors(source, 16, 3) == microbatch_factors(source, 16, 3));
  CHECK(microbatch_factors(source, 16, 3) != microbatch_factors(source, 16, 4));
  double sum = 0;
  double squares = 0;
  constexpr int kMany = 100'000;
  for (std::uint64_t k = 0; k < kMany; ++k) {
    const double z = normal_draw(1, k);
    sum += z;
    squares += z * z;
  }
  CHECK(std::abs(sum / kMany) < 0.02);
  CHECK(squares / kMany == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("all pieces of a microbatch take its factor") {
  const Schedule halves = build("chimera", 4, 4, 0, {{"mode", "halving"}});
  REQUIRE(halves.pieces == 2);
  const Variation variation = made({{}, "lognormal:0.3", "", ""}, halves);
  REQUIRE(variation.piece.size() == 8);
  for (std::size_t k = 0; k < 8; k += 2) CHECK(variation.piece[k] == variation.piece[k + 1]);
}

TEST_CASE("a distribution that is none is refused") {
  const auto parse = [](const std::string& text) { return codes_of([&] { (void)parse_factors(text); }); };
  CHECK(parse("gauss:1") == Codes{"C002"});
  CHECK(parse("lognormal") == Codes{"C006"});
  CHECK(parse("lognormal:") == Codes{"C012"});
  CHECK(parse("lognormal:0") == Codes{"C012"});
  CHECK(parse("lognormal:4").empty());
  CHECK(parse("lognormal:4.1") == Codes{"C012"});
  CHECK(parse("uniform:1") == Codes{"C012"});
  CHECK(parse("uniform:1-1") == Codes{"C012"});
  CHECK(parse("uniform:0-1") == Codes{"C012"});
  CHECK(parse("experts:1:0.5") == Codes{"C012"});
  CHECK(parse("experts:2:0.5").empty());
  CHECK(parse("experts:8") == Codes{"C012"});
  CHECK(parse("no/such.csv") == Codes{"C005"});
}

TEST_CASE("jitter and seed are checked, all at once") {
  const auto check = [](const VariationFlags& flags) { return codes_of([&] { (void)check_variation(flags); }); };
  CHECK(check({{}, "", "lognormal:0.05", ""}).empty());
  CHECK(check({{}, "", "normal:0.05", ""}) == Codes{"C006"});
  CHECK(check({{}, "", "lognormal:0", ""}) == Codes{"C006"});
  CHECK(check({{}, "", "lognormal:2", ""}).empty());
  CHECK(check({{}, "", "lognormal:2.1", ""}) == Codes{"C006"});
  CHECK(check({{}, "", "lognormal:0.1", "-1"}) == Codes{"C011"});
  CHECK(check({{}, "", "lognormal:0.1", "9223372036854775807"}).empty());
  CHECK(check({{"device=1:2"}, "", "", "7"}) == Codes{"C004"});
  CHECK(check({{"x"}, "y:1", "z", "w"}) == Codes{"C006", "C002", "C006", "C011"});
}

TEST_CASE("files of factors and of tokens") {
  const std::vector<double> factors{1.25, 0.75};
  CHECK(read_factors_file("microbatch,factor\n0,1.25\n1,0.75\n", "f.csv") == factors);
  CHECK(read_factors_file("microbatch,factor\r\n0,1.25\r\n1,0.75", "f.csv") == factors);
  CHECK(read_factors_file("microbatch,tokens\n0,5120\n1,3072\n", "f.csv") == factors);
  CHECK(read_factors_file(R"({"schema": "debubble.factors/1", "factors": [1.25, 0.75]})", "f.json") == factors);
  CHECK(read_factors_file(R"({"schema": "debubble.factors/1", "tokens": [5120, 3072]})", "f.json") == factors);
  const Schedule schedule = build("1f1b", 2, 3);
  FactorSource source;
  source.kind = FactorSource::Kind::kFile;
  source.factors = factors;
  CHECK(codes_of([&] { (void)microbatch_factors(source, 3, 1); }) == Codes{"P012"});
  CHECK(microbatch_factors(source, 2, 1) == factors);
}

TEST_CASE("a file of factors is read strictly, and all that is wrong is said at once") {
  CHECK(file_codes("f.csv", "microbatch;factor\n0;1\n") == Codes{"P005"});
  CHECK(file_codes("f.csv", "microbatch,factor\n") == Codes{"P006"});
  CHECK(file_codes("f.csv", "microbatch,factor\n0,1,2\n1,1\n") == Codes{"G002"});
  CHECK(file_codes("f.csv", "microbatch,factor\n0,1\n\n1,1\n") == Codes{"G002", "G002"});
  CHECK(file_codes("f.csv", "microbatch,factor\n1,1\n0,0\n2,x\n") == Codes{"G002", "G002", "P004", "P004"});
  CHECK(file_codes("f.csv", "microbatch,factor\n0,1\xff\n") == Codes{"P002"});
  CHECK(file_codes("f.json", "{") == Codes{"P001"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/2", "factors": [1]})") == Codes{"P010"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/1"})") == Codes{"P006"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/1", "factors": [], "tokens": []})") == Codes{"P006"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/1", "factors": [1, 0, "x", 1e9], "seed": 1})") ==
        Codes{"P005"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/1", "factors": [1, 0, "x", 1e9]})") ==
        Codes{"P004", "P004", "P004"});
  CHECK(file_codes("f.json", R"({"schema": "debubble.factors/1", "factors": 1})") == Codes{"P007"});
}

}  // namespace
}  // namespace debubble::testing
