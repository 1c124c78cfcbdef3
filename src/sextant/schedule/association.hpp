// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

/// How the operands of a fold are bracketed.
enum class Association : std::uint8_t {
    in_order,  ///< only the leftmost finished run grows: one bracketing, results equal to the bit
    by_arrival ///< neighbouring runs merge as they come: more overlap, bracketing varies
};

std::string_view name(Association association);

} // namespace sextant
