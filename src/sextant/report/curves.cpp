// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/report/charts.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double height = 180, row_of_marks = 15;
constexpr std::int64_t most_points = 400; // curves with more points have no tooltips
constexpr std::array hues = {255, 50, 185, 340};

/// The smallest and the largest value; empty if all are NaN.
struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void take(double value, double deviation = 0) {
        if (!std::isfinite(value))
            return;
        const double around = std::isfinite(deviation) ? deviation : 0;
        low = std::min(low, value - around);
        high = std::max(high, value + around);
    }
    bool any() const { return low <= high; }
};

std::int64_t places_of(const CurveChart& chart) {
    const std::size_t places = chart.curves.empty() ? 0 : chart.curves.front().values.size();
    for (const Curve& curve : chart.curves) {
        const bool whole = curve.values.size() == places &&
                           (curve.deviations.empty() || curve.deviations.size() == places);
        if (!whole)
            throw std::logic_error(
                fmt::format("the curve '{}' has {} values and {} deviations for {} positions",
                            curve.name, curve.values.size(), curve.deviations.size(), places));
    }
    return static_cast<std::int64_t>(places);
}

/// Widths of the parts of a chart: names on the left, curves, and right margin.
struct Extents {
    double left, plot, right;
    double width() const { return left + plot + right; }
};

constexpr Extents extents_of(ChartWidth width) {
    return width == ChartWidth::page ? Extents{84, 1000, 28} : Extents{72, 310, 16};
}

/// Wraps a text into lines of at most this width.
std::vector<std::string> lines_of(std::string_view text, double width) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string word(text.substr(0, end));
        std::string& line = lines.back();
        if (!line.empty() && width_of_text(line + " " + word) > width)
            lines.push_back(word);
        else
            line += (line.empty() ? "" : " ") + word;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

class Picture {
  public:
    Picture(const CurveChart& chart, ChartWidth width)
        : chart_(chart),
          width_(width),
          left_(extents_of(width).left),
          plot_(extents_of(width).plot),
          places_(places_of(chart)),
          // Each group of merged positions is at least one unit wide in the chart.
          together_(
              std::max<std::int64_t>(1, (places_ - 1) / static_cast<std::int64_t>(plot_) + 1)),
          svg_(chart.title, width == ChartWidth::page ? chart.subtitle : "",
               extents_of(width).width()) {
        for (const Curve& curve : chart.curves) {
            for (std::size_t i = 0; i < curve.values.size(); ++i)
                shown_.take(curve.values[i], deviation_of(curve, i));
        }
        widen();
    }

    std::string finish() {
        styles();
        if (width_ == ChartWidth::phone) {
            for (const std::string& line : lines_of(chart_.subtitle, plot_))
                svg_.note(line);
            for (const KeyFigure& figure : chart_.figures) {
                svg_.figures({figure});
                svg_.skip(-8);
            }
            svg_.skip(chart_.figures.empty() ? 0 : 8);
        } else if (!chart_.figures.empty()) {
            svg_.figures(chart_.figures);
        }
        if (chart_.curves.size() > 1)
            legend();
        svg_.skip(20);
        top_ = svg_.bottom();
        axes();
        for (std::size_t kind = 0; kind < chart_.curves.size(); ++kind)
            draw(chart_.curves[kind], kind);
        svg_.skip(height + 24);
        for (const MarkedPlaces& marks : chart_.marks)
            draw(marks);
        if (together_ > 1)
            svg_.note(fmt::format(
                "{} {}s share each line, drawn from their smallest to their largest value.",
                together_, chart_.place));
        return svg_.finish();
    }

  private:
    static double deviation_of(const Curve& curve, std::size_t place) {
        return curve.deviations.empty() ? 0 : curve.deviations[place];
    }

    /// Extends the range of values by a margin; a constant curve is drawn in the middle.
    void widen() {
        if (!shown_.any())
            shown_ = {0, 1};
        const double middle = (shown_.low + shown_.high) / 2;
        const double of_constant = middle == 0 ? .5 : std::abs(middle) * .05;
        const double half = shown_.high == shown_.low ? of_constant
                                                      : std::max((shown_.high - shown_.low) * .53,
                                                                 std::abs(middle) * 1e-6);
        shown_ = {middle - half, middle + half};
    }

    double x_of(double place) const {
        return places_ > 1 ? left_ + plot_ * place / static_cast<double>(places_ - 1)
                           : left_ + plot_ / 2;
    }
    double y_of(double value) const {
        return top_ + height * (shown_.high - value) / (shown_.high - shown_.low);
    }

    void styles() {
        svg_.colour(".grid", "stroke", {"#e1e5ea", "#2c333c"});
        for (std::size_t kind = 0; kind < chart_.curves.size(); ++kind) {
            const Colour colour = colour_of_hue(hues.at(kind));
            svg_.colour(fmt::format(".curve-{}", kind), "stroke", colour);
            svg_.colour(fmt::format(".band-{}", kind), "fill", colour);
            svg_.colour(fmt::format(".point-{}", kind), "fill", colour);
        }
        svg_.style(".curve", "fill:none;stroke-width:1.6;stroke-linejoin:round;"
                             "stroke-linecap:round");
        svg_.style(".band", "opacity:.22");
        svg_.style(".point", "opacity:0");
        svg_.style(".point:hover", "opacity:1");
        svg_.colour(".mark", "stroke", {"#c2410c", "#fb923c"});
    }

    void legend() {
        std::vector<LegendEntry> entries;
        for (std::size_t kind = 0; kind < chart_.curves.size(); ++kind) {
            entries.push_back(
                {fmt::format("<path class=\"curve curve-{}\" d=\"M1 6L17 6\"/>", kind),
                 chart_.curves[kind].name});
        }
        svg_.legend(entries);
    }

    void axes() {
        const double tick = tick_of(shown_.high - shown_.low);
        for (double i = std::ceil(shown_.low / tick); i * tick <= shown_.high; ++i) {
            const double y = y_of(i * tick);
            svg_.line(left_, y, left_ + plot_, y, "grid");
            svg_.text(left_ - 8, y + 4, "quiet end",
                      fmt::format("{:.{}f}", i * tick + 0., decimals_of(tick)));
        }
        if (!chart_.unit.empty())
            svg_.text(left_, top_ - 6, "quiet", chart_.unit);
        const double below = top_ + height + 17;
        const double step =
            places_ > 1 ? std::max(1., tick_of(static_cast<double>(places_ - 1))) : 1;
        for (double place = 0; place < static_cast<double>(places_); place += step)
            svg_.text(x_of(place), below, "quiet middle", fmt::format("{:.0f}", place));
        svg_.text(24, below, "quiet", chart_.place);
    }

    /// Returns the range of the values in a group.
    Extent extent(const Curve& curve, std::int64_t group, bool with_deviations) const {
        Extent extent;
        const std::int64_t first = group * together_;
        for (std::int64_t i = first; i < std::min(first + together_, places_); ++i) {
            const auto place = static_cast<std::size_t>(i);
            extent.take(curve.values[place], with_deviations ? deviation_of(curve, place) : 0);
        }
        return extent;
    }
    std::int64_t groups() const { return (places_ + together_ - 1) / together_; }
    double x_of_group(std::int64_t group) const {
        const std::int64_t last = std::min((group + 1) * together_, places_) - 1;
        return x_of(static_cast<double>(group * together_ + last) / 2);
    }

    void draw(const Curve& curve, std::size_t kind) {
        if (!curve.deviations.empty())
            draw_band(curve, kind);
        std::string path;
        bool begun = false;
        for (std::int64_t group = 0; group < groups(); ++group) {
            const Extent there = extent(curve, group, false);
            if (there.any())
                add(path, begun, group, there);
            begun = there.any();
        }
        svg_.add(fmt::format("<path class=\"curve curve-{}\" d=\"{}\"/>\n", kind, path));
        if (places_ <= most_points && width_ == ChartWidth::page)
            draw_points(curve, kind);
    }

    void add(std::string& path, bool begun, std::int64_t group, const Extent& there) const {
        const double x = x_of_group(group);
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", begun ? "L" : "M", x,
                       y_of(there.high));
        if (there.low < there.high || !begun) // draws a single point as a dot
            fmt::format_to(std::back_inserter(path), "L{:.1f} {:.1f}", x, y_of(there.low));
    }

    /// Draws a closed band for each range of positions without gaps: along its upper edge, then
    /// back along its lower edge.
    void draw_band(const Curve& curve, std::size_t kind) {
        std::string path, back;
        for (std::int64_t group = 0; group <= groups(); ++group) {
            const Extent there = group < groups() ? extent(curve, group, true) : Extent{};
            if (!there.any()) {
                path += back.empty() ? "" : back + "Z";
                back.clear();
                continue;
            }
            const double x = x_of_group(group);
            fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", back.empty() ? "M" : "L", x,
                           y_of(there.high));
            back.insert(0, fmt::format("L{:.1f} {:.1f}", x, y_of(there.low)));
        }
        svg_.add(fmt::format("<path class=\"band band-{}\" d=\"{}\"/>\n", kind, path));
    }

    void draw_points(const Curve& curve, std::size_t kind) {
        for (std::size_t i = 0; i < curve.values.size(); ++i) {
            if (!std::isfinite(curve.values[i]))
                continue;
            std::string words =
                fmt::format("{} {}: {} {}", chart_.place, i, curve.name,
                            chart_.are_correlations ? correlation_to_text(curve.values[i])
                                                    : fmt::format("{:.4g}", curve.values[i]));
            if (!curve.deviations.empty())
                words += fmt::format(" ± {:.2g}", curve.deviations[i]);
            if (!chart_.unit.empty())
                words += " " + chart_.unit;
            svg_.add(fmt::format("<circle class=\"point point-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
                                 "r=\"4\"><title>{}</title></circle>\n",
                                 kind, x_of(static_cast<double>(i)), y_of(curve.values[i]),
                                 escape(words)));
        }
    }

    void draw(const MarkedPlaces& marks) {
        const double y = svg_.bottom();
        svg_.text(left_ - 8, y + 10, "quiet end", shortened(marks.name, 12));
        svg_.line(left_, y + 6, left_ + plot_, y + 6, "grid");
        std::string path;
        double last = 0;
        for (const std::int64_t place : marks.places) {
            const double x = x_of(static_cast<double>(place));
            if (x - last < 1)
                continue; // coincides with the last mark
            last = x;
            fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}v9", x, y + 1.5);
        }
        svg_.add(fmt::format("<path class=\"mark\" d=\"{}\"/>\n", path));
        svg_.skip(row_of_marks);
    }

    const CurveChart& chart_;
    const ChartWidth width_;
    const double left_, plot_;
    const std::int64_t places_, together_;
    Extent shown_;
    double top_ = 0;
    Svg svg_;
};

} // namespace

std::string curves(const CurveChart& chart, ChartWidth width) {
    return Picture(chart, width).finish();
}

} // namespace sextant::report
