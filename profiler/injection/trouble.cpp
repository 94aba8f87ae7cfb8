#include "profiler/injection/trouble.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace debubble {

void report_trouble(const std::string& folder, const Diagnostic& diagnostic) {
  const std::string text = "debubble: " + to_string(diagnostic);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  if (folder.empty()) return;
  std::ofstream out(folder + "/trouble-" + std::to_string(getpid()) + ".txt", std::ios::app);
  out << diagnostic.code << ": " << diagnostic.message;
  if (!diagnostic.place.empty()) out << " (" << diagnostic.place << ")";
  if (!diagnostic.help.empty()) out << "; " << diagnostic.help;
  out << '\n';
}

}  // namespace debubble
