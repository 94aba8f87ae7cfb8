// --layers none: one synthetic layer in every step.
#include "profiler/importers/whole_model.hpp"

#include "profiler/records/record_text.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

RangePush push(std::uint64_t range, std::uint32_t thread, Nanoseconds time, std::string_view name,
               std::int64_t sequence = -1) {
  return {range, thread, time, name, sequence, 0, ""};
}

TEST_CASE("the layer opens inside of every step, and work of the step itself moves into it") {
  std::string out;
  RecordText text(out);
  WholeModel whole("^Step#", text);
  whole.on(push(1, 7, 10, "Step#1"));
  whole.on(push(2, 7, 11, "aten::mm", 3));
  whole.on(LinkRecord{5, 2});
  whole.on(LinkRecord{6, 1});
  whole.on(RangePop{7, 12});
  whole.on(RangePop{7, 13});
  whole.end_of_stream();
  CHECK(out == R"(push range=2 thread=7 time=10 name="Step#1"
push range=3 thread=7 time=10 name="debubble.layer:model"
push range=4 thread=7 time=11 name="aten::mm" sequence=3
link correlation=5 range=4
link correlation=6 range=3
pop thread=7 time=12
pop thread=7 time=13
pop thread=7 time=13
)");
}

TEST_CASE("without steps it opens once on each thread but autograd's, and closes at the end") {
  std::string out;
  RecordText text(out);
  WholeModel whole("", text);
  whole.on(push(1, 7, 10, "aten::mm"));
  whole.on(RangePop{7, 12});
  whole.on(push(2, 8, 20, "autograd::engine::evaluate_function: MmBackward0"));
  whole.on(RangePop{8, 22});
  whole.on(push(3, 7, 30, "aten::add"));
  whole.end_of_stream();
  CHECK(out == R"(push range=1 thread=7 time=10 name="debubble.layer:model"
push range=2 thread=7 time=10 name="aten::mm"
pop thread=7 time=12
push range=4 thread=8 time=20 name="autograd::engine::evaluate_function: MmBackward0"
pop thread=8 time=22
push range=6 thread=7 time=30 name="aten::add"
pop thread=7 time=30
pop thread=7 time=30
)");
}

TEST_CASE("a range that matches is found") {
  RangeFinder finder("^debubble\\.step:\\d+$");
  finder.on(push(1, 7, 10, "debubble.step:x"));
  CHECK_FALSE(finder.found());
  finder.on(push(1, 7, 10, "debubble.step:4"));
  CHECK(finder.found());
}

}  // namespace
}  // namespace debubble
