// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/charts.hpp"

#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::report {

double tick_of(double range) {
    const double power = std::pow(10.0, std::floor(std::log10(range / 4)));
    for (double step : {5.0, 2.0}) {
        if (range / (step * power) >= 4)
            return step * power;
    }
    return power;
}

int decimals_of(double tick) {
    return std::max(0, -static_cast<int>(std::floor(std::log10(tick) + 1e-9)));
}

namespace {

constexpr double line_of_text = 15, gap = 12;

} // namespace

void Lanes::place(Svg& svg) {
    svg.skip(8);
    top = svg.bottom();
    svg.skip(count * height + 2 * line_of_text);
}

void Lanes::add_styles(Svg& svg) {
    svg.colour(".band", "fill", {"#f4f6f8", "#1c2027"});
    svg.colour(".lane", "stroke", {"#d5dae0", "#363d47"});
}

void Lanes::add_names(Svg& svg, const std::function<std::string(int lane)>& name) const {
    const int every = static_cast<int>(std::ceil(13 / height));
    for (int lane = 0; lane < count; lane += every)
        svg.text(begin - gap, middle(lane) + 4, "end", name(lane));
}

void Lanes::add_axis_name(Svg& svg, std::string_view name) const {
    svg.text(begin - gap, bottom() + line_of_text, "quiet end", name);
}

void Lanes::add_axis_label(Svg& svg, double x, std::string_view label) const {
    svg.text(x, bottom() + line_of_text, "quiet middle", label);
}

void add_time_axis_styles(Svg& svg) {
    svg.colour(".tick", "stroke", {"#e1e5ea", "#2c333c"});
}

void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width) {
    if (duration <= 0)
        return;
    const Seconds tick = tick_of(duration);
    const auto [unit, scale] = unit_of(duration);
    const int decimals = decimals_of(tick * scale);
    for (int i = 0; i * tick <= duration * (1 + 1e-9); ++i) {
        const double x = lanes.begin + i * tick * width / duration;
        svg.line(x, lanes.top, x, lanes.bottom(), "tick");
        lanes.add_axis_label(svg, x, fmt::format("{:.{}f}", i * tick * scale, decimals));
    }
    lanes.add_axis_name(svg, fmt::format("time, {}", unit));
}

namespace {

constexpr double left = 84, plot = 1000, right = 28, height = 150;
constexpr std::size_t most_places = 250;
constexpr KindHues hues = {255, 185, 50, 340};

class ColumnPicture {
  public:
    explicit ColumnPicture(const ColumnChart& chart)
        : chart_(chart),
          merged_((chart.places.size() + most_places - 1) / most_places),
          svg_(chart.title, chart.subtitle, left + plot + right) {
        for (const ColumnChart::Kind& kind : chart.kinds) {
            if (kind.values.size() != chart.places.size())
                throw std::logic_error(
                    fmt::format("'{}' has {} values, expected one for each of {} positions",
                                kind.name, kind.values.size(), chart.places.size()));
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
            svg_.note(
                fmt::format("{} values share a column, which shows the highest one.", merged_));
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
        if (chart_.counts) {
            svg_.line(left, top_ + height, left + plot, top_ + height, "grid");
            const double decades = std::floor(std::log10(std::max(most_, 1.)));
            const double step = std::floor(decades / 6) + 1; // keeps labels legible
            for (double power = 0; power <= decades; power += step)
                grid_line(share_of(std::pow(10, power)), std::pow(10, power));
            return;
        }
        for (const double share : {0.0, 0.5, 1.0})
            grid_line(share, share * most_);
    }

    void grid_line(double share, double value) {
        const double y = top_ + height * (1 - share);
        svg_.line(left, y, left + plot, y, "grid");
        svg_.text(left - 8, y + 4, "quiet end", chart_.text(value));
    }

    /// Returns the height of a column, from 0 to 1. A logarithmic axis begins at 1/2.
    double share_of(double value) const {
        return chart_.counts ? std::log2(2 * value) / std::log2(2 * most_) : value / most_;
    }

    /// Returns the position of the largest value that is merged into a column.
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
        const double tall = std::max(height * share_of(value), 0.5);
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
    return ColumnPicture(chart).finish();
}

namespace {

constexpr KindHues gantt_hues = {50, 255, 185, 340};

class GanttPicture {
  public:
    explicit GanttPicture(const GanttChart& chart)
        : chart_(chart), svg_(chart.title, chart.subtitle, Lanes::left + plot + right) {
        lanes_.count = std::min(static_cast<int>(chart.workers.size()), Lanes::most);
        lanes_.height = lanes_.count <= 16 ? 24 : lanes_.count <= 64 ? 12 : 6;
        for (const GanttBar& bar : chart.bars)
            duration_ = std::max(duration_, bar.end);
    }

    std::string finish() {
        styles();
        svg_.figures(chart_.figures);
        add_kind_legend(svg_, chart_.kinds);
        lanes_.place(svg_);
        lanes();
        add_time_axis(svg_, lanes_, duration_, plot);
        for (const GanttBar& bar : chart_.bars)
            draw(bar);
        if (static_cast<int>(chart_.workers.size()) > lanes_.count) {
            svg_.note(fmt::format("Not shown: {} of {} workers.",
                                  static_cast<int>(chart_.workers.size()) - lanes_.count,
                                  chart_.workers.size()));
        }
        return svg_.finish();
    }

  private:
    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        add_kind_styles(svg_, chart_.kinds.size(), gantt_hues);
        svg_.style(".bar:hover", "opacity:.65");
    }

    void lanes() {
        for (int lane = 0; lane < lanes_.count; lane += 2)
            svg_.rectangle(Lanes::left, lanes_.y(lane), plot, lanes_.height, "band");
        lanes_.add_names(svg_,
                         [&](int lane) { return chart_.workers[static_cast<std::size_t>(lane)]; });
    }

    void draw(const GanttBar& bar) {
        if (bar.worker >= lanes_.count || duration_ <= 0)
            return;
        const double scale = plot / duration_, margin = lanes_.height / 6;
        const double width = std::max((bar.end - bar.begin) * scale - .6, .4); // gap after each bar
        svg_.add(fmt::format("<rect class=\"bar kind-{}\" x=\"{:.2f}\" y=\"{:.2f}\" "
                             "width=\"{:.2f}\" height=\"{:.2f}\" rx=\"{:.1f}\"><title>{}</title>"
                             "</rect>\n",
                             bar.kind, Lanes::left + bar.begin * scale,
                             lanes_.y(bar.worker) + margin, width, lanes_.height - 2 * margin,
                             std::min({1.5, width / 4, lanes_.height / 6}), escape(bar.title)));
    }

    const GanttChart& chart_;
    Seconds duration_ = 0;
    Lanes lanes_;
    Svg svg_;
};

} // namespace

std::string gantt(const GanttChart& chart) {
    return GanttPicture(chart).finish();
}

} // namespace sextant::report
