// Files of kernels: what the reader takes, and how it refuses the rest.
#include "scenario/request/kernel_file.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kHead =
    "# a comment\nformat,debubble.kernels/1\nhardware,h100\ndevice,H100, of ours\nsource,product,us, today\n"
    "memory,fwd,0.8\nmemory,bwd,0.7\nrows,256,512\n";
const std::string kGrid =
    "product,bf16,64,64,1,2\nproduct,bf16,64,128,2,3\nproduct,bf16,128,64,2,3\nproduct,bf16,128,128,3,4\n";

std::string refused(const std::string& text) {
  return problems_of([&] { (void)read_kernels(text, "ours.csv"); });
}

}  // namespace

TEST_CASE("kernel file: the least that is a table") {
  const KernelTables tables = read_kernels(kHead + kGrid, "ours.csv");
  CHECK(tables.device == "H100, of ours");
  CHECK(tables.product_source == "us, today");
  CHECK(tables.memory_backward == 0.7);
  CHECK(tables.attention.empty());
  MeasuredPeak peak;
  peak.flops = 1e15;
  peak.bandwidth = 1e12;
  peak.multiprocessors = 100;
  const ProductTable& table = tables.product(ProductKind::kHalf);
  CHECK(table.seconds({256, 64, 64}, peak) == doctest::Approx(1e-6));
  CHECK(table.seconds({512, 128, 128}, peak) == doctest::Approx(4e-6));
  CHECK(table.seconds({512, 64, 128}, peak) == doctest::Approx(3e-6));
  // Half way in the logs: the geometric mean.
  CHECK(table.seconds({362.038672, 64, 64}, peak) == doctest::Approx(1.41421356e-6));
}

TEST_CASE("kernel file: what is wrong is told by line") {
  CHECK(contains(refused(""), "P006"));
  CHECK(contains(refused("{}"), "P010"));
  CHECK(contains(refused("{}"), "ours.csv:1"));
  CHECK(contains(refused("format,debubble.kernels/2\n"), "P010"));
  CHECK(contains(refused("\xff"), "P002"));
  const std::string many =
      refused(kHead + "product,bf16,64,64,1\nproduct,bf15,64,64,1,2\nproduct,bf16,64,64,1,x\n" +
              "rows,4,2\nattention,up,causal,1,2\nwhat,1\nproduct,bf16,64,64,0,1\n" + kGrid + kGrid);
  for (const char* place : {"ours.csv:9", "ours.csv:10", "ours.csv:11", "ours.csv:12", "ours.csv:13", "ours.csv:14",
                            "ours.csv:15", "ours.csv:20"}) {
    CAPTURE(place);
    CHECK(contains(many, place));
  }
  CHECK(contains(many, "is not a format of a product"));
  CHECK(contains(many, "does not ascend"));
  CHECK(contains(many, "stands here twice"));
  CHECK(contains(refused(kHead), "no products in bf16"));
  CHECK(contains(refused(kHead + "product,bf16,64,64,1,2\n"), "not a whole grid"));
  CHECK(contains(refused(kHead + kGrid + "memory,fwd,1.5\n"), "P004"));
  CHECK(contains(refused(kHead + kGrid + "lengths,1,2\nattention,fwd,causal,64,64,0.5,1.5\n"), "above 1"));
  CHECK(contains(refused(kHead + kGrid + "lengths,1,2\nheads,1,2\nattention_fill,1,0.5,1\n"),
                 "one line for each length"));
  CHECK(contains(refused(kHead + kGrid + "fit,bf16,0,1,1,1,0.1,0.1\n"), "cap"));
  CHECK(contains(refused(kHead + kGrid + "source,what\n"), "of nothing"));
  CHECK(contains(refused(kHead + kGrid + "quantised,fp8-block,inside\n"), "how factors are quantised"));
  CHECK(read_kernels(kHead + kGrid + "quantised,fp8-block,apart\n", "ours.csv")
            .product(ProductKind::kFp8Block)
            .quantised_apart);
}

TEST_CASE("kernel file: sums in 32 bits show by their inner size, and a half where nothing is said") {
  CHECK(read_kernels(kHead + kGrid, "ours.csv").accumulation.share(4096) == 0.5);
  const auto two =
      read_kernels(kHead + kGrid + "accumulation,1024,1\naccumulation,4096,0.4\n", "ours.csv").accumulation;
  CHECK(two.share(2048) == doctest::Approx(0.7));
  CHECK(two.share(1) == 1);
  CHECK(two.share(1e9) == doctest::Approx(0.4));
  CHECK(read_kernels(kHead + kGrid + "accumulation,512,0\n", "ours.csv").accumulation.share(2048) == 0);
  for (const char* line : {"accumulation,4096\n", "accumulation,0,0.5\n", "accumulation,4096,11\n",
                           "accumulation,x,1\n", "accumulation,4096,-1\n", "accumulation,4096,1,2\n"}) {
    CAPTURE(line);
    CHECK(contains(refused(kHead + kGrid + line), "ours.csv:13"));
  }
  CHECK(contains(refused(kHead + kGrid + "accumulation,4096,1\naccumulation,4096,1\n"), "does not ascend"));
}

// Each of these was read, and what lies on the axis was then looked up beyond its end.
TEST_CASE("kernel file: an axis stands once and before what lies on it") {
  const std::string attention = "attention,fwd,causal,64,64,0.5,0.6\n";
  const struct {
    const char* place;
    const char* message;
    std::string text;  // after the head
  } cases[] = {
      {"ours.csv:13", "\"rows\" stands here twice", kGrid + "rows,256,512,1024\n"},
      {"ours.csv:9", "\"rows\" stands here twice", "rows,256,512,1024\n" + kGrid},
      {"ours.csv:13", "no lengths yet", kGrid + attention},
      {"ours.csv:13", "no lengths yet", kGrid + "attention,fwd,causal,64,64\nlengths,1,2,4\n"},
      {"ours.csv:15", "\"lengths\" stands here twice", kGrid + "lengths,1,2\n" + attention + "lengths,1,2,4\n"},
      {"ours.csv:13", "no tokens yet", kGrid + "grouped,bf16,1,1\n"},
      {"ours.csv:13", "no tokens yet", kGrid + "grouped,bf16,1,1\ntokens,16,32,64\n"},
      {"ours.csv:15", "\"tokens\" stands here twice", kGrid + "tokens,16,32\ngrouped,bf16,1,1\ntokens,16,32,64\n"},
      {"ours.csv:14", "no heads yet", kGrid + "lengths,1,2\nattention_fill,1,0.5,1\nheads,1,2,4\n"},
      {"ours.csv:14", "no heads yet", kGrid + "lengths,1,2\nattention_fill,1\nattention_fill,2\nheads,1,2\n"},
      {"ours.csv:13", "no lengths yet", kGrid + "attention_fill,1,0.5,1\n"},
      {"ours.csv:17", "\"heads\" stands here twice",
       kGrid + "lengths,1,2\nheads,1,2\nattention_fill,1,1,1\nattention_fill,2,1,1\nheads,1,2,4,8\n"},
      {"ours.csv:15", "next length", kGrid + "lengths,1,2\nheads,1,2\nattention_fill,2,1,1\nattention_fill,1,1,1\n"},
      {"ours.csv:17", "next length",
       kGrid + "lengths,1,2\nheads,1,2\nattention_fill,1,1,1\nattention_fill,2,1,1\nattention_fill,2,1,1\n"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    const std::string told = refused(kHead + one.text);
    CAPTURE(told);
    CHECK(contains(told, one.place));
    CHECK(contains(told, "P012"));
    CHECK(contains(told, one.message));
  }
}

TEST_CASE("kernel file: an axis has two sizes at least, all numbers, ascending") {
  for (const char* axis : {"lengths", "lengths,", "lengths,128", "lengths,nan,2", "lengths,1,inf", "lengths,1,1e30",
                           "lengths,2,1", "lengths,2,2", "lengths,0,2", "lengths,1,,2"}) {
    CAPTURE(axis);
    const std::string told = refused(kHead + kGrid + axis + "\nattention,fwd,causal,64,64,0.5,0.6\n");
    CHECK(contains(told, "ours.csv:13"));
  }
  // As many sizes as somebody likes: what lies on the axis must have as many.
  std::string many = "lengths";
  for (int size = 1; size <= 100'000; ++size) many += "," + std::to_string(size);
  CHECK(contains(refused(kHead + kGrid + many + "\nattention,fwd,causal,64,64,0.5,0.6\n"), "as many as its axis"));
}

TEST_CASE("kernel file: no value is given twice") {
  const std::string axes = "lengths,1,2\nheads,1,2\ntokens,16,32\n";
  for (const char* line : {"fit,bf16,1,1,1,1,0.1,0.1", "sustained,bf16,0.9", "eager,bf16,1.1,10", "grouped,bf16,1,1",
                           "product_error,bf16,10,0.1,0.2", "attention,fwd,causal,64,64,0.5,0.6"}) {
    CAPTURE(line);
    const std::string once = kHead + kGrid + axes + line + "\n";
    CHECK(refused(once).empty());
    CHECK(contains(refused(once + line + "\n"), "ours.csv:17"));
  }
  CHECK(contains(refused(kHead + kGrid + "memory,fwd,0.8\n"), "ours.csv:13"));
  CHECK(contains(refused(kHead + kGrid + "memory,up,0.8\n"), "is not a pass"));
}

TEST_CASE("kernel file: half a line at a time is refused or read, and never crashes") {
  const std::string whole = kHead + kGrid + "lengths,1,2\nheads,1,2\nattention,fwd,causal,64,64,0.5,0.6\n";
  for (std::size_t end = 0; end < whole.size(); ++end) (void)refused(whole.substr(0, end));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = ',';
    (void)refused(text);
  }
}

}  // namespace debubble
