#include "profiler/injection/trouble.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "profiler/records/trouble_file.hpp"

namespace debubble {

void report_trouble(const std::string& folder, const Diagnostic& diagnostic) {
  const std::string text = "debubble: " + to_string(diagnostic);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  if (folder.empty()) return;
  std::ofstream out(folder + "/trouble-" + std::to_string(getpid()) + ".txt", std::ios::app);
  out << trouble_text(diagnostic);
}

}  // namespace debubble
