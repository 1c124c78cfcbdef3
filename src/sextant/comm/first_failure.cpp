// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/first_failure.hpp"

#include "sextant/comm/texts.hpp"
#include "sextant/core/exception_text.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include <fmt/format.h>

namespace sextant {

std::string first_failure(const Communicator& communicator, const std::function<void()>& part) {
    std::string mine;
    try {
        part();
    } catch (...) {
        mine = text_of_current_exception();
    }
    const std::vector<std::string> all = all_gather_texts(communicator, mine);
    const auto found =
        std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    return found == all.end() ? "" : fmt::format("rank {}: {}", found - all.begin(), *found);
}

} // namespace sextant
