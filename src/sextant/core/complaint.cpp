// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/complaint.hpp"

#include <algorithm>

namespace sextant {

std::string json_complaint(std::string_view what) {
    // "[json.exception.parse_error.101] parse error at line 1": the number says nothing to a user.
    if (const auto end = what.find("] "); what.starts_with("[json.") && end != what.npos)
        what.remove_prefix(end + 2);
    std::string text(what);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

} // namespace sextant
