// SPDX-License-Identifier: BSD-3-Clause
#include "history.hpp"

#include "sextant/core/atomic_file.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>

#include <fmt/format.h>

namespace sextant::icet {

namespace {

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text)
        safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return safe;
}

std::string milliseconds(double seconds) {
    return fmt::format("{:.2f} ms", 1e3 * seconds);
}

double total(const RankTimes& times) {
    return static_cast<double>(times.render) + static_cast<double>(times.read) +
           static_cast<double>(times.wait) + static_cast<double>(times.composite);
}

/// The time of a frame, which is the time of the slowest rank.
double duration(const std::vector<RankTimes>& ranks) {
    double longest = 0;
    for (const RankTimes& times : ranks)
        longest = std::max(longest, total(times));
    return longest;
}

/// The rank that drew last, and the longest time that another rank waited for it.
struct Late {
    std::size_t rank;
    double by;
};
Late late_in(const std::vector<RankTimes>& ranks) {
    const auto [least, most] =
        std::minmax_element(ranks.begin(), ranks.end(),
                            [](const RankTimes& a, const RankTimes& b) { return a.wait < b.wait; });
    return {static_cast<std::size_t>(least - ranks.begin()),
            static_cast<double>(most->wait) - static_cast<double>(least->wait)};
}

constexpr const char* style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 "
    "1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:.25em .6em;"
    "border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
    "svg{width:100%;height:auto}.late{font-weight:bold}";

struct Part {
    const char *name, *colour;
    float RankTimes::*value;
};
constexpr Part parts[] = {{"render", "#9ecae1", &RankTimes::render},
                          {"pack", "#6baed6", &RankTimes::read},
                          {"wait", "#e0e0e0", &RankTimes::wait},
                          {"composite", "#d95f0e", &RankTimes::composite}};

/// Returns a chart with one bar per rank.
std::string bars(const std::vector<RankTimes>& ranks) {
    constexpr double width = 800, left = 70, row = 22;
    const double scale = (width - left) / std::max(duration(ranks), 1e-9);
    std::string svg =
        fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='times of ranks'>", width,
                    row * static_cast<double>(ranks.size()) + 4);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const double y = row * static_cast<double>(rank);
        svg += fmt::format("<text x='0' y='{}' font-size='13'>rank {}</text>", y + 15, rank);
        double x = left;
        for (const Part& part : parts) {
            const double length = scale * static_cast<double>(ranks[rank].*part.value);
            svg += fmt::format("<rect x='{:.1f}' y='{}' width='{:.1f}' height='{}' fill='{}'>"
                               "<title>rank {}: {} {}</title></rect>",
                               x, y + 2, length, row - 6, part.colour, rank, part.name,
                               milliseconds(static_cast<double>(ranks[rank].*part.value)));
            x += length;
        }
    }
    return svg + "</svg>";
}

} // namespace

std::string History::page() const {
    std::vector<std::size_t> slowest(frames_.size());
    std::iota(slowest.begin(), slowest.end(), std::size_t{0});
    std::ranges::stable_sort(slowest, [&](std::size_t a, std::size_t b) {
        return duration(frames_[a]) > duration(frames_[b]);
    });
    constexpr std::size_t most = 10;
    slowest.resize(std::min(slowest.size(), most));
    std::string html = fmt::format("<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
                                   "<title>Sextant: composited frames</title><style>{}</style>"
                                   "</head><body><h1>Sextant: composited frames</h1>",
                                   style);
    std::vector<double> composite;
    for (const auto& ranks : frames_) {
        float longest = 0;
        for (const RankTimes& times : ranks)
            longest = std::max(longest, times.composite);
        composite.push_back(static_cast<double>(longest));
    }
    std::vector<double> sorted = composite;
    std::ranges::sort(sorted);
    html += fmt::format("<p>{} frames on {} ranks. Compositing took {} (median of frames, the "
                        "slowest rank of each).</p>",
                        frames_.size(), frames_.empty() ? 0 : frames_[0].size(),
                        sorted.empty() ? "no time" : milliseconds(sorted[sorted.size() / 2]));
    html += "<h2>Algorithms</h2><table><tr><th>Tile</th><th>Algorithm</th><th>Predicted</th>"
            "<th>Reason</th></tr>";
    for (const Tile& tile : tiles_)
        html +=
            fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", escaped(tile.name),
                        escaped(tile.plan), tile.predicted > 0 ? milliseconds(tile.predicted) : "",
                        escaped(tile.reason));
    html += "</table><h2>The slowest frames</h2><table><tr><th>Frame</th><th>Time</th>"
            "<th>Compositing</th><th>Last to draw</th><th>Longest wait</th></tr>";
    for (const std::size_t frame : slowest) {
        const Late late = late_in(frames_[frame]);
        html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>rank {}</td><td>{}</td></tr>",
                            frame, milliseconds(duration(frames_[frame])),
                            milliseconds(composite[frame]), late.rank, milliseconds(late.by));
    }
    html += "</table>";
    for (const std::size_t frame : slowest)
        html += fmt::format("<h3>Frame {}</h3>{}", frame, bars(frames_[frame]));
    html += "<p>";
    for (const Part& part : parts)
        html += fmt::format("<span style='background:{};padding:0 .5em'>&#160;</span> {} ",
                            part.colour, part.name);
    return html + "</p></body></html>\n";
}

History::~History() {
    if (path_.empty() || frames_.empty())
        return;
    try {
        write_file(path_, page());
        std::fprintf(stderr, "sextant: wrote %s\n", path_.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sextant: %s\n", error.what());
    }
}

} // namespace sextant::icet
