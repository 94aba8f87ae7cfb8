// docs/schedules.md: every row of the catalog with its facts and a drawn example. A test holds the file to the catalog.
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] std::string schedule_page();

}  // namespace debubble
