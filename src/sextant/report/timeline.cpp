// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/timeline.hpp"

#include "sextant/report/activity.hpp"
#include "sextant/report/bars.hpp"
#include "sextant/report/kinds.hpp"
#include "sextant/report/lanes.hpp"
#include "sextant/report/messages.hpp"
#include "sextant/report/shared_lanes.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/time_axis.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double right = 28, plot = 1000;

/// Where lanes and times lie.
struct Layout {
    Layout(const Bars& bars, int ranks) {
        const int count = SharedLanes(ranks).lanes;
        const double most = count <= 8 ? 40 : count <= 16 ? 30 : count <= 64 ? 14 : 6;
        work = count <= 16 ? 12 : count <= 64 ? 7 : 4;
        gap = count <= 16 ? 12 : count <= 64 ? 6 : 3;
        row = std::min(most / bars.rows, 8.0);
        messages = row * bars.rows;
        lanes = {count, messages + work + gap};
        scale = bars.duration > 0 ? plot / bars.duration : 0;
    }
    double x(Seconds time) const { return Lanes::left + time * scale; }
    /// Between the messages of a rank and its work.
    double y(int rank) const { return lanes.y(rank) + gap / 2 + messages; }

    Lanes lanes;
    double row, messages, work, gap; ///< heights
    double scale;
};

/// Draws one trace.
class Chart {
  public:
    Chart(const Trace& trace, int ranks, const TimelineOptions& options)
        : ranks_(ranks),
          shared_(ranks),
          events_(static_cast<std::int64_t>(trace.events.size())),
          bars_(bars(trace, shared_, static_cast<std::size_t>(std::max(options.most_drawn, 0)))),
          layout_(bars_, ranks),
          svg_(options.title, options.subtitle, Lanes::left + plot + right) {
        for (const Event& event : trace.events) {
            const auto i = static_cast<std::size_t>(event.activity);
            ++count_[i];
            spent_[i] += event.end - event.begin;
        }
    }

    std::string finish() {
        styles();
        svg_.figures({{to_text(bars_.duration), "in all"},
                      key_figure(ranks_, "rank"),
                      key_figure(events_, "event")});
        legend();
        layout_.lanes.place(svg_);
        lanes();
        add_time_axis(svg_, layout_.lanes, bars_.duration, plot);
        for (const Bar& bar : bars_.messages) {
            const double y = layout_.y(bar.event.rank) - 1 - (bar.row + 1) * layout_.row;
            draw(bar, y, layout_.row * 0.86);
        }
        for (const Bar& bar : bars_.work)
            draw(bar, layout_.y(bar.event.rank) + 1, layout_.work);
        notes();
        return svg_.finish();
    }

  private:
    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        for (const Activity activity : activities)
            svg_.colour(fmt::format(".{}", name(activity)), "fill", colour_of(activity));
        svg_.style(".event:hover", "opacity:.65");
    }

    /// Messages overlap, so they are counted; a rank does one piece of work at a time, so its share
    /// of the time is told.
    void legend() {
        const double whole = bars_.duration * ranks_;
        std::vector<LegendEntry> entries;
        for (Activity activity : activities) {
            const auto i = static_cast<std::size_t>(activity);
            if (count_[i] == 0)
                continue;
            std::string label(name(activity));
            if (is_message(activity))
                label += fmt::format(" {}", grouped(count_[i]));
            else if (whole > 0)
                label += fmt::format(" {:.1f} %", 100 * spent_[i] / whole);
            entries.push_back({swatch(name(activity)), label});
        }
        if (!entries.empty())
            svg_.legend(entries);
    }

    void lanes() {
        const Lanes& lanes = layout_.lanes;
        for (int rank = 0; rank < lanes.count; ++rank) {
            const double y = layout_.y(rank);
            if (rank % 2 == 0)
                svg_.rectangle(Lanes::left, lanes.y(rank), plot, lanes.height, "band");
            svg_.line(Lanes::left, y, Lanes::left + plot, y, "lane");
        }
        lanes.add_names(svg_, [this](int lane) { return shared_.name(lane); });
    }

    std::string title_of(const Bar& bar) const {
        const Event& event = bar.event;
        std::string text = shared_.name(event.rank);
        if (bar.events > 1) {
            text += fmt::format(": {}", counted(bar.events, name(event.activity)));
        } else {
            if (event.step >= 0)
                text += fmt::format(", step {}", event.step);
            text += fmt::format(": {}", name(event.activity));
            if (event.activity == Activity::send)
                text += fmt::format(" to rank {}", event.peer);
            if (event.activity == Activity::receive)
                text += fmt::format(" from rank {}", event.peer);
            if (event.activity != Activity::wait)
                text += fmt::format(", round {}", event.round);
        }
        if (event.activity != Activity::wait)
            text += fmt::format(", {}", counted(event.elements, "element"));
        return text + fmt::format("\n{} from {} to {}", to_text(event.end - event.begin),
                                  to_text(event.begin), to_text(event.end));
    }

    void draw(const Bar& bar, double y, double height) {
        const double x = layout_.x(bar.event.begin);
        const double width = std::max(layout_.x(bar.event.end) - x, 0.5);
        svg_.add(fmt::format("<rect class=\"event {}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                             "height=\"{:.2f}\" rx=\"{:.1f}\"><title>{}</title></rect>\n",
                             name(bar.event.activity), x, y, width, height,
                             std::min({1.5, width / 4, height / 4}), escape(title_of(bar))));
    }

    void notes() {
        svg_.note(events_ == 0 ? "No events were recorded."
                               : "Above each line: messages on their way. Below: work, and waiting "
                                 "with nothing else to do.");
        if (bars_.pause > 0) {
            const auto drawn = static_cast<std::int64_t>(bars_.messages.size() + bars_.work.size());
            svg_.note(fmt::format(
                "Aggregated: {} in {}. Left out: pauses of up to {} between events "
                "of a kind.",
                counted(events_, "event"), counted(drawn, "bar"), to_text(bars_.pause)));
        }
        if (shared_.shared())
            svg_.note(fmt::format("{} ranks share a lane; what they do at once is one bar.",
                                  shared_.ranks_per_lane));
    }

    const int ranks_;
    const SharedLanes shared_;
    const std::int64_t events_;
    const Bars bars_;
    Layout layout_;
    std::array<std::int64_t, std::size(activities)> count_{};
    std::array<Seconds, std::size(activities)> spent_{};
    Svg svg_;
};

} // namespace

std::string timeline(const Trace& trace, int ranks, const TimelineOptions& options) {
    return Chart(trace, ranks, options).finish();
}

} // namespace sextant::report
