// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/association.hpp"

namespace sextant {

std::string_view name(Association association) {
    return association == Association::in_order ? "in-order" : "by-arrival";
}

} // namespace sextant
