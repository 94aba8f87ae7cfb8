// What transforms refuse, and in which words.
#include "tests/support/test.hpp"
#include "tests/transforms/transformed.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Diagnostic refusal(const std::string& name, const Schedule& schedule, const Params& params = {}) {
  return first_problem([&] { (void)transformed(name, schedule, params); });
}

}  // namespace

TEST_CASE("misspelt names of transforms and parameters get a suggestion") {
  const Schedule schedule = build("1f1b", 4, 8);
  CHECK(refusal("recomput", schedule).code == "C003");
  CHECK(refusal("recomput", schedule).help == "did you mean recompute?");
  const Diagnostic unknown = refusal("recompute", schedule, {{"wen", "late"}});
  CHECK(unknown.code == "C017");
  CHECK(unknown.help == "did you mean when?");
  const Diagnostic value = refusal("split-backward", schedule, {{"when", "idl"}});
  CHECK(value.code == "S007");
  CHECK(value.place == "--transform split-backward:when");
  CHECK(value.help == "did you mean idle?");
  const Diagnostic number = refusal("split-backward", schedule, {{"deferred", "x"}});
  CHECK(number.code == "C012");
  CHECK(number.help == "write deferred=1");
}

TEST_CASE("values of another form are refused") {
  const Schedule schedule = build("1f1b", 4, 8);
  CHECK(refusal("recompute", schedule, {{"window", "0"}}).code == "C012");
  CHECK(refusal("recompute", schedule, {{"window", "two"}}).code == "C012");
  CHECK(refusal("recompute", schedule, {{"keep", "1.5"}}).code == "S006");
  for (const char* stages : {"4", "1-0", "-1", "1-2-3", "", "a"}) {
    CHECK(refusal("recompute", schedule, {{"stages", stages}}).code == "S061");
  }
  CHECK(refusal("recompute", schedule, {{"stages", "0+2-3"}}).code.empty());
  CHECK(refusal("recompute", schedule, {{"mario", "true"}, {"memory_limit", "lots"}}).code == "S006");
  CHECK(refusal("recompute", schedule, {{"mario", "true"}, {"memory_limit", "0.5"}}).code == "S042");
}

TEST_CASE("transforms refuse what makes no sense") {
  const Schedule schedule = build("1f1b", 4, 8);
  CHECK(refusal("split-backward", build("zb-h1", 4, 8)).code == "M008");
  CHECK(refusal("split-backward", build("pipedream", 4, 8)).code == "M007");
  CHECK(refusal("recompute", transformed("recompute", schedule)).code == "M008");
  CHECK(refusal("recompute", schedule, {{"mario", "true"}, {"when", "late"}}).code == "S075");
  CHECK(refusal("recompute", schedule, {{"mode", "selective"}}).code == "S075");
  CHECK(refusal("recompute", schedule, {{"memory_limit", "4"}}).code == "S075");
  CHECK(refusal("recompute", build("dualpipe", 4, 8)).code == "M007");
  CHECK(refusal("recompute", schedule, {{"stored", "100"}}).code == "M014");
  CHECK(refusal("vocabulary-parallel", transformed("vocabulary-parallel", schedule)).code == "M008");
  CHECK(refusal("vocabulary-parallel", build("chimera", 4, 8)).code == "M007");
  CHECK(refusal("vocabulary-parallel", build("pipedream", 4, 8)).code == "M007");
  CHECK(refusal("fill-bubbles", schedule).code == "M014");
  CHECK(refusal("recompute", build("pipelined-backprop", 4, 8, 0, {{"engines", "2"}})).code == "M007");
  const Schedule moving = build("pipeoffload", 4, 8);
  REQUIRE(!moving.copies.empty());
  CHECK(refusal("recompute", moving).code == "M007");
  CHECK(refusal("vocabulary-parallel", moving).code == "M007");
  const Params work{{"curvature", "1"}};
  CHECK(refusal("fill-bubbles", transformed("fill-bubbles", schedule, work), work).code == "M008");
  CHECK(refusal("fill-bubbles", build("pipedream", 4, 8), work).code == "M007");
}
