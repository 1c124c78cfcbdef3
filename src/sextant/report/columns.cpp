// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/columns.hpp"

#include "sextant/report/kinds.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double left = 84, plot = 1000, right = 28, height = 150;
constexpr std::size_t most_places = 250;
constexpr KindHues hues = {255, 185, 50, 340};

/// Draws one chart.
class Picture {
  public:
    explicit Picture(const ColumnChart& chart)
        : chart_(chart),
          merged_((chart.places.size() + most_places - 1) / most_places),
          svg_(chart.title, chart.subtitle, left + plot + right) {
        for (const ColumnChart::Kind& kind : chart.kinds) {
            if (kind.values.size() != chart.places.size())
                throw std::logic_error(fmt::format("{} values of '{}' for {} places",
                                                   kind.values.size(), kind.name,
                                                   chart.places.size()));
            for (double value : kind.values)
                most_ = std::max(most_, value);
        }
        merged_ = std::max<std::size_t>(merged_, 1);
        columns_ = (chart.places.size() + merged_ - 1) / merged_;
        width_ = columns_ > 0 ? std::min(plot / static_cast<double>(columns_), 140.0) : plot;
    }

    std::string finish() {
        styles();
        if (!chart_.figures.empty())
            svg_.figures(chart_.figures);
        if (chart_.kinds.size() > 1)
            legend();
        svg_.skip(14);
        top_ = svg_.bottom();
        grid();
        for (std::size_t column = 0; column < columns_; ++column) {
            for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind)
                draw(column, kind);
        }
        svg_.skip(height);
        names();
        svg_.skip(22);
        if (merged_ > 1)
            svg_.note(fmt::format("{} share a column, as high as the highest of them.", merged_));
        return svg_.finish();
    }

  private:
    void styles() {
        svg_.colour(".grid", "stroke", {"#e1e5ea", "#2c333c"});
        add_kind_styles(svg_, chart_.kinds.size(), hues);
        svg_.style(".column:hover", "opacity:.65");
    }

    void legend() {
        std::vector<std::string> names;
        for (const ColumnChart::Kind& kind : chart_.kinds)
            names.push_back(kind.name);
        add_kind_legend(svg_, names);
    }

    void grid() {
        for (const double share : {0.0, 0.5, 1.0}) {
            const double y = top_ + height * (1 - share);
            svg_.line(left, y, left + plot, y, "grid");
            svg_.text(left - 8, y + 4, "quiet end", chart_.text(share * most_));
        }
    }

    /// The place in a column whose value is the largest.
    std::size_t place_of(std::size_t column, std::size_t kind) const {
        const auto& values = chart_.kinds[kind].values;
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(column * merged_);
        const auto last = values.end() - first > static_cast<std::ptrdiff_t>(merged_)
                              ? first + static_cast<std::ptrdiff_t>(merged_)
                              : values.end();
        return static_cast<std::size_t>(std::max_element(first, last) - values.begin());
    }

    void draw(std::size_t column, std::size_t kind) {
        const std::size_t place = place_of(column, kind);
        const double value = chart_.kinds[kind].values[place];
        if (value <= 0)
            return;
        const double each = 0.84 * width_ / static_cast<double>(chart_.kinds.size());
        const double x = left + static_cast<double>(column) * width_ + 0.08 * width_ +
                         static_cast<double>(kind) * each;
        const double tall = std::max(height * value / most_, 0.5);
        svg_.add(fmt::format("<rect class=\"column kind-{}\" x=\"{:.2f}\" y=\"{:.2f}\" "
                             "width=\"{:.2f}\" height=\"{:.2f}\"><title>{}</title></rect>\n",
                             kind, x, top_ + height - tall, std::max(each - 0.4, 0.4), tall,
                             escape(fmt::format("{}: {} {}", chart_.places[place],
                                                chart_.kinds[kind].name, chart_.text(value)))));
    }

    void names() {
        double free = 0;
        for (std::size_t column = 0; column < columns_; ++column) {
            const std::string name = shortened(chart_.places[column * merged_], 28);
            const double x = left + (static_cast<double>(column) + 0.5) * width_;
            const double half = width_of_text(name) / 2;
            if (x - half < free || x + half > left + plot + right)
                continue;
            svg_.text(x, svg_.bottom() + 15, "quiet middle", name);
            free = x + half + 10;
        }
    }

    const ColumnChart& chart_;
    std::size_t merged_, columns_ = 0;
    double most_ = 0, width_ = 0, top_ = 0;
    Svg svg_;
};

} // namespace

std::string columns(const ColumnChart& chart) {
    return Picture(chart).finish();
}

} // namespace sextant::report
