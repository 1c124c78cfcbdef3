// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/joined.hpp"

#include "sextant/report/text.hpp"

#include <fmt/format.h>

namespace sextant::report {

Document joined(std::string_view title, std::span<const Document> pages) {
    Document all{escape(title), fmt::format("<h1>{}</h1>\n<nav>", escape(title)), "", {}};
    int number = 0;
    for (const Document& page : pages) {
        ++number;
        all.header += fmt::format("<a href=\"#run-{}\">{}</a>", number, page.title);
        all.main += fmt::format("<article id=\"run-{}\">\n<header>\n{}</header>\n{}</article>\n",
                                number, page.header, page.main);
        all.scripts.insert(all.scripts.end(), page.scripts.begin(), page.scripts.end());
    }
    all.header += "</nav>\n";
    return all;
}

} // namespace sextant::report
