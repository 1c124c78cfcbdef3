// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace sextant::test {

/// A schedule and the claim to be proved for it.
struct Case {
    std::string name;
    Schedule schedule;
    Claim claim;
};

/// ⌈log2 n⌉ for n >= 1.
inline int ceil_log2(int n) {
    return std::countr_zero(std::bit_ceil(static_cast<unsigned>(n)));
}

/// A claim that rank `rank` ends with exactly the symbols listed by `wanted`.
inline std::function<std::string(int, const std::vector<Symbol>&)>
exactly(std::function<std::vector<Symbol>(int rank)> wanted) {
    return [wanted](int rank, const std::vector<Symbol>& result) -> std::string {
        const std::vector<Symbol> expected = wanted(rank);
        if (result.size() != expected.size()) {
            return fmt::format("{} elements, expected {}", result.size(), expected.size());
        }
        for (std::size_t e = 0; e < result.size(); ++e) {
            const Symbol &is = result[e], &should_be = expected[e];
            if (is.same_value(should_be))
                continue;
            return fmt::format("element {} is [{}, {}) of {}, expected [{}, {}) of {}", e, is.first,
                               is.last, is.element, should_be.first, should_be.last,
                               should_be.element);
        }
        return "";
    };
}

/// Rank r starts with elements 0, 1, ... of operand r.
inline Symbol own_operand(int rank, int, Elements element) {
    return {element, rank, rank + 1, 0};
}

/// Elements first ... first + count − 1, each combined from operands a ... b − 1.
inline std::vector<Symbol> combined(Elements first, Elements count, int a, int b) {
    std::vector<Symbol> symbols;
    for (Elements e = first; e < first + count; ++e)
        symbols.push_back({e, a, b, 0});
    return symbols;
}

/// Rank 0 starts with all parts; rank i ends with part i.
inline Claim scatter_claim(int ranks, Elements elements) {
    return {own_operand,
            exactly([=](int rank) {
                const Region own = part(block(0, 0, elements), rank, ranks);
                return combined(own.offset, own.length, 0, 1);
            }),
            {}};
}

/// The costs of a schedule, which must be correct; all zero if it is not.
inline Proof proved(const Case& c) {
    Proof proof = prove(c.schedule, c.claim);
    return proof.holds() ? proof : Proof{.error = proof.error};
}

} // namespace sextant::test
