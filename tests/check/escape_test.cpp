// Hostile text in XML, Markdown and GitHub's workflow commands.
#include "tools/views/escape.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("XML gets references for its own characters and for line ends") {
  CHECK(xml_escaped("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&apos;");
  CHECK(xml_escaped("a\nb\tc\rd") == "a&#10;b&#9;c&#13;d");
  CHECK(xml_escaped("]]>") == "]]&gt;");
  CHECK(xml_escaped("Zürich 東京") == "Zürich 東京");
}

TEST_CASE("what XML cannot hold becomes a replacement character") {
  CHECK(xml_escaped(std::string_view("a\0b\x1b[31m", 8)) ==
        "a\xef\xbf\xbd"
        "b\xef\xbf\xbd[31m");
  CHECK(xml_escaped("\xff\xc3") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(xml_escaped("x\xef\xbf\xbey") == "x\xef\xbf\xbdy");
}

TEST_CASE("Markdown gets one line of plain text") {
  CHECK(markdown_escaped("a|b") == "a&#124;b");
  CHECK(markdown_escaped("a\r\nb") == "a  b");
  CHECK(markdown_escaped("<img src=x>") == "&#60;img src=x>");
  CHECK(markdown_escaped("*b* _i_ `c` [l](u) \\ ~~s~~ @you #1 $x$") ==
        "&#42;b&#42; &#95;i&#95; &#96;c&#96; &#91;l&#93;(u) &#92; &#126;&#126;s&#126;&#126; &#64;you &#35;1 "
        "&#36;x&#36;");
  CHECK(markdown_escaped("bubble_ratio &amp;") == "bubble_ratio &#38;amp;");
}

TEST_CASE("what shows text otherwise than it is stands there by its number") {
  CHECK(xml_escaped("a\u202eb\u0085") == "a\\u202eb\\u0085");
  CHECK(markdown_escaped("a\u2066b") == "a&#92;u2066b");
  CHECK(github_message("a\u200bb") == "a\\u200bb");
}

TEST_CASE("GitHub's commands get their percent codes, properties two more") {
  CHECK(github_message("50 %: a,b\r\nc") == "50 %25: a,b%0D%0Ac");
  CHECK(github_property("50 %: a,b\r\nc") == "50 %25%3A a%2Cb%0D%0Ac");
  CHECK(github_message("a\x1b[31mü") == "a\\x1b[31mü");
  CHECK(github_message("::error::x") == "::error::x");
  CHECK(github_property("::error::x") == "%3A%3Aerror%3A%3Ax");
}

}  // namespace
}  // namespace debubble
