// The whole model as one layer, for recordings whose layers have no names.
//
//     as recorded     | ProfilerStep#3   aten::mm  ...  Optimizer.step ... |
//     handed on       | ProfilerStep#3 | debubble.layer:model   aten::mm ... Optimizer.step ... |
//
// The layer opens with every step and closes with it, so its times are those of a whole step; without steps it opens
// with the first range of each thread, autograd's threads aside. Backward and optimizer are told apart as always.
#pragma once

#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "profiler/records/forwarding_sink.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

// Whether any range's name matches one of these rules.
class RangeFinder : public RecordSink {
 public:
  explicit RangeFinder(const std::string& regex) : regex_(regex) {}
  using RecordSink::on;
  void on(const RangePush& record) override;
  [[nodiscard]] bool found() const { return found_; }

 private:
  std::regex regex_;
  std::set<std::string, std::less<>> seen_;
  bool found_ = false;
};

class WholeModel : public ForwardingSink {
 public:
  // `steps` is the rule for steps; empty: there are none in the recording.
  WholeModel(const std::string& steps, RecordSink& next);

  using ForwardingSink::on;
  void on(const RangePush& record) override;
  void on(const RangePop& record) override;
  void on(const LinkRecord& record) override;

  // Closes what is still open, at the newest time seen.
  void end_of_stream();

 private:
  struct Thread {
    std::vector<bool> steps;  // of each open range: whether the layer was opened in it
    bool open = false;        // without steps: the layer is open beneath all of them
  };

  [[nodiscard]] bool is_step(std::string_view name);
  void open_layer(std::uint64_t range, const RangePush& record);

  bool has_steps_;
  std::regex steps_;
  std::map<std::string, bool, std::less<>> known_;
  std::map<std::uint32_t, Thread> threads_;
  std::set<std::uint64_t> step_ranges_;
  Nanoseconds newest_ = 0;
};

}  // namespace debubble
