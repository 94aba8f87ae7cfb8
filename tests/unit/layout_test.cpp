// Megatron's layout strings: read, written, and refused with the column.
#include "cost_models/partition/layout.hpp"
#include "cost_models/partition/blocks.hpp"
#include "sim/core/layout_letters.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

Profile profile_of(int decoders, int mtp = 0, bool ends = true) {
  Profile profile;
  profile.model = "tiny";
  const auto add = [&](const char* kind) { profile.layers.emplace_back().kind = kind; };
  if (ends) add("embedding");
  for (int k = 0; k < decoders; ++k) add("transformer");
  for (int k = 0; k < mtp; ++k) add("mtp");
  if (ends) add("head");
  return profile;
}

std::string layout_complaint(const std::string& text, int stages, const Profile& profile) {
  return problems_of([&] { (void)parse_layout(text, stages, profile); });
}

TEST_CASE("layouts are told from numbers of layers") {
  for (const char* text : {"Et|tL", "E,t*3|L", " E|L", "(t|)*3", "Ett*3L"}) CHECK(is_layout(text));
  for (const char* text : {"", "3,3", "auto", "a,b", "+3", "6"}) CHECK_FALSE(is_layout(text));
}

TEST_CASE("letters place layers, and repetitions are written out") {
  CHECK(parse_layout("Ett|tt|tL", 3, profile_of(5)) == std::vector<int>{3, 2, 2});
  CHECK(parse_layout("Et*3|(tt|)*2,t|L", 5, profile_of(8)) == std::vector<int>{4, 2, 2, 1, 1});
  CHECK(parse_layout("E,t , t|(t*2|)*2L", 4, profile_of(6)) == std::vector<int>{3, 2, 2, 1});
  // The example of Megatron's documentation, of a model of 61 decoder layers and one MTP layer.
  const std::vector<int> sizes = parse_layout("Et*3|(tt|)*29,m|L", 32, profile_of(61, 1));
  CHECK(sizes.front() == 4);
  CHECK(sizes[1] == 2);
  CHECK(sizes[30] == 1);
  CHECK(sizes[31] == 1);
}

TEST_CASE("a profile without embedding and head places nothing for E and L") {
  CHECK(parse_layout("Ett|ttL", 2, profile_of(4, 0, false)) == std::vector<int>{2, 2});
  CHECK(layout_complaint("Ett|tt|L", 3, profile_of(4, 0, false)) ==
        "error[J034]: stage 2 (\"L\") gets no layer of tiny\n"
        "  --> --partition\n"
        "  = help: the profile has no layer of that kind, so the stage would cost nothing\n");
  CHECK(parse_layout("Ett||ttL", 3, profile_of(4)) == std::vector<int>{3, 0, 3});  // as Megatron-LM has it
}

TEST_CASE("what is written is read back") {
  for (const auto& sizes : {std::vector<int>{3, 2, 2, 2, 2, 1}, {7}, {1, 6}, {6, 1}, {2, 2, 2}, {5, 5, 5, 5, 5}}) {
    int layers = 0;
    for (const int size : sizes) layers += size;
    for (const bool ends : {true, false}) {
      if (ends && layers < 3) continue;
      const Profile profile = profile_of(ends ? layers - 2 : layers, 0, ends);
      const std::string text = write_layout(sizes, profile);
      CAPTURE(text);
      CHECK(is_layout(text));
      CHECK(parse_layout(text, static_cast<int>(sizes.size()), profile) == sizes);
    }
  }
  CHECK(write_layout({3, 2, 2, 2, 1}, profile_of(8)) == "Ett|(tt|)*3,L");
  CHECK(write_layout({6, 3}, profile_of(5, 2)) == "Et*5|mmL");
  CHECK(write_layout({4, 4}, profile_of(8, 0, false)) == "Et*4|t*4L");
}

TEST_CASE("what is no layout is refused with its column") {
  const Profile profile = profile_of(4);
  CHECK(layout_complaint("Ett|txL", 2, profile) ==
        "error[J030]: \"x\" is not part of a layout\n"
        "  --> --partition, column 6\n"
        "  = help: E embedding, t decoder layer, m MTP layer, L loss, | between stages, x*N and (...)*N\n");
  CHECK(layout_complaint("Et*|L", 2, profile)
            .find("error[J030]: a number of repetitions must follow the \"*\"\n"
                  "  --> --partition, column 4") == 0);
  CHECK(layout_complaint("Et*0|L", 2, profile).find("error[J030]: 0 repetitions") == 0);
  CHECK(layout_complaint("Et*99999999999999999999|L", 2, profile).find("error[J030]") == 0);
  CHECK(layout_complaint("E(t*999|)*999999|L", 2, profile).find("error[J030]") == 0);
  CHECK(layout_complaint("E(tt|L", 2, profile)
            .find("error[J030]: this \"(\" is never closed\n"
                  "  --> --partition, column 2") == 0);
  CHECK(layout_complaint("Ett|)L", 2, profile).find("error[J030]: this \")\" closes nothing") == 0);
  CHECK(layout_complaint("E((t)*2|)*2L", 3, profile).find("error[J030]: parentheses do not nest") == 0);
  CHECK(layout_complaint("E()*2|L", 2, profile).find("error[J030]: these parentheses are empty") == 0);
  CHECK(layout_complaint("E(tt|)ttL", 2, profile).find("error[J030]: parentheses are for repetition") == 0);
}

TEST_CASE("letters come in Megatron's order") {
  const Profile profile = profile_of(4);
  for (const char* text : {"tt|ttL", "Ett|tt", "Ett|EttL", "tE|ttL", "Ett|LtL", "Em|tL", "Em|mL"}) {
    CAPTURE(text);
    CHECK(layout_complaint(text, 2, profile).find("error[J030]") == 0);
  }
}

TEST_CASE("stages and layers are counted") {
  CHECK(layout_complaint("Ett|ttL", 3, profile_of(4)) ==
        "error[J034]: the pipeline has 3 stages, the layout 2\n"
        "  --> --partition\n"
        "  = help: it has one \"|\" fewer than stages (devices times chunks)\n");
  CHECK(layout_complaint("Ett|tL", 2, profile_of(4)) ==
        "error[J034]: decoder layers in model / placed: 4 / 3\n"
        "  --> --partition\n"
        "  = help: the layout must have 4 times t\n");
  CHECK(layout_complaint("Ett|ttmL", 2, profile_of(4)).find("error[J034]: MTP layers in model / placed: 0 / 1") == 0);
}

TEST_CASE("predictors behind the head, as a modelled profile has them, are m on the last stage") {
  Profile profile = profile_of(3);
  profile.layers.emplace_back().kind = "predictor";
  CHECK(write_layout({3, 3}, profile) == "Ett|tmL");
  CHECK(parse_layout("Ett|tmL", 2, profile) == std::vector<int>{3, 3});
  CHECK(problems_of([&] { (void)write_layout({5, 1}, profile); }).find("error[J034]") == 0);
  CHECK(layout_complaint("Ett|tm|L", 3, profile).find("error[J034]: MTP layers are on an earlier stage") == 0);
}

TEST_CASE("a cut inside the embedding cannot be written") {
  Profile profile = profile_of(2);
  profile.layers.insert(profile.layers.begin(), profile.layers.front());
  CHECK(problems_of([&] {
          (void)write_layout({1, 4}, profile);
        }).find("error[J034]: the partition cuts the embed") == 0);
  CHECK(write_layout({2, 3}, profile) == "E|ttL");
}

LayerCounts counts_of(const std::vector<std::string>& kinds) {
  Profile profile;
  for (const std::string& kind : kinds) profile.layers.emplace_back().kind = kind;
  return count_layers(profile);
}

std::vector<int> even_layers_of(const std::vector<std::string>& kinds, int stages, const BlockWeights& weights = {}) {
  return even_cut(counts_of(kinds), stages, weights).value_or(std::vector<int>{});
}

TEST_CASE("every layer is counted once, by its place") {
  const LayerCounts counts = counts_of({"embedding", "embedding", "a", "b", "mtp", "lm_head", "loss"});
  CHECK(counts.embedding == 2);
  CHECK(counts.blocks == 2);
  CHECK(counts.predictors == 1);
  CHECK(counts.head == 2);
  CHECK_FALSE(counts.predictors_last);
  CHECK(counts_of({"a", "head", "predictor"}).predictors_last);
  CHECK(counts_of({"embedding", "a", "embedding", "head", "a", "head"}).blocks == 4);  // an encoder and a decoder
  CHECK(counts_of({"embedding", "embedding"}).blocks == 0);
  CHECK(counts_of({"head"}).head == 1);
}

TEST_CASE("an even cut shares the blocks, or the blocks and what the ends weigh") {
  const std::vector<std::string> kinds{"embedding", "a", "a", "a", "a", "a", "a", "head", "predictor"};
  CHECK(even_layers_of(kinds, 2) == std::vector<int>{4, 5});
  CHECK(even_layers_of(kinds, 4).empty());
  CHECK(even_layers_of(kinds, 4, {1, 1}) == std::vector<int>{2, 2, 2, 3});
  CHECK(even_layers_of(kinds, 3, {1, 1, 1}) == std::vector<int>{3, 3, 3});
  CHECK(even_layers_of(kinds, 7, {1, 0}) == std::vector<int>{1, 1, 1, 1, 1, 1, 3});
  CHECK(even_layers_of({"a", "a", "a"}, 4, {1, 0}).empty());  // a first stage without a layer
  CHECK(even_layers_of(kinds, 0).empty());
  CHECK(even_layers_of({"a", "a", "a", "head", "loss"}, 3) == std::vector<int>{1, 1, 3});
}

}  // namespace
}  // namespace debubble
