// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::report {

bool otf2_available() {
    return false;
}

void require_otf2(const std::string& folder) {
    throw Error(
        fmt::format("{}: this build cannot write OTF2: install libopen-trace-format2-dev, then "
                    "configure and build again, or use another extension for a trace in JSON",
                    folder));
}

void write_otf2(const std::string& folder, const Recording&) {
    require_otf2(folder);
}

} // namespace sextant::report
