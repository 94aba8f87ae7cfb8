// Page: one self-contained HTML file about a result, which opens from disk and asks the network for nothing.
//
// What it shows is drawn by the script of tools/report in the browser; the file holds that script, and the result as
// data (format in tools/report/README.md). Without a script it shows the text report.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "formats/files/text_sink.hpp"
#include "tools/views/html/run_tables.hpp"

namespace debubble {

// A run of more ops has a page without charts of them: a browser would take seconds for each look.
inline constexpr std::size_t kMostDrawnOps = 2'000'000;

struct PageDocument {
  std::string name;  // "report.json": what `--format json` prints; the page's numbers are read from it
  std::string text;
};

struct Page {
  std::string verb;
  std::string command_line;
  std::string title;                                         // "1f1b on 4 devices: 4 stages, 8 microbatches"
  std::string verdict;                                       // "33.00 ms per step, 27.3 % bubble"
  std::vector<std::pair<std::string, std::string>> answers;  // "limit", "try" and what they say
  std::vector<PageDocument> documents;
  std::vector<PageRun> runs;
  std::string text;  // the text report, for who has no script
};

// What the page's data block holds, before it is compressed: the length of the header, the header, the bytes.
[[nodiscard]] std::string page_data(const Page& page);

// Foreign text in it stays text. The same page gives the same bytes. Throws what `sink` throws.
void write_page(const Page& page, const TextSink& sink);

}  // namespace debubble
