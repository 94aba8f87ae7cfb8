// Parts of commands: redirections, here-documents, assignments.
#pragma once

#include <string>
#include <vector>

#include "formats/shell/cursor.hpp"
#include "formats/shell/syntax.hpp"

namespace debubble::shell {

class CommandParts {
 public:
  explicit CommandParts(Cursor& cursor) : cursor_(cursor) {}

  void redirections(Command& command);
  // "2>&1", "> file", "<<EOF"
  bool redirection(Command& command);
  // name=value, name+=value, name[index]=value, name=(items). False where it is none.
  bool assignment(Assignment& result);
  void skip_lines();

 private:
  struct PendingDocument {
    Command* command = nullptr;  // whose redirection it is
    std::size_t at = 0;
    std::string end;
    bool quoted = false;
    bool tabs = false;
  };

  void start_document(Command& command, Redirection redirection);
  void read_documents();
  void read_document(const PendingDocument& document);
  void array_items(Assignment& result);

 protected:
  Cursor& cursor_;

 private:
  std::vector<PendingDocument> documents_;
};

}  // namespace debubble::shell
