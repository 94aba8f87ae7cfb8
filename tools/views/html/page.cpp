#include "tools/views/html/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "tools/views/escape.hpp"
#include "tools/views/html/page_shell.hpp"

namespace debubble {
namespace {

std::string deflated(const std::string& data) {
  constexpr int kLevel = 6;
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string small(size, '\0');
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib's bytes are unsigned
  const auto* from = reinterpret_cast<const Bytef*>(data.data());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  auto* to = reinterpret_cast<Bytef*>(small.data());
  if (compress2(to, &size, from, static_cast<uLong>(data.size()), kLevel) != Z_OK) throw std::bad_alloc();
  small.resize(size);
  return small;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - k);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < here ? static_cast<unsigned char>(bytes[k + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) text.push_back(i <= here ? kDigits[group >> (18U - 6U * i) & 63U] : '=');
  }
  return text;
}

}  // namespace

void write_page(const Page& page, const TextSink& sink) {
  sink("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  sink("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; ");
  sink("style-src 'unsafe-inline'; img-src data: blob:\">\n");
  sink("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  sink("<meta name=\"color-scheme\" content=\"light dark\">\n");
  sink("<title>" + xml_escaped("debubble: " + page.title) + "</title>\n<style>");
  sink(page_style());
  sink("</style>\n</head>\n<body>\n<main id=\"page\"></main>\n<noscript><pre>");
  sink(xml_escaped(page.text));
  sink("</pre></noscript>\n<script type=\"application/octet-stream\" id=\"debubble-data\">");
  sink(base64(deflated(page_data(page))));
  sink("</script>\n<script>");
  sink(page_script());
  sink("</script>\n</body>\n</html>\n");
}

}  // namespace debubble
