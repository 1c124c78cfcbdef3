// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant::report {

std::string json_text(std::string_view text) {
    using Json = nlohmann::json;
    const std::string quoted =
        Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    for (const char c : quoted) {
        if (c == '<')
            safe += "\\u003c";
        else if (c == '>')
            safe += "\\u003e";
        else if (c == '&')
            safe += "\\u0026";
        else
            safe += c;
    }
    return safe;
}

} // namespace sextant::report
