// The table of the start rule (sim/core/op.hpp): what its rows must agree on.
#include "sim/core/op.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

constexpr std::int32_t kStages = 4;

std::string kinds_for_which(bool (*holds)(OpKind)) {
  std::string letters;
  for (int kind = 0; kind < kOpKinds; ++kind) {
    if (holds(static_cast<OpKind>(kind))) letters += letter(static_cast<OpKind>(kind));
  }
  return letters;
}

}  // namespace

TEST_CASE("kinds of op by what they are part of") {
  CHECK_EQ(kinds_for_which(is_pipelined), "FBI");
  CHECK_EQ(kinds_for_which(makes_input_gradient), "BI");
  CHECK_EQ(kinds_for_which(makes_weight_gradient), "BW");
  CHECK_EQ(kinds_for_which(is_backward), "BIW");
  CHECK_EQ(kinds_for_which(is_vocabulary), "ST");
}

TEST_CASE("an op and the op that takes its output name each other's stage, and the ends of the pipeline name none") {
  for (const OpKind kind : {OpKind::kForward, OpKind::kBackward, OpKind::kInputGrad}) {
    CAPTURE(letter(kind));
    int ends = 0;
    for (std::int32_t stage = 0; stage < kStages; ++stage) {
      const std::int32_t target = target_stage(kind, stage, kStages);
      if (target < 0) {
        ++ends;
        continue;
      }
      CHECK_EQ(source_stage(kind, target, kStages), stage);
      CHECK(feeds({kind, false, stage, 7}, {kind, false, target, 7}, kStages));
      CHECK_FALSE(feeds({kind, false, target, 7}, {kind, false, stage, 7}, kStages));
      CHECK_FALSE(feeds({kind, false, stage, 7}, {kind, false, target, 8}, kStages));
    }
    CHECK_EQ(ends, 1);
  }
}

TEST_CASE("B and I feed each other's stages, F feeds F and the shards of the vocabulary") {
  CHECK(feeds({OpKind::kInputGrad, false, 2, 0}, {OpKind::kBackward, false, 1, 0}, kStages));
  CHECK_FALSE(feeds({OpKind::kForward, false, 2, 0}, {OpKind::kBackward, false, 1, 0}, kStages));
  CHECK_FALSE(feeds({OpKind::kWeightGrad, false, 2, 0}, {OpKind::kInputGrad, false, 1, 0}, kStages));
  CHECK(feeds({OpKind::kForward, false, kStages - 1, 0}, {OpKind::kVocabularyLogits, false, 0, 0}, kStages));
  CHECK_FALSE(feeds({OpKind::kForward, false, 0, 0}, {OpKind::kVocabularyLogits, false, 1, 0}, kStages));
}

TEST_CASE("no kind needs itself, and letters and words tell kinds apart") {
  std::set<char> letters;
  std::set<std::string> words;
  for (int k = 0; k < kOpKinds; ++k) {
    const auto kind = static_cast<OpKind>(k);
    CHECK_FALSE(needs(kind, kind));
    letters.insert(letter(kind));
    words.insert(rule_of(kind).word);
  }
  CHECK_EQ(letters.size(), kOpKinds);
  CHECK_EQ(words.size(), kOpKinds);
  CHECK(needs(OpKind::kWeightGrad, OpKind::kInputGrad));
  CHECK(needs(OpKind::kInputGrad, OpKind::kRecompute));
  CHECK_FALSE(needs(OpKind::kWeightGrad, OpKind::kForward));
}
