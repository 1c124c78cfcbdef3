// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"

#include "sextant/collective/binomial_gather.hpp"
#include "sextant/collective/binomial_scatter.hpp"
#include "sextant/collective/butterfly_all_to_all.hpp"
#include "sextant/collective/columns_rows_all_to_all.hpp"
#include "sextant/collective/direct_all_to_all.hpp"
#include "sextant/collective/flat_gather.hpp"
#include "sextant/collective/flat_scatter.hpp"
#include "sextant/collective/halving.hpp"
#include "sextant/collective/squares_all_to_all.hpp"
#include "sextant/collective/three_level.hpp"
#include "sextant/collective/two_level.hpp"
#include "sextant/core/names.hpp"

#include <algorithm>
#include <cmath>

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

Claim claim_of_broadcast(const Grid& grid) {
    const auto given = [](int, int, Elements e) { return pixel(e); };
    const auto wanted = [grid](int, const std::vector<Symbol>& result) {
        return judge(result, grid.width * grid.height, pixel);
    };
    return {given, wanted, {}};
}

/// Rows of the image become columns.
Claim claim_of_all_to_all(const Grid& grid) {
    const Grid rows{grid.width, grid.height, 1, grid.ranks()};
    const Grid columns{grid.width, grid.height, grid.ranks(), 1};
    const auto given = [rows](int rank, int, Elements e) { return pixel_of_tile(rows, rank, e); };
    const auto wanted = [columns](int rank, const std::vector<Symbol>& result) {
        return judge(result, tile(columns, rank).elements(),
                     [&](Elements e) { return pixel_of_tile(columns, rank, e); });
    };
    return {given, wanted, {}};
}

/// A nearly square image of at most so many pixels, on nearly square processors.
Grid square_image(int ranks, Elements elements) {
    const auto root = static_cast<Elements>(std::sqrt(static_cast<double>(elements)));
    const Elements width = std::max<Elements>(1, root);
    return near_square(ranks, width, elements / width);
}

/// A row of so many values on each rank, all of them an image.
Grid row_each(int ranks, Elements elements) {
    return near_square(ranks, elements, ranks);
}

/// The published shares of logp-lev-rec.
constexpr double share_of_scatter = .75, share_of_gather = .60;

Program uneven_scatter(const Grid& grid, int rank) {
    return halving_scatter(grid, rank, share_of_scatter);
}

Program uneven_gather(const Grid& grid, int rank) {
    return halving_gather(grid, rank, share_of_gather);
}

constexpr std::string_view hambrusch = "Hambrusch and Khokhar 1996, doi:10.1006/jpdc.1996.0010";
constexpr std::string_view seinstra = "Seinstra and Koelma 2002";
constexpr std::string_view chan = "Chan et al. 2007, doi:10.1002/cpe.1206";

const Algorithm algorithms[] = {
    {"binomial-scatter", "halves of what is left go down a tree", chan, strips,
     static_cast<Program (*)(const Grid&, int)>(binomial_scatter), claim_of_scatter},
    {"binomial-gather", "what was collected goes up a tree", chan, strips, binomial_gather,
     claim_of_gather},
    {"flat-scatter", "rank 0 sends to each other rank: 1-lev-dir of C3's one-to-all", seinstra,
     strips, flat_scatter, claim_of_scatter},
    {"flat-gather", "rank 0 receives from each other rank: 1-lev-dir of C3's all-to-one", seinstra,
     strips, flat_gather, claim_of_gather},
    {"1-lev-br-broadcast", "the whole image goes to everyone, by halves of the machine", hambrusch,
     square_image, halving_broadcast, claim_of_broadcast},
    {"2-lev-rec-scatter", "down a column of processors, then along their rows", hambrusch,
     square_image, two_level_scatter, claim_of_scatter},
    {"2-lev-rec-gather", "along the rows of processors, then up a column", hambrusch, square_image,
     two_level_gather, claim_of_gather},
    {"3-lev-sq-scatter", "to squares of processors, their rows, their processors", hambrusch,
     square_image, three_level_scatter, claim_of_scatter},
    {"3-lev-sq-gather", "within rows, within squares of processors, from the squares", hambrusch,
     square_image, three_level_gather, claim_of_gather},
    {"logp-lev-sq-scatter", "to the other half of the machine, and so in each half", hambrusch,
     square_image, [](const Grid& grid, int rank) { return halving_scatter(grid, rank); },
     claim_of_scatter},
    {"logp-lev-sq-gather", "from the other half of the machine, which collected likewise",
     hambrusch, square_image, [](const Grid& grid, int rank) { return halving_gather(grid, rank); },
     claim_of_gather},
    {"logp-lev-rec-scatter", "likewise, but rank 0's part is three quarters", hambrusch,
     square_image, uneven_scatter, claim_of_scatter},
    {"logp-lev-rec-gather", "likewise, but rank 0's part is three fifths", hambrusch, square_image,
     uneven_gather, claim_of_gather},
    {"1-lev-dir-all-to-all", "everyone sends to everyone at once", hambrusch, row_each,
     direct_all_to_all, claim_of_all_to_all},
    {"1-lev-lin-all-to-all", "one rank on, two ranks on, ... one round after another", hambrusch,
     row_each, linear_all_to_all, claim_of_all_to_all},
    {"1-lev-xor-all-to-all", "pairs of ranks exchange, one round after another", hambrusch,
     row_each, exclusive_or_all_to_all, claim_of_all_to_all},
    {"2-lev-cr-all-to-all", "within columns of processors, then within rows", hambrusch, row_each,
     columns_rows_all_to_all, claim_of_all_to_all},
    {"2-lev-sq-all-to-all", "within squares of processors, across, within squares", hambrusch,
     row_each, squares_all_to_all, claim_of_all_to_all},
    {"logp-lev-bfly-all-to-all", "with the other half of the machine, and so in each half",
     hambrusch, row_each, butterfly_all_to_all, claim_of_all_to_all}};

} // namespace

std::span<const Algorithm> catalogue() {
    return algorithms;
}

const Algorithm& find(std::string_view name) {
    return find_by_name<Algorithm>("collective algorithm", name, algorithms);
}

} // namespace sextant::collective
