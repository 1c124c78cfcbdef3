// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/gantt.hpp"

#include "sextant/report/kinds.hpp"
#include "sextant/report/lanes.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/time_axis.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double right = 28, plot = 1000;
constexpr KindHues hues = {50, 255, 185, 340};

class Picture {
  public:
    explicit Picture(const GanttChart& chart)
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
            svg_.note(fmt::format("Left out: {} of {} workers.",
                                  static_cast<int>(chart_.workers.size()) - lanes_.count,
                                  chart_.workers.size()));
        }
        return svg_.finish();
    }

  private:
    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        add_kind_styles(svg_, chart_.kinds.size(), hues);
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
        const double width = std::max((bar.end - bar.begin) * scale - .6, .4); // a gap between two
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
    return Picture(chart).finish();
}

} // namespace sextant::report
