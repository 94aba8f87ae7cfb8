#include "formats/profile/profile_json.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kProfileReaderGood = R"({
  "schema": "debubble.profile/1",
  "model": "tiny",
  "dtype": "bf16",
  "microbatch_size": 2,
  "sequence_length": 128,
  "hop": {"latency_ns": 500, "bandwidth_bytes_per_s": 12500000000},
  "origin": {"times": "measured", "memory": "published", "device": "NVIDIA H200", "citation": "a paper", "repetitions": 9},
  "layers": [
    {"name": "embedding", "kind": "embedding", "forward": {"median_ns": 10, "p10_ns": 9, "p90_ns": 12, "n": 30},
     "backward": {"median_ns": 20}, "activation_bytes": 100, "output_bytes": 50, "parameter_bytes": 1000,
     "workspace_bytes": 7, "kernels": [{"name": "gather", "count": 3, "total_ns": 8}]},
    {"name": "block.4", "count": 3, "forward": {"median_ns": 30}, "input_grad": {"median_ns": 31},
     "weight_grad": {"median_ns": 32}, "activation_bytes": 200, "weight_grad_held_bytes": 150, "output_bytes": 60,
     "parameter_bytes": 2000}
  ]
}
)";

std::string complaint(const std::string& text) {
  return problems_of([&] { (void)read_profile(text, "tiny.json"); });
}

// What is said about the good profile after one edit.
std::string profile_reader_complaint_after(const std::string& from, const std::string& to) {
  return complaint(replaced(kProfileReaderGood, from, to));
}

TEST_CASE("a profile's every field arrives") {
  const Profile profile = read_profile(kProfileReaderGood, "tiny.json");
  CHECK(profile.model == "tiny");
  CHECK(profile.dtype == "bf16");
  CHECK(profile.microbatch_size == 2);
  CHECK(profile.sequence_length == 128);
  CHECK(profile.hop_latency == 500);
  CHECK(profile.hop_bandwidth == 12'500'000'000);
  CHECK(profile.origin.times == Source::kMeasured);
  CHECK(profile.origin.memory == Source::kPublished);
  CHECK(profile.origin.device == "NVIDIA H200");
  CHECK(profile.origin.citation == "a paper");
  CHECK(profile.origin.repetitions == 9);
  REQUIRE(profile.layers.size() == 4);
  const ProfileLayer& first = profile.layers[0];
  CHECK(first.name == "embedding");
  CHECK(first.kind == "embedding");
  CHECK(first.forward == TimeStatistics{10, 9, 12, 30});
  CHECK(first.backward == TimeStatistics{20, {}, {}, 0});
  CHECK_FALSE(first.input_grad);
  CHECK_FALSE(first.weight_grad_held);
  CHECK(first.workspace == 7);
  CHECK(first.kernels == std::vector<KernelSummary>{{"gather", 3, 8}});
  CHECK(profile.layers[1].name == "block.4");
  const ProfileLayer& last = profile.layers[3];
  CHECK(last.name == "block.6");
  CHECK_FALSE(last.backward);
  CHECK(last.input_grad->median == 31);
  CHECK(last.weight_grad->median == 32);
  CHECK(last.activation == 200);
  CHECK(last.weight_grad_held == 150);
  CHECK(last.output == 60);
  CHECK(last.parameters == 2000);
}

TEST_CASE("null means unknown sizes of microbatch and sequence") {
  const Profile profile = read_profile(
      replaced(replaced(kProfileReaderGood, "\"microbatch_size\": 2", "\"microbatch_size\": null"), ": 128", ": null"),
      "tiny.json");
  CHECK(profile.microbatch_size == 0);
  CHECK(profile.sequence_length == 0);
}

TEST_CASE("text that is not JSON is reported with line and column") {
  CHECK(complaint("") ==
        "error[P001]: not valid JSON: the file is empty\n"
        "  --> tiny.json:1:1\n"
        "  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it\n");
  const std::string cut = complaint(kProfileReaderGood.substr(0, kProfileReaderGood.find("\"embedding\"")));
  CHECK(contains(cut, "unexpected end of input"));
  CHECK(contains(cut, "--> tiny.json:10:14\n"));
  const std::string garbage = complaint(kProfileReaderGood + "x");
  CHECK(garbage.find("error[P001]: not valid JSON: syntax error while parsing value - invalid literal; last read: ") ==
        0);
  CHECK(contains(garbage, "--> tiny.json:18:1\n"));
  CHECK(
      contains(complaint(kProfileReaderGood + "{}"), "unexpected '{'; expected end of input\n  --> tiny.json:18:1\n"));
  CHECK(contains(profile_reader_complaint_after("\"median_ns\": 20", "\"median_ns\": NaN"), "tiny.json:11:32"));
  CHECK(profile_reader_complaint_after("\"median_ns\": 20", "\"median_ns\": 1e999") ==
        "error[P001]: not valid JSON: number overflow parsing '1e999'\n"
        "  --> tiny.json:11:36\n"
        "  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it\n");
}

TEST_CASE("bytes that are not UTF-8 are reported where they stand") {
  for (const char* bytes : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    CHECK(profile_reader_complaint_after("\"tiny\"", std::string("\"") + bytes + "\"") ==
          "error[P002]: not UTF-8 text\n"
          "  --> tiny.json:3:13\n"
          "  = help: save the file as UTF-8; a profile is text, never a binary file\n");
  }
  CHECK(profile_reader_complaint_after("\"tiny\"",
                                       "\"Gr\xC3\xB6\xC3\x9F"
                                       "e \xE2\x82\xAC \xF0\x9F\x98\x80\"")
            .empty());
}

TEST_CASE("nesting bombs are refused") {
  const std::string bomb = profile_reader_complaint_after("[{\"name\": \"gather\", \"count\": 3, \"total_ns\": 8}]",
                                                          std::string(100'000, '['));
  CHECK(bomb.find("error[P018]: nested more than 32 deep\n  --> tiny.json#/layers/0/kernels/0/0/") == 0);
  std::string objects;
  for (int k = 0; k < 50'000; ++k) objects += "{\"a\":";
  CHECK(complaint(objects).find("error[P018]") == 0);
}

TEST_CASE("a key that stands twice is an error, not the last one's victory") {
  CHECK(profile_reader_complaint_after("\"output_bytes\": 50", "\"output_bytes\": 50, \"output_bytes\": 51") ==
        "error[P003]: \"output_bytes\" appears twice\n"
        "  --> tiny.json#/layers/0/output_bytes\n"
        "  = help: keep one of the two\n");
}

TEST_CASE("numbers must be whole, not negative, not too large") {
  const std::string help = "  = help: durations are integers in nanoseconds: 1.5 ms is 1500000\n";
  const std::string place = "  --> tiny.json#/layers/0/backward/median_ns\n";
  const auto after = [](const std::string& number) {
    return profile_reader_complaint_after("\"median_ns\": 20", "\"median_ns\": " + number);
  };
  const std::string must = "\"median_ns\" must be a whole number of nanoseconds";
  CHECK(after("-5") == "error[P004]: " + must + ", at least 0; got -5\n" + place + help);
  CHECK(after("-99999999999999999999") ==
        "error[P004]: " + must + ", at least 0; got -99999999999999999999\n" + place + help);
  CHECK(after("1.5") == "error[P007]: " + must + "; got 1.5\n" + place + help);
  CHECK(after("2e3") == "error[P007]: " + must + "; got 2e3\n" + place + help);
  CHECK(after("\"20\"") == "error[P007]: " + must + "; got the string \"20\"\n" + place + help);
  CHECK(after("null") == "error[P007]: " + must + "; got null\n" + place + help);
  CHECK(after("true") == "error[P007]: " + must + "; got true\n" + place + help);
  CHECK(after("4503599627370497") ==
        "error[P004]: " + must + ", at most 4503599627370496; got 4503599627370497\n" + place + help);
  CHECK(after("9223372036854775808").find("error[P004]: ") == 0);
  CHECK(after("99999999999999999999").find("error[P004]: ") == 0);
  CHECK(after("4503599627370496").empty());
  CHECK(after("0").empty());
  CHECK(profile_reader_complaint_after("12500000000", "0")
            .find("error[P004]: \"bandwidth_bytes_per_s\" must be a whole number of bytes per "
                  "second, at least 1; got 0\n  --> tiny.json#/hop/bandwidth") == 0);
  CHECK(profile_reader_complaint_after("\"microbatch_size\": 2", "\"microbatch_size\": 0").find("error[P004]") == 0);
  CHECK(profile_reader_complaint_after("\"count\": 3, \"forward\"", "\"count\": 0, \"forward\"").find("error[P004]") ==
        0);
}

TEST_CASE("unknown keys are errors with a suggestion") {
  CHECK(profile_reader_complaint_after("\"weight_grad_held_bytes\"", "\"weight_grad_hold_bytes\"") ==
        "error[P005]: unknown key \"weight_grad_hold_bytes\"\n"
        "  --> tiny.json#/layers/1\n"
        "  = help: did you mean \"weight_grad_held_bytes\"?\n");
  CHECK(profile_reader_complaint_after("\"n\": 30", "\"whatever\": 30") ==
        "error[P005]: unknown key \"whatever\"\n"
        "  --> tiny.json#/layers/0/forward\n"
        "  = help: docs/profile.schema.json lists the keys that are allowed here\n");
  for (const char* key : {"\"latency_ns\"", "\"device\"", "\"gather\", \"count\"", "\"dtype\""}) {
    const std::string text = std::string(key).insert(std::string(key).size() - 1, "x");
    CHECK(contains(profile_reader_complaint_after(key, text), "error[P005]: unknown key"));
  }
}

TEST_CASE("missing keys and wrong types are errors") {
  CHECK(profile_reader_complaint_after("\"forward\": {\"median_ns\": 30}, ", "") ==
        "error[P006]: \"forward\" is missing\n"
        "  --> tiny.json#/layers/1\n"
        "  = help: docs/profile.schema.json lists what must be there\n");
  CHECK(profile_reader_complaint_after("\"model\": \"tiny\",", "") ==
        "error[P006]: \"model\" is missing\n"
        "  --> tiny.json#\n"
        "  = help: docs/profile.schema.json lists what must be there\n");
  CHECK(profile_reader_complaint_after("\"microbatch_size\": 2,", "")
            .find("error[P006]: \"microbatch_size\" is missing") == 0);
  CHECK(profile_reader_complaint_after("{\"median_ns\": 30}", "30") ==
        "error[P007]: an object is expected here; got 30\n"
        "  --> tiny.json#/layers/1/forward\n"
        "  = help: objects are written {\"key\": value}\n");
  CHECK(profile_reader_complaint_after("\"tiny\"", "[1]") ==
        "error[P007]: \"model\" must be a string; got an array\n"
        "  --> tiny.json#/model\n"
        "  = help: strings are in double quotes\n");
  CHECK(profile_reader_complaint_after("[{\"name\": \"gather\", \"count\": 3, \"total_ns\": 8}]", "{}") ==
        "error[P007]: \"kernels\" must be an array; got an object\n"
        "  --> tiny.json#/layers/0/kernels\n"
        "  = help: arrays are written [item, item]\n");
  CHECK(complaint("[]") ==
        "error[P007]: an object is expected here; got an array\n"
        "  --> tiny.json#\n"
        "  = help: objects are written {\"key\": value}\n");
  CHECK(profile_reader_complaint_after("\"tiny\"", "\"\"") ==
        "error[P019]: \"model\" must not be empty\n"
        "  --> tiny.json#/model\n"
        "  = help: reports print it: give it a name\n");
}

TEST_CASE("a transformer's sizes are read as strictly as all others") {
  const std::string sizes =
      R"("transformer": {"hidden": 64, "heads": 4, "kv_heads": 2, "head_size": 16, "feed_forward": 256, )"
      R"("vocabulary": 512, "gated": false, "flash_attention": true, "tensor_parallel": 2}, "layers": [)";
  const auto complaint_with = [&](const std::string& from, const std::string& to) {
    return profile_reader_complaint_after("\"layers\": [", from.empty() ? sizes : replaced(sizes, from, to));
  };
  CHECK(complaint_with("", "").empty());
  CHECK(complaint_with("\"hidden\": 64", "\"hidden\": 0") ==
        "error[P004]: \"hidden\" must be a whole number of numbers, at least 1; got 0\n"
        "  --> tiny.json#/transformer/hidden\n"
        "  = help: the whole model's size, before it is split over ranks\n");
  CHECK(complaint_with("\"gated\": false", "\"gated\": 0") ==
        "error[P007]: \"gated\" must be true or false; got 0\n"
        "  --> tiny.json#/transformer/gated\n"
        "  = help: without quotes\n");
  CHECK(complaint_with("\"vocabulary\": 512", "\"vocabulary\": 10000001").find("error[P004]") == 0);
  CHECK(contains(complaint_with("\"tensor_parallel\": 2", "\"tp\": 2"), "error[P006]"));
  CHECK(complaint_with("\"tensor_parallel\": 2", "\"tensor_parallel\": 2, \"rank\": 1").find("error[P005]") == 0);
  CHECK(profile_reader_complaint_after("\"layers\": [", "\"transformer\": 4, \"layers\": [").find("error[P007]") == 0);
}

TEST_CASE("a file of another schema gets that one complaint") {
  const std::string help =
      "  = help: debubble reads profiles of this version only; `debubble import` converts other formats\n";
  CHECK(profile_reader_complaint_after("debubble.profile/1", "debubble.profile/2") ==
        "error[P010]: \"schema\" must be \"debubble.profile/1\"; got the string \"debubble.profile/2\"\n"
        "  --> tiny.json#/schema\n" +
            help);
  CHECK(complaint("{\"layers\": 3}") ==
        "error[P010]: \"schema\" must be \"debubble.profile/1\"; got none\n"
        "  --> tiny.json#\n" +
            help);
}

TEST_CASE("an origin says honestly where the numbers come from") {
  CHECK(profile_reader_complaint_after("\"measured\"", "\"guessed\"") ==
        "error[P011]: \"times\" must be \"measured\", \"published\" or \"modelled\"; got the string \"guessed\"\n"
        "  --> tiny.json#/origin/times\n"
        "  = help: it says how far the numbers can be trusted\n");
  CHECK(profile_reader_complaint_after("\"measured\"", "\"default\"").find("error[P011]") == 0);
  CHECK(profile_reader_complaint_after("\"device\": \"NVIDIA H200\", ", "") ==
        "error[P006]: measured numbers need the \"device\" they were measured on\n"
        "  --> tiny.json#/origin\n"
        "  = help: for example \"device\": \"NVIDIA H200\"\n");
  CHECK(profile_reader_complaint_after("\"citation\": \"a paper\", ", "") ==
        "error[P006]: published numbers need a \"citation\"\n"
        "  --> tiny.json#/origin\n"
        "  = help: authors, title, venue, table or file\n");
  const std::string modelled =
      replaced(replaced(kProfileReaderGood, "\"measured\"", "\"modelled\""), "\"published\"", "\"modelled\"");
  CHECK(complaint(replaced(replaced(modelled, "\"device\": \"NVIDIA H200\", ", ""), "\"citation\": \"a paper\", ", ""))
            .empty());
}

TEST_CASE("percentiles must be in order") {
  const std::string expected =
      "error[P012]: the percentiles must be in order: p10_ns <= median_ns <= p90_ns\n"
      "  --> tiny.json#/layers/0/forward\n"
      "  = help: leave out percentiles that were not measured\n";
  CHECK(profile_reader_complaint_after("\"p10_ns\": 9", "\"p10_ns\": 11") == expected);
  CHECK(profile_reader_complaint_after("\"p90_ns\": 12", "\"p90_ns\": 9") == expected);
  CHECK(profile_reader_complaint_after("\"p10_ns\": 9", "\"p10_ns\": 10").empty());
  CHECK(profile_reader_complaint_after("\"p90_ns\": 12", "\"p90_ns\": 10").empty());
}

TEST_CASE("a layer has its whole backward or both halves") {
  CHECK(profile_reader_complaint_after("\"backward\": {\"median_ns\": 20}, ", "") ==
        "error[P006]: the layer has no backward time\n"
        "  --> tiny.json#/layers/0\n"
        "  = help: give \"backward\", or both \"input_grad\" and \"weight_grad\"\n");
  CHECK(profile_reader_complaint_after("\"input_grad\": {\"median_ns\": 31},", "") ==
        "error[P012]: one half of the backward has no time: \"input_grad\" is missing\n"
        "  --> tiny.json#/layers/1\n"
        "  = help: give both halves, or only \"backward\", their sum\n");
  CHECK(profile_reader_complaint_after("\"backward\": {\"median_ns\": 20}, ",
                                       "\"backward\": {\"median_ns\": 20}, \"input_grad\": "
                                       "{\"median_ns\": 9}, ")
            .find("error[P012]: one half of the backward has no time: \"weight_grad\" is missing") == 0);
  CHECK(profile_reader_complaint_after("\"input_grad\"", "\"backward\": {\"median_ns\": 63}, \"input_grad\"").empty());
}

TEST_CASE("the layers must be some, and not too many") {
  const std::string none = kProfileReaderGood.substr(0, kProfileReaderGood.find("\"layers\"")) + "\"layers\": []}";
  CHECK(complaint(none) ==
        "error[P016]: a profile has at least one layer\n"
        "  --> tiny.json#/layers\n"
        "  = help: docs/profile.schema.json shows how to describe one\n");
  CHECK(profile_reader_complaint_after("\"count\": 3, \"forward\"", "\"count\": 100000, \"forward\"") ==
        "error[P017]: more than 100000 layers\n"
        "  --> tiny.json#/layers\n"
        "  = help: merge layers that no partition will ever separate\n");
  CHECK(profile_reader_complaint_after("\"count\": 3, \"forward\"", "\"count\": 99999, \"forward\"").empty());
  CHECK(profile_reader_complaint_after("\"block.4\"", "\"block\"") ==
        "error[P012]: a name with \"count\" must end in a number; got \"block\"\n"
        "  --> tiny.json#/layers/1/name\n"
        "  = help: the layers of a run are numbered on: \"block.0\" with count 2 is block.0 and block.1\n");
  CHECK(profile_reader_complaint_after("\"block.4\"", "\"block.04\"").find("error[P012]") == 0);
}

TEST_CASE("all problems of a file are reported at once") {
  std::string text = replaced(kProfileReaderGood, "\"dtype\"", "\"dtyp\"");
  text = replaced(text, "\"median_ns\": 32", "\"median_ns\": -32");
  text = replaced(text, "\"n\": 30", "\"n\": 0.5");
  const std::string all = complaint(text);
  for (const char* code : {"P004", "P005", "P006", "P007"}) CHECK(contains(all, code));
}

TEST_CASE("a file that is wrong everywhere does not flood the screen") {
  std::string text = "{\"schema\": \"debubble.profile/1\"";
  for (int k = 0; k < 1000; ++k) text += ", \"x" + std::to_string(k) + "\": 1";
  const std::string all = complaint(text + "}");
  CHECK(contains(all, "error[P022]: and 906 more problems like these\n  --> tiny.json\n"));
}

}  // namespace
}  // namespace debubble
