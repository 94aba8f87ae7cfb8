// `import --run-script`: which training bash itself starts, beside which one is read out of the script's text.
#pragma once

#include <string>

#include "formats/megatron/launch.hpp"

namespace debubble {

// What of this machine a script that is run may see: files in its own folder and in `directory` ("": none), none of
// them hidden; beside those of --file. The reading is held to the same, so that both know the same.
void hold_to_own_files(LaunchGiven& given, const std::string& directory);

// Where both can say, both must say the same of every argument that changes time or memory. Throws P030 and P010 as
// read_launch does, without running anything where the text asks for what is not given; P032 without a guard, P033
// where the run came to nothing, P034 where the two differ.
[[nodiscard]] MegatronLaunch read_and_run(const std::string& text, const std::string& name, const LaunchGiven& given);

}  // namespace debubble
