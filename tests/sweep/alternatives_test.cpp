// What people type for several values, and what it means.
#include "scenario/request/alternatives.hpp"
#include "scenario/check_scenario.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Values = std::vector<std::string>;

struct SweptFlags {
  ScenarioFlags flags;
  FlagRows rows = flag_rows(flags);
};

Values values(const std::string& name, const std::string& text) {
  SweptFlags swept;
  return alternatives_of(*find_flag(swept.rows, name), text);
}

std::string code_of_refusal(const std::string& name, const std::string& text) {
  try {
    (void)values(name, text);
  } catch (const InputError& error) {
    return error.diagnostics().front().code;
  }
  return "accepted";
}

TEST_CASE("lists are joined by commas, or by semicolons") {
  CHECK(values("--tp", "4") == Values{"4"});
  CHECK(values("--tp", "1,2, 4") == Values{"1", "2", "4"});
  CHECK(values("--tp", "1;2;4;") == Values{"1", "2", "4"});
  CHECK(values("--schedule", "1f1b,zb-h1") == Values{"1f1b", "zb-h1"});
  CHECK(values("--schedule", "a,b.csv;") == Values{"a,b.csv"});
}

TEST_CASE("ranges") {
  CHECK(values("--microbatches", "8:64:*2") == Values{"8", "16", "32", "64"});
  CHECK(values("--microbatches", "8:63:*2") == Values{"8", "16", "32"});
  CHECK(values("--devices", "2:8:+2") == Values{"2", "4", "6", "8"});
  CHECK(values("--devices", "2:7:+2,16") == Values{"2", "4", "6", "16"});
  CHECK(values("--seed", "3:6") == Values{"3", "4", "5", "6"});
  CHECK(values("--seed", "3:3") == Values{"3"});
  CHECK(values("--microbatches", "8:64:*1.5") == Values{"8", "12", "18", "27", "41", "61"});
  CHECK(values("--microbatches", "1:3:*1.1") == Values{"1", "2", "3"});
}

TEST_CASE("ranges of decimals and quantities are exact") {
  CHECK(values("--comm", "0.1:0.3:+0.1") == Values{"0.1", "0.2", "0.3"});
  CHECK(values("--comm", "0:1:+0.25") == Values{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(values("--comm", "1us:8us:*2") == Values{"1us", "2us", "4us", "8us"});
  CHECK(values("--comm", "1:4us:+1.5us") == Values{"1us", "2.5us", "4us"});
  CHECK(values("--bandwidth", "10GB/s:20GB/s:+5GB/s") == Values{"10GB/s", "15GB/s", "20GB/s"});
  CHECK(values("--memory", "40GiB:80GiB:+40GiB") == Values{"40GiB", "80GiB"});
  CHECK(values("--comm", "0.5us:2us:*2") == Values{"0.5us", "1us", "2us"});
  CHECK(code_of_refusal("--w-share", "0:1:+0.000000001") == "C012");
}

TEST_CASE("what has a colon but is no range stays as it is") {
  CHECK(values("--topology", "dgx-h100:8") == Values{"dgx-h100:8"});
  CHECK(values("--topology", "dgx-h100:8; hxmesh:a=2,b=2,x=2,y=2") == Values{"dgx-h100:8", "hxmesh:a=2,b=2,x=2,y=2"});
  CHECK(values("--jitter", "lognormal:0.05,lognormal:0.1") == Values{"lognormal:0.05", "lognormal:0.1"});
  CHECK(values("--slow", "device=3:1.25") == Values{"device=3:1.25"});
  CHECK(values("--slow", "devices=1,1,1.2; device=0:2") == Values{"devices=1,1,1.2", "device=0:2"});
}

TEST_CASE("where a value may have commas, semicolons separate") {
  CHECK(values("--times", "f=1,b=2") == Values{"f=1,b=2"});
  CHECK(values("--times", "f=1,b=2; f=1,b=3") == Values{"f=1,b=2", "f=1,b=3"});
  CHECK(values("--partition", "3,3,2;2,3,3;auto") == Values{"3,3,2", "2,3,3", "auto"});
  CHECK(values("--param", "memory_limit=8,6,6,4") == Values{"memory_limit=8,6,6,4"});
}

TEST_CASE("a parameter's key is written once") {
  CHECK(values("--param", "group=4; 8; 12:16:+2") == Values{"group=4", "group=8", "group=12", "group=14", "group=16"});
  CHECK(values("--param", "group=4:8:*2") == Values{"group=4", "group=8"});
  CHECK(values("--param", "mode=a; pairs=2") == Values{"mode=a", "pairs=2"});
}

TEST_CASE("a switch is on or off") {
  CHECK(values("--dropout", "on") == Values{"true"});
  CHECK(values("--dropout", "true") == Values{"true"});
  CHECK(values("--dropout", "off,on") == Values{"false", "true"});
  CHECK(code_of_refusal("--dropout", "maybe") == "C002");
  CHECK(code_of_refusal("--dropout", "on,true") == "C007");
}

TEST_CASE("lists and ranges that say nothing are refused") {
  for (const char* text : {",", "1,,2", "1,", ",1", ";", "1;;2"}) {
    CAPTURE(text);
    CHECK(code_of_refusal("--tp", text) == "C006");
  }
  for (const char* text :
       {"8:2", "2:8:+0", "2:8:*1", "2:8:*0.5", "0:8:*2", "2:8:2", "2:8:-1", "2:8:+x", "2:8:+2us", "1us:2ms",
        "1us:8us:*2us", "1us:8us:+1ms", "1000000000000000:9999999999999999:+0.000000001"}) {
    CAPTURE(text);
    CHECK(code_of_refusal("--comm", text) == "C006");
  }
  CHECK(code_of_refusal("--tp", "2,4,2") == "C007");
  CHECK(code_of_refusal("--tp", "1:4,2") == "C007");
  CHECK(code_of_refusal("--seed", "1:1000001") == "C012");
  CHECK(code_of_refusal("--seed", "1:999999999999999") == "C012");
  CHECK(code_of_refusal("--seed", "1:1000000:*1.000000001") == "C012");  // 14 G steps
}

TEST_CASE("every flag of simulate whose values have commas is marked") {
  const SweptFlags swept;
  for (const Flag& flag : swept.rows) {
    CAPTURE(flag.name);
    const std::string shown = std::string(type_of(flag)) + " " + std::string(flag.help);
    const bool has_commas =
        contains(shown, "LIST") || contains(shown, ",|") || type_of(flag).find('=') != std::string_view::npos;
    if (has_commas) CHECK(flag.form != FlagForm::kPlain);
  }
}

}  // namespace
}  // namespace debubble::testing
