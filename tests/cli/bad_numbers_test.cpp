// Numbers that cannot be: refused with the exact words, before anything is printed or written.
#include <doctest/doctest.h>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("no devices or fewer are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-p", "0"}) == R"(error[S003]: a pipeline needs at least 1 device; got 0
  --> --devices
  = help: use -p 1 or more
)");
  CHECK(folder.refusal({"simulate", "-p", "-1"}) == R"(error[S003]: a pipeline needs at least 1 device; got -1
  --> --devices
  = help: use -p 1 or more
)");
  CHECK(folder.refusal({"compare", "-p", "0"}) == R"(error[S003]: a pipeline needs at least 1 device; got 0
  --> --devices
  = help: use -p 1 or more
)");
}

TEST_CASE("no microbatches or fewer are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-m", "0"}) == R"(error[S004]: an iteration needs at least 1 microbatch; got 0
  --> --microbatches
  = help: use -m 1 or more
)");
  CHECK(folder.refusal({"simulate", "-m", "-4"}) == R"(error[S004]: an iteration needs at least 1 microbatch; got -4
  --> --microbatches
  = help: use -m 1 or more
)");
  CHECK(folder.refusal({"compare", "-m", "-4"}) == R"(error[S004]: an iteration needs at least 1 microbatch; got -4
  --> --microbatches
  = help: use -m 1 or more
)");
  CHECK(folder.refusal({"export", "--to", "pytorch-csv", "-m", "0"}) ==
        R"(error[S004]: an iteration needs at least 1 microbatch; got 0
  --> --microbatches
  = help: use -m 1 or more
)");
}

TEST_CASE("no stages per device or fewer are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-v", "0"}) == R"(error[S005]: a device needs at least 1 stage; got 0
  --> --chunks
  = help: use -v 1 or more
)");
  CHECK(folder.refusal({"simulate", "-v", "-2"}) == R"(error[S005]: a device needs at least 1 stage; got -2
  --> --chunks
  = help: use -v 1 or more
)");
}

TEST_CASE("what is not a whole number is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-p", "four"}) == R"(error[C061]: "four" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "-p", "2.5"}) == R"(error[C061]: "2.5" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "-m", "8x"}) == R"(error[C061]: "8x" is not a whole number up to 2147483647
  --> --microbatches
  = help: write it like --microbatches M
)");
  CHECK(folder.refusal({"simulate", "-v", "nan"}) == R"(error[C061]: "nan" is not a whole number up to 2147483647
  --> --chunks
  = help: write it like --chunks V
)");
  CHECK(folder.refusal({"simulate", "-m", "1e9"}) == R"(error[C061]: "1e9" is not a whole number up to 2147483647
  --> --microbatches
  = help: write it like --microbatches M
)");
  CHECK(folder.refusal({"simulate", "--width", "wide"}) == R"(error[C061]: "wide" is not a whole number up to 2147483647
  --> --width
  = help: write it like --width N
)");
  CHECK(folder.refusal({"simulate", "-p", "2", "-p", "x"}) == R"(error[C061]: "x" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
}

TEST_CASE("whole numbers too large to hold are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-p", "4294967297"}) ==
        R"(error[C061]: "4294967297" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "-p", "99999999999999999999"}) ==
        R"(error[C061]: "99999999999999999999" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "-m", "-99999999999999999999"}) ==
        R"(error[C061]: "-99999999999999999999" is not a whole number up to 2147483647
  --> --microbatches
  = help: write it like --microbatches M
)");
  CHECK(folder.refusal({"simulate", "--width", "99999999999"}) ==
        R"(error[C061]: "99999999999" is not a whole number up to 2147483647
  --> --width
  = help: write it like --width N
)");
}

TEST_CASE("runs too large to simulate are refused at once") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-m", "1000000000", "-p", "8"}) ==
        R"(error[S015]: stages x microbatches are beyond 20 million
  --> --microbatches
  = help: simulate fewer microbatches: the steady state repeats
)");
  CHECK(folder.refusal({"simulate", "-m", "2147483647", "-p", "2147483647"}) ==
        R"(error[S015]: stages x microbatches are beyond 20 million
  --> --microbatches
  = help: simulate fewer microbatches: the steady state repeats
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "-p", "2", "-v", "2147483647"}) ==
        R"(error[S015]: stages x microbatches are beyond 20 million
  --> --microbatches
  = help: simulate fewer microbatches: the steady state repeats
)");
}

TEST_CASE("negative times are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "f=-5"}) == R"(error[C012]: a duration cannot be negative: '-5'
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1,b=-0.5"}) == R"(error[C012]: a duration cannot be negative: '-0.5'
  --> --times b
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--comm", "-3"}) == R"(error[C012]: a duration cannot be negative: '-3'
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--comm=-3"}) == R"(error[C012]: a duration cannot be negative: '-3'
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--bandwidth", "-1GB/s"}) ==
        R"(error[C012]: a bandwidth cannot be negative: '-1GB/s'
  --> --bandwidth
  = help: write it like 50GB/s, 600GiB/s or 400Gbit/s
)");
}

TEST_CASE("times that are not finite are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "f=nan"}) == R"(error[C011]: 'nan' is not a duration
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=inf"}) == R"(error[C011]: 'inf' is not a duration
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=-inf"}) == R"(error[C012]: a duration cannot be negative: '-inf'
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--comm", "nan"}) == R"(error[C011]: 'nan' is not a duration
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
}

TEST_CASE("times too large to add up are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "f=99999999999999"}) ==
        R"(error[C012]: the duration '99999999999999' is larger than debubble can add up (52 days)
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--comm", "53000h"}) ==
        R"(error[C012]: the duration '53000h' is larger than debubble can add up (52 days)
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1000h,b=2000h", "-m", "100000"}) ==
        R"(error[C012]: the duration '2000h' is larger than debubble can add up (52 days)
  --> --times b
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
}

TEST_CASE("times that are not written right are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "garbage"}) == R"(error[C006]: 'garbage' is not of the form key=time
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1e3"}) == R"(error[C014]: 'e3' is not a unit of a duration
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1parsec"}) == R"(error[C014]: 'parsec' is not a unit of a duration
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f="}) == R"(error[C065]: the duration is empty
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1,,b=2"}) == R"(error[C006]: '' is not of the form key=time
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
)");
  CHECK(folder.refusal({"simulate", "--comm", "1xs"}) ==
        R"(error[C014]: 'xs' is not a unit of a duration; did you mean 'ns'?
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
}

TEST_CASE("keys of the times are checked") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "f=1,f=2"}) == R"(error[C007]: 'f' is given twice
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1,x=2"}) == R"(error[C017]: 'x' is not a key of the times
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
)");
  CHECK(folder.refusal({"simulate", "--times", "f=1,b=1,i=2"}) == R"(error[C009]: b is shorter than its part i
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
)");
}

TEST_CASE("all that is wrong with the times is said at once") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--times", "f=-5,b=nan,z=3"}) == R"(error[C012]: a duration cannot be negative: '-5'
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
error[C011]: 'nan' is not a duration
  --> --times b
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
error[C017]: 'z' is not a key of the times
  --> --times
  = help: write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)
3 errors
)");
}

TEST_CASE("a bandwidth needs a unit and a size") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--bandwidth", "25"}) == R"(error[C014]: '25' has no unit
  --> --bandwidth
  = help: write it like 50GB/s, 600GiB/s or 400Gbit/s
)");
  CHECK(folder.refusal({"simulate", "--bandwidth", "0GB/s"}) == R"(error[C012]: the bandwidth must not be zero
  --> --bandwidth
  = help: leave it out for links of unlimited bandwidth
)");
  CHECK(folder.refusal({"simulate", "--bandwidth", "25GB"}) == R"(error[C014]: 'GB' is not a unit of a bandwidth
  --> --bandwidth
  = help: write it like 50GB/s, 600GiB/s or 400Gbit/s
)");
}

TEST_CASE("a share beyond 0 to 1 is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--w-share", "2"}) ==
        R"(error[C012]: the share of an activation that stays for W lies between 0 and 1; got "2"
  --> --w-share
  = help: write it like --w-share 0.5
)");
  CHECK(folder.refusal({"simulate", "--w-share", "-0.1"}) ==
        R"(error[C012]: the share of an activation that stays for W lies between 0 and 1; got "-0.1"
  --> --w-share
  = help: write it like --w-share 0.5
)");
  CHECK(folder.refusal({"simulate", "--w-share", "nan"}) ==
        R"(error[C012]: the share of an activation that stays for W lies between 0 and 1; got "nan"
  --> --w-share
  = help: write it like --w-share 0.5
)");
  CHECK(folder.refusal({"simulate", "--w-share", "half"}) ==
        R"(error[C012]: the share of an activation that stays for W lies between 0 and 1; got "half"
  --> --w-share
  = help: write it like --w-share 0.5
)");
  CHECK(folder.refusal({"simulate", "--w-share", "0,5"}) ==
        R"(error[C012]: the share of an activation that stays for W lies between 0 and 1; got "0,5"
  --> --w-share
  = help: write it like --w-share 0.5
)");
}

TEST_CASE("too few columns are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--width", "3"}) == R"(error[C012]: at least 40 columns are needed; got 3
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"simulate", "--width", "39"}) == R"(error[C012]: at least 40 columns are needed; got 39
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"simulate", "--width", "0"}) == R"(error[C012]: at least 40 columns are needed; got 0
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"simulate", "--width", "-5"}) == R"(error[C012]: at least 40 columns are needed; got -5
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"compare", "--width", "3"}) == R"(error[C012]: at least 40 columns are needed; got 3
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"list", "--width", "3"}) == R"(error[C012]: at least 40 columns are needed; got 3
  --> --width
  = help: leave out --width to use the terminal's
)");
  CHECK(folder.refusal({"doctor", "--width", "3"}) == R"(error[C012]: at least 40 columns are needed; got 3
  --> --width
  = help: leave out --width to use the terminal's
)");
}

TEST_CASE("what is wrong with several flags is said at once") {
  const Folder folder;
  CHECK(
      folder.refusal(
          {"simulate", "--times", "f=-1", "--comm", "x", "--p2p", "x", "--w-share", "7", "--topology", "x"}) ==
      R"(error[C003]: "x" is not one of: ideal, dgx-a100, dgx-h100, dgx-h200, dgx-b200, gb200-nvl72, v100-mesh, pcie, ring, fully-connected, switch, fat-tree, dragonfly, hxmesh
  --> --topology
  = help: write --topology ideal
error[C012]: a duration cannot be negative: '-1'
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
error[C012]: the share of an activation that stays for W lies between 0 and 1; got "7"
  --> --w-share
  = help: write it like --w-share 0.5
error[C011]: 'x' is not a duration
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
error[C002]: "x" is not one of: overlapped, blocking, coupled
  --> --p2p
  = help: write --p2p overlapped
5 errors
)");
}

}  // namespace
}  // namespace debubble::testing
