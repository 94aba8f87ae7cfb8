// Decimal microseconds become nanoseconds without a detour over floating point.
#include "sim/core/quantities.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("microseconds with decimals are exact at any magnitude") {
  CHECK(nanoseconds_of_micros("0") == 0);
  CHECK(nanoseconds_of_micros("12.5") == 12500);
  CHECK(nanoseconds_of_micros("4458676522690.655") == 4458676522690655);
  CHECK(nanoseconds_of_micros("1695835542514261.123") == 1695835542514261123);
  CHECK(nanoseconds_of_micros("-0.001") == -1);
  CHECK(nanoseconds_of_micros("7 \r\n") == 7000);
}

TEST_CASE("what is finer than a nanosecond is rounded to the nearest") {
  CHECK(nanoseconds_of_micros("0.0004999") == 0);
  CHECK(nanoseconds_of_micros("0.0005") == 1);
  CHECK(nanoseconds_of_micros("-0.0005") == -1);
  CHECK(nanoseconds_of_micros("1.99951") == 2000);
  CHECK(nanoseconds_of_micros("1.00000000000000000000000000000000001") == 1000);
}

TEST_CASE("exponents move the decimal point") {
  CHECK(nanoseconds_of_micros("1e3") == 1'000'000);
  CHECK(nanoseconds_of_micros("1.2345E+2") == 123450);
  CHECK(nanoseconds_of_micros("125e-3") == 125);
  CHECK(nanoseconds_of_micros("1e-9") == 0);
  CHECK(nanoseconds_of_micros("0e999999999") == 0);
}

TEST_CASE("what is no JSON number, or too large, is none") {
  for (const char* text : {"", "-", "+1", "01", ".5", "5.", "1e", "0x10", "nan", "1 2", "1.2.3", "Infinity", "\"1\""}) {
    CAPTURE(text);
    CHECK_FALSE(nanoseconds_of_micros(text));
  }
  CHECK_FALSE(nanoseconds_of_micros("9999999999999999999"));
  CHECK_FALSE(nanoseconds_of_micros("1e999999999"));
  CHECK(nanoseconds_of_micros("4611686018427386.999") == 4611686018427386999);
}

TEST_CASE("whole numbers may be written in any way that is whole") {
  CHECK(whole_number("12090") == 12090);
  CHECK(whole_number("7.0") == 7);
  CHECK(whole_number("1e2") == 100);
  CHECK(whole_number("-3") == -3);
  CHECK_FALSE(whole_number("7.5"));
  CHECK_FALSE(whole_number("x"));
}

}  // namespace
}  // namespace debubble
