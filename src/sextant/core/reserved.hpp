// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sextant {

/// Space for fields of later versions; the last member of options and results. A program built with
/// an older version passes zeros there, so zero must mean the default of a new field.
///
/// A new field goes before `reserved`, at a multiple of 8 bytes (alignas(8)), and `Words` decreases
/// by the words that the field takes, so the struct keeps its size. In results, the field must be
/// trivially copyable, because older programs copy and destroy results without knowing the field.
template <int Words = 8>
struct Reserved {
    std::uint64_t words[Words] = {};

    bool operator==(const Reserved&) const = default;
};

} // namespace sextant
