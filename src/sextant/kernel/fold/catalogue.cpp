// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

Family family(std::span<const Operator> operators) {
    return {operators[0].name, operators[0].summary, operators[0].commutative, operators};
}

} // namespace

std::span<const Family> catalogue() {
    static const Family families[] = {
        family(over_operators()),
        family(nearest_operators()),
        family(add_operators()),
        family(max_operators()),
    };
    return families;
}

std::string formats_of(const Family& family) {
    std::string formats;
    for (const Operator& op : family.operators)
        formats.append(formats.empty() ? "" : ", ").append(op.element.name);
    return formats;
}

const Family& find_family(std::string_view wanted) {
    return find_by_name<Family>("operator", wanted, catalogue());
}

const Operator& find(std::string_view name, const ElementFormat& element) {
    const Family& family = find_family(name);
    for (const Operator& op : family.operators) {
        if (op.element == element)
            return op;
    }
    throw InvalidTask(fmt::format("the operator '{}' does not support {}; it supports {}", name,
                                  element.name, formats_of(family)));
}

} // namespace sextant::kernel
