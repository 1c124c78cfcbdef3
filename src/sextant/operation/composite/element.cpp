// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/element.hpp"

#include "sextant/core/names.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <span>
#include <string_view>

namespace sextant::operation {

ElementFormat element_named(const std::string& name, const std::string& blend) {
    struct Row {
        std::string_view name;
        ElementFormat colour, with_depth;
    };
    static constexpr Row rows[] = {{"f32", rgba_f32, rgba_depth_f32},
                                   {"f16", rgba_f16, rgba_f16},
                                   {"u8", rgba_u8, rgba_u8_depth_f32}};
    const Row& row = find_by_name<Row>("pixel format", name, rows);
    const bool depth = has_depth(kernel::find_family(blend).operators.front().element);
    return depth ? row.with_depth : row.colour;
}

} // namespace sextant::operation
