// $FAKE_CUPTI, a list separated by commas:
//
//     version=130300          what cuptiGetVersion says (default 130001, of fake_cupti_old 28), see
//                             fake_cupti_versions.hpp
//     subscribe=39:Some Tool  cuptiSubscribe fails with this number; 39: because of that tool; 999: no driver
//     refuse=49               enabling this kind fails (once per word)
//     enable=14               enabling any kind fails with this number
//     drop=5                  every 5th GPU record is dropped and counted as such
//     timeless=5              every 5th kernel has begin == end == 0
//     impossible=5            every 5th kernel begins after the year 2262
//     foreign=5               behind every 5th record one of a kind that nobody enabled
//     cut                     every buffer ends in the middle of its last record
//     lose-work               records of API calls come, those of GPU work never do
//     hoard                   all buffers are asked for and kept, so that later requests are refused
//     buffer=4096             no more than this of a buffer is used
//     late                    only a forced flush delivers anything
//     ends-at-exit            its exit handler, registered when it begins, ends it: later flushes deliver nothing
//     no-dump                 cuptiActivityEnableAndDump inside cuInit ends the program
//     devices-missed          records of devices come by cuptiActivityEnableAndDump only
//     shifted                 records of GPU work have 8 bytes more behind the first 8: all fields are elsewhere
//     spill                   bytes behind the valid ones of a buffer are written as well
//     forced-last             a forced flush while anything is enabled ends the program: its records may be unfinished
//     gpu-first               buffers of GPU work are delivered before those of API calls
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace debubble::testing {

struct FakeCuptiOptions {
#ifdef FAKE_CUPTI_OLD
  std::uint32_t version = 28;
#else
  std::uint32_t version = 130001;
#endif
  std::int32_t subscribe = 0;
  std::string other_tool;
  std::set<std::uint32_t> refuse;
  std::uint64_t drop = 0;
  std::uint64_t timeless = 0;
  std::uint64_t impossible = 0;
  std::uint64_t foreign = 0;
  std::int32_t enable = 0;
  bool devices_missed = false;
  bool shifted = false;
  bool spill = false;
  bool cut = false;
  bool lose_work = false;
  bool hoard = false;
  std::size_t buffer = SIZE_MAX;
  bool late = false;
  bool ends_at_exit = false;
  bool no_dump = false;
  bool forced_last = false;
  bool gpu_first = false;
};

// Aborts on a word it does not know: a test that asks for nothing must not pass.
FakeCuptiOptions read_fake_cupti_options();

}  // namespace debubble::testing
