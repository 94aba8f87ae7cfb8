// `--html FILE` writes the data of the page only, as it is: the page that shows it is the playground.
#include "tools/views/html/page.hpp"

namespace debubble {

void write_page(const Page& page, const TextSink& sink) { sink(page_data(page)); }

}  // namespace debubble
