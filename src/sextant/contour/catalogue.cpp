// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/catalogue.hpp"

#include "sextant/contour/merge_order.hpp"
#include "sextant/core/text.hpp"

#include <fmt/format.h>

namespace sextant::contour {

namespace {

constexpr std::string_view paper =
    "Hambrusch and Khokhar, JPDC 32(2), 1996, section 5.2, doi:10.1006/jpdc.1996.0010";

const Pattern patterns[] = {
    {"1-lev-dir", "each rank exchanges its list with all others, the most distant first", paper,
     one_level_direct},
    {"2-lev-rc", "exchange within rows of tiles, then within columns", paper,
     two_level_rows_columns},
    {"logp-lev-quad", "merge 2x2 neighbouring tiles, recursively", paper, log_level_quad},
    {"logp-lev-bal", "logp-lev-quad with the digits of ranks reversed: only short lists travel far",
     paper, log_level_quad, Hosts::reversed},
};

} // namespace

std::span<const Pattern> catalogue() {
    return patterns;
}

const Pattern& find(std::string_view name) {
    return find_by_name<Pattern>("merging pattern", name, patterns);
}

Program program(const Pattern& pattern, const Grid& grid, int rank, const ListRoom& room) {
    return merging(grid, pattern.stages(grid), pattern.hosts, rank, room);
}

Program sized_program(const Pattern& pattern, const Grid& grid, int rank, const ListSizes& sizes) {
    return sized_merging(grid, pattern.stages(grid), pattern.hosts, rank, sizes);
}

Claim claim(const Pattern& pattern, const Grid& grid) {
    const Order order(grid, pattern.stages(grid));
    const int all = grid.ranks();
    return {[order](int rank, int, Elements) {
                return Symbol{0, order.position(rank), order.position(rank) + 1, 0};
            },
            [order, all](int rank, const std::vector<Symbol>& result) -> std::string {
                const int position = order.position(rank);
                std::vector<Run> wanted;
                for (const Run run : {Run{0, position}, Run{position + 1, all}}) {
                    if (run.first < run.last)
                        wanted.push_back(run);
                }
                if (result.size() != wanted.size())
                    return fmt::format("{} lists, expected {}", result.size(), wanted.size());
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    const Symbol &is = result[i], should_be{0, wanted[i].first, wanted[i].last, 0};
                    if (!is.same_value(should_be))
                        return fmt::format("list {} covers tiles [{}, {}), expected [{}, {})", i,
                                           is.first, is.last, should_be.first, should_be.last);
                }
                return "";
            },
            {}};
}

} // namespace sextant::contour
