#include "cost_models/partition/partition.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::vector<int> typed_cut(const std::string& text, int stages, int layers) {
  Profile profile;
  profile.layers.resize(static_cast<std::size_t>(layers));
  return cut_layers(parse_cut_rule(text), {&profile, stages}).layers;
}

std::string partition_parse_complaint(const std::string& text, int stages, int layers) {
  return problems_of([&] { (void)typed_cut(text, stages, layers); });
}

TEST_CASE("a partition that fits is read") {
  CHECK(typed_cut("3,1,2", 3, 6) == std::vector<int>{3, 1, 2});
  CHECK(typed_cut("6", 1, 6) == std::vector<int>{6});
}

TEST_CASE("a partition must place every layer once") {
  CHECK(partition_parse_complaint("3,1,1", 3, 6) ==
        "error[L006]: layers in model / layers placed: 6 / 5\n"
        "  --> --partition\n"
        "  = help: the numbers must add up to 6\n");
  CHECK(contains(partition_parse_complaint("2147483647,2147483647", 2, 6), "layers placed: 6 / 4294967294\n"));
}

TEST_CASE("a partition has one number per stage, and both totals are reported") {
  CHECK(partition_parse_complaint("3,3", 3, 7) ==
        "error[L005]: the pipeline has 3 stages, the partition 2\n"
        "  --> --partition\n"
        "  = help: give one number per stage (devices times chunks)\n"
        "error[L006]: layers in model / layers placed: 7 / 6\n"
        "  --> --partition\n"
        "  = help: the numbers must add up to 7\n");
}

TEST_CASE("what is not a number of layers is refused, all of it at once") {
  CHECK(partition_parse_complaint("a,0,-1,99999999999,,2 ", 6, 9) ==
        "error[S061]: stage 0 gets \"a\", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n"
        "error[L004]: stage 1 gets 0 layers\n"
        "  --> --partition\n"
        "  = help: every stage needs at least one layer\n"
        "error[L004]: stage 2 gets -1 layers\n"
        "  --> --partition\n"
        "  = help: every stage needs at least one layer\n"
        "error[L007]: stage 3 gets more layers than can be counted\n"
        "  --> --partition\n"
        "  = help: the model has 9\n"
        "error[S061]: stage 4 gets \"\", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n"
        "error[S061]: stage 5 gets \"2 \", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n");
  CHECK(partition_parse_complaint("", 1, 1).find("error[S061]: stage 0 gets \"\"") == 0);
  CHECK(partition_parse_complaint("+3", 1, 3).find("error[S061]") == 0);
}

}  // namespace
}  // namespace debubble
