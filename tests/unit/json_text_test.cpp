#include "formats/json/json_text.hpp"

#include <nlohmann/json.hpp>

#include "formats/files/text_sink.hpp"
#include "formats/json/json.hpp"
#include "formats/text/text.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

template <typename Append, typename Value>
std::string appended(Append append, Value value) {
  std::string out;
  append(out, value);
  return out;
}

std::string appended_string(std::string_view text) { return appended(append_json_string, text); }

TEST_CASE("microseconds are printed from nanoseconds without rounding") {
  CHECK(appended(append_microseconds, 0) == "0.000");
  CHECK(appended(append_microseconds, 1) == "0.001");
  CHECK(appended(append_microseconds, 999) == "0.999");
  CHECK(appended(append_microseconds, 1000) == "1.000");
  CHECK(appended(append_microseconds, 1'234'567) == "1234.567");
  CHECK(appended(append_microseconds, -1'050) == "-1.050");
  CHECK(appended(append_microseconds, std::numeric_limits<std::int64_t>::max()) == "9223372036854775.807");
  CHECK(appended(append_microseconds, std::numeric_limits<std::int64_t>::min()) == "-9223372036854775.808");
}

TEST_CASE("sizes are MiB with up to six decimals, rounded half up") {
  CHECK(appended(append_mebibytes, 0) == "0");
  CHECK(appended(append_mebibytes, kMebibyte) == "1");
  CHECK(appended(append_mebibytes, kMebibyte * 3 / 2) == "1.5");
  CHECK(appended(append_mebibytes, 1) == "0.000001");
  CHECK(appended(append_mebibytes, 1024) == "0.000977");
  CHECK(appended(append_mebibytes, kMebibyte - 1) == "0.999999");
  CHECK(appended(append_mebibytes, 80 * 1024 * kMebibyte + 10486) == "81920.01");
  CHECK(appended(append_mebibytes, std::numeric_limits<std::int64_t>::max()) == "8796093022207.999999");
  CHECK(appended(append_mebibytes, -kMebibyte / 4) == "-0.25");
}

TEST_CASE("sizes are right to half a millionth of a MiB, up to the last byte") {
  for (Bytes bytes = kMebibyte; bytes <= 2 * kMebibyte; bytes += bytes < 2 * kMebibyte - 1000 ? 997 : 1) {
    const double printed = std::stod(appended(append_mebibytes, bytes));
    REQUIRE(std::abs(printed - static_cast<double>(bytes) / 1048576.0) < 0.5000001e-6);
  }
}

TEST_CASE("reals are the shortest that read back, and null where JSON has none") {
  CHECK(appended(append_json_number, 0.1) == "0.1");
  CHECK(appended(append_json_number, 3.0) == "3");
  CHECK(appended(append_json_number, std::numeric_limits<double>::infinity()) == "null");
  CHECK(appended(append_json_number, std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("strings escape what JSON requires and keep UTF-8") {
  CHECK(appended_string("plain") == "\"plain\"");
  CHECK(appended_string("a\"b\\c") == R"("a\"b\\c")");
  CHECK(appended_string(std::string_view("\n\t\r\0\x1f\x7f", 6)) == R"("\n\t\u000d\u0000\u001f\u007f")");
  CHECK(appended_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

// Two writers, for streams and for short texts.
constexpr std::string (*kStringWriters[])(std::string_view) = {appended_string, json_string};

TEST_CASE("bytes that are not UTF-8 become the replacement character") {
  for (const auto written : kStringWriters) {
    CHECK(written("a\xff"
                  "b") == R"("a\ufffdb")");
    CHECK(written("\xc3") == R"("\ufffd")");
    CHECK(written("\xc0\x80") == R"("\ufffd\ufffd")");            // overlong
    CHECK(written("\xe0\x80\x80") == R"("\ufffd\ufffd\ufffd")");  // overlong
    CHECK(written("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");  // surrogate
    CHECK(written("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
    CHECK(written("\xf5\x80") == R"("\ufffd\ufffd")");
    CHECK(written("\xc3\xa9") == "\"\xc3\xa9\"");
  }
}

TEST_CASE("any two bytes give a string that a JSON parser takes") {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char bytes[] = {static_cast<char>(a), static_cast<char>(b), 'x'};
      for (const auto written : kStringWriters) REQUIRE(nlohmann::json::accept(written({bytes, 3})));
    }
  }
}

TEST_CASE("members are added to objects and null, elements to arrays and null, nothing to anything else") {
  Json null_to_object;
  null_to_object["a"]["b"] = 1;
  CHECK(null_to_object.text() == R"({"a":{"b":1}})");
  Json null_to_array;
  null_to_array.push_back("x");
  null_to_array.push_back(nullptr);
  CHECK(null_to_array.text() == R"(["x",null])");
  for (const Json& other : {Json("text"), Json(3), Json(true), Json::array()}) {
    Json json = other;
    CHECK_THROWS_AS(json["a"], std::logic_error);
    CHECK(json.text() == other.text());
  }
  for (const Json& other : {Json("text"), Json(3), Json(true), Json::object()}) {
    Json json = other;
    CHECK_THROWS_AS(json.push_back(1), std::logic_error);
    CHECK(json.text() == other.text());
  }
}

TEST_CASE("the buffer hands on everything, in pieces of its own size") {
  std::string text;
  int calls = 0;
  TextBuffer buffer([&](std::string_view piece) {
    text += piece;
    ++calls;
  });
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    buffer << std::int64_t{i} << ",";
    buffer.end_record();
    expected += std::to_string(i) + ",";
  }
  CHECK(calls > 1);
  CHECK(calls < 20);
  buffer << std::numeric_limits<std::int64_t>::min();
  buffer.flush();
  CHECK(text == expected + "-9223372036854775808");
}

}  // namespace
}  // namespace debubble
