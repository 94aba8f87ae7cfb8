#include <utility>

#include "formats/version.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {
namespace {

constexpr int kPageVersion = 1;

std::string page_header(const Page& page, std::string& bytes) {
  Json answers = Json::array();
  for (const auto& [label, text] : page.answers) {
    Json answer = Json::array();
    answer.push_back(label);
    answer.push_back(text);
    answers.push_back(answer);
  }
  Json documents = Json::array();
  const auto add = [&](const std::string& name, const std::string& text) {
    documents.push_back({{"name", name}, {"offset", bytes.size()}, {"bytes", text.size()}});
    bytes += text;
  };
  for (const PageDocument& document : page.documents) add(document.name, document.text);
  add("report.txt", page.text);
  Json runs = json_list(page.runs, [&](const PageRun& run) { return run_tables(run, bytes); });
  const Json header = {{"page_version", kPageVersion},
                       {"verb", page.verb},
                       {"command_line", page.command_line},
                       {"tool", {{"name", "debubble"}, {"version", kVersion}}},
                       {"title", page.title},
                       {"verdict", page.verdict},
                       {"answers", answers},
                       {"documents", documents},
                       {"runs", runs}};
  return header.text();
}

}  // namespace

std::string page_data(const Page& page) {
  std::string bytes;
  const std::string header = page_header(page, bytes);
  std::string data;
  for (unsigned shift = 0; shift < 32; shift += 8) data.push_back(static_cast<char>(header.size() >> shift & 0xFFU));
  data += header;
  data += bytes;
  return data;
}

}  // namespace debubble
