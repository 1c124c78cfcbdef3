// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::kernel {

/// An operator in each element format that it has: one file of code and one row.
struct Family {
    std::string_view name, summary;
    bool commutative = false;
    std::span<const Operator> operators; ///< the first is the one that is usual
};

/// The operators that blend images.
std::span<const Family> catalogue();

/// "rgba f32, rgba f16": what an operator is for.
std::string formats_of(const Family& family);

/// By name. Throws InvalidTask with near names.
const Family& find_family(std::string_view name);

/// By name and element format. Throws InvalidTask with near names, or the formats it has.
const Operator& find(std::string_view name, const ElementFormat& element = rgba_f32);

} // namespace sextant::kernel
