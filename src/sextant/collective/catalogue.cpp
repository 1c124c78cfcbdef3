// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"

#include "sextant/collective/binomial_gather.hpp"
#include "sextant/collective/binomial_scatter.hpp"
#include "sextant/collective/flat_gather.hpp"
#include "sextant/collective/flat_scatter.hpp"
#include "sextant/core/names.hpp"

#include <fmt/format.h>

namespace sextant::collective {

namespace {

Symbol pixel(Elements number) {
    return {number, 0, 1, 0};
}

/// Element `e` of a tile that lies row by row.
Symbol pixel_of_tile(const Grid& grid, int rank, Elements e) {
    const Tile own = tile(grid, rank);
    return pixel((own.y + e / own.width) * grid.width + own.x + e % own.width);
}

std::string judge(const std::vector<Symbol>& result, Elements count,
                  const std::function<Symbol(Elements)>& wanted) {
    if (static_cast<Elements>(result.size()) != count)
        return fmt::format("{} elements, expected {}", result.size(), count);
    for (Elements e = 0; e < count; ++e) {
        const Symbol &is = result[static_cast<std::size_t>(e)], should_be = wanted(e);
        if (!is.same_value(should_be)) {
            return fmt::format("element {} holds pixel {}, expected {}", e, is.element,
                               should_be.element);
        }
    }
    return "";
}

Claim claim_of_scatter(const Grid& grid) {
    const auto given = [](int, int, Elements e) { return pixel(e); };
    const auto wanted = [grid](int rank, const std::vector<Symbol>& result) {
        return judge(result, tile(grid, rank).elements(),
                     [&](Elements e) { return pixel_of_tile(grid, rank, e); });
    };
    return {given, wanted, {}};
}

Claim claim_of_gather(const Grid& grid) {
    const auto given = [grid](int rank, int, Elements e) { return pixel_of_tile(grid, rank, e); };
    const auto wanted = [grid](int rank, const std::vector<Symbol>& result) {
        return judge(result, rank == 0 ? grid.width * grid.height : 0, pixel);
    };
    return {given, wanted, {}};
}

constexpr std::string_view seinstra = "Seinstra and Koelma 2002";
constexpr std::string_view chan = "Chan et al. 2007, doi:10.1002/cpe.1206";

const Algorithm algorithms[] = {
    {"binomial-scatter", "halves of what is left go down a tree", chan,
     static_cast<Program (*)(const Grid&, int)>(binomial_scatter), claim_of_scatter},
    {"binomial-gather", "what was collected goes up a tree", chan, binomial_gather,
     claim_of_gather},
    {"flat-scatter", "rank 0 sends to each other rank", seinstra, flat_scatter, claim_of_scatter},
    {"flat-gather", "rank 0 receives from each other rank", seinstra, flat_gather,
     claim_of_gather}};

} // namespace

std::span<const Algorithm> catalogue() {
    return algorithms;
}

const Algorithm& find(std::string_view name) {
    return find_by_name<Algorithm>("collective algorithm", name, algorithms);
}

} // namespace sextant::collective
