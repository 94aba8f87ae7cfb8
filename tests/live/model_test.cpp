#include "studies/live/model.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

TEST_CASE("the built-in transformer is cut by every rule but the memory's, which is refused as a list") {
  const TransformerShape shape = model_shape("gpt2-small");
  std::vector<Assumption> said;
  const auto cut = [&](const char* rule, int stages) {
    return model_partition(shape, WorkloadSize{}, parse_cut_rule(rule), stages, said);
  };
  CHECK(cut("even", 4) == std::vector<int>{4, 3, 3, 4});
  CHECK(cut("Et*7|t*5L", 2) == std::vector<int>{8, 6});
  CHECK(cut("5,9", 2) == std::vector<int>{5, 9});
  CHECK(cut("auto", 1) == std::vector<int>{14});
  CHECK_THROWS_WITH_AS((void)cut("memory", 2), doctest::Contains("S061"), InputError);
}
