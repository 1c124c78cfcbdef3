// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/winner_map.hpp"

#include "sextant/report/svg.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

constexpr double margin = 24, names = 150, narrowest = 150, high = 40, gap = 2;

void check(const WinnerMap& map) {
    bool fits = map.cells.size() == map.rows.size();
    for (const auto& row : map.cells)
        fits = fits && row.size() == map.columns.size();
    if (!fits)
        throw std::logic_error("a map of winners needs one cell per row and column");
}

/// Returns the distinct winners in alphabetical order, so that colours do not depend on the order
/// of the cases.
std::vector<std::string> winners(const WinnerMap& map) {
    std::vector<std::string> all;
    for (const auto& row : map.cells) {
        for (const WinnerMap::Cell& cell : row) {
            if (!cell.winner.empty())
                all.push_back(cell.winner);
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Returns the width of a column that fits the text of every cell.
double width_of_column(const WinnerMap& map) {
    double widest = narrowest;
    for (const auto& row : map.cells) {
        for (const WinnerMap::Cell& cell : row)
            widest = std::max(
                {widest, report::width_of_text(cell.winner), report::width_of_text(cell.detail)});
    }
    return widest + 10;
}

class Drawing {
  public:
    explicit Drawing(const WinnerMap& map)
        : map_(map),
          winners_(winners(map)),
          wide_(width_of_column(map)),
          svg_(map.title, map.subtitle,
               2 * margin + names + wide_ * static_cast<double>(map.columns.size())) {}

    std::string draw() {
        const auto count = static_cast<int>(winners_.size());
        const auto colours = report::ordered_colours(count);
        std::vector<report::LegendEntry> legend;
        for (std::size_t i = 0; i < winners_.size(); ++i) {
            const int colour = report::colour_index(static_cast<int>(i), count);
            svg_.colour(fmt::format(".w{}", i), "fill", colours[static_cast<std::size_t>(colour)]);
            svg_.style(fmt::format(".w{}", i), "fill-opacity:.45");
            legend.push_back(
                {fmt::format(R"(<rect class="w{}" width="14" height="12"/>)", i), winners_[i]});
        }
        svg_.style(".middle", "text-anchor:middle");
        svg_.legend(legend);
        svg_.skip(18);
        for (std::size_t c = 0; c < map_.columns.size(); ++c)
            svg_.text(left(c) + wide_ / 2, svg_.bottom(), "middle quiet", map_.columns[c]);
        svg_.skip(8);
        for (std::size_t r = 0; r < map_.rows.size(); ++r)
            draw_row(r);
        return svg_.finish();
    }

  private:
    double left(std::size_t column) const {
        return margin + names + wide_ * static_cast<double>(column);
    }

    void draw_row(std::size_t r) {
        const double top = svg_.bottom();
        svg_.text(left(0) - 10, top + high / 2 + 4, "end quiet", map_.rows[r]);
        for (std::size_t c = 0; c < map_.columns.size(); ++c) {
            const WinnerMap::Cell& cell = map_.cells[r][c];
            if (cell.winner.empty())
                continue;
            const auto place = std::lower_bound(winners_.begin(), winners_.end(), cell.winner);
            svg_.rectangle(left(c), top, wide_ - gap, high - gap,
                           fmt::format("w{}", place - winners_.begin()));
            svg_.text(left(c) + wide_ / 2, top + 17, "middle", cell.winner);
            svg_.text(left(c) + wide_ / 2, top + 31, "middle quiet", cell.detail);
        }
        svg_.skip(high);
    }

    const WinnerMap& map_;
    const std::vector<std::string> winners_;
    const double wide_; ///< width of a column
    report::Svg svg_;
};

} // namespace

std::string winner_map(const WinnerMap& map) {
    check(map);
    return Drawing(map).draw();
}

} // namespace sextant::lab
