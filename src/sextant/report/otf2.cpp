// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

namespace sextant::report {

bool is_otf2(const std::string& path) {
    return path.ends_with(".otf2") || path.ends_with(".otf2/");
}

} // namespace sextant::report
