#include "profiler/measurement/kernel_spans.hpp"

#include <algorithm>
#include <numeric>

#include "profiler/records/record_file.hpp"

namespace debubble {
namespace {

class Collector : public RecordSink {
 public:
  using RecordSink::on;
  void on(const KernelRecord& record) override {
    if (record.work != GpuWork::kKernel || record.end == 0) return;
    spans.push_back({std::string(record.name), record.context, record.stream, record.begin, record.end});
  }

  std::vector<KernelSpan> spans;
};

}  // namespace

std::vector<KernelSpan> kernel_spans(const std::string& record_file) {
  Collector collector;
  read_record_file(record_file, collector);
  std::stable_sort(collector.spans.begin(), collector.spans.end(),
                   [](const KernelSpan& a, const KernelSpan& b) { return a.begin < b.begin; });
  return std::move(collector.spans);
}

Nanoseconds granularity(const std::vector<KernelSpan>& spans) {
  Nanoseconds step = 0;
  for (const KernelSpan& span : spans) {
    step = std::gcd(step, span.begin - spans.front().begin);
    step = std::gcd(step, span.end - spans.front().begin);
  }
  return step;
}

std::vector<Nanoseconds> gaps(const std::vector<KernelSpan>& spans, const std::string& name) {
  std::vector<Nanoseconds> found;
  for (std::size_t k = 1; k < spans.size(); ++k) {
    if (spans[k].name == name && spans[k - 1].name == name) found.push_back(spans[k].begin - spans[k - 1].end);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace debubble
