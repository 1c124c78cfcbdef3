// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/series/coordinates.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/number_text.hpp"
#include "sextant/core/printable.hpp"
#include "sextant/core/text_file.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// Spreadsheets begin with it.
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The cells of a line, of which no more than one too many.
std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (std::size_t at = 0; at <= line.size() && cells.size() <= 3;) {
        const std::size_t end = std::min(line.find(',', at), line.size());
        cells.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return cells;
}

std::optional<FramePoint> point_in(std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != 3)
        return std::nullopt;
    const auto frame = parsed_number<std::int64_t>(trimmed(cells[0]));
    const auto x = parsed_number<double>(trimmed(cells[1]));
    const auto y = parsed_number<double>(trimmed(cells[2]));
    if (!frame || !x || !y)
        return std::nullopt;
    return FramePoint{*frame, {*x, *y}};
}

/// Whether a line names the columns, and these in the order in which they are read.
bool names_columns(std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line);
    const auto mentions = [&](std::size_t cell, std::string_view name) {
        std::string text(trimmed(cells[cell]));
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        return text.find(name) != text.npos;
    };
    return cells.size() == 3 && mentions(0, "frame") && mentions(1, "x") && mentions(2, "y");
}

} // namespace

std::vector<FramePoint> read_coordinates(const std::string& path) {
    constexpr Bytes longest = Bytes{1} << 28;
    std::istringstream file(read_text(path, longest));
    std::vector<FramePoint> points;
    bool names_may_come = true;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        std::string_view text = line;
        if (number == 1 && text.starts_with(byte_order_mark))
            text.remove_prefix(byte_order_mark.size());
        text = trimmed(text);
        if (text.empty() || text.front() == '#')
            continue;
        std::optional<FramePoint> point = point_in(text);
        const bool first = std::exchange(names_may_come, false);
        if (first && names_columns(text))
            continue;
        if (!point)
            throw InvalidFile(path,
                              fmt::format("line {}: \"{}\", expected {}a frame's number, x and "
                                          "y, with commas between",
                                          number, shortened(text, 40),
                                          first ? "the names frame,x,y or " : ""));
        point->line = number;
        points.push_back(*point);
    }
    return points;
}

std::string to_csv(const std::vector<FramePoint>& points) {
    std::string csv = "frame,x,y\n";
    for (const FramePoint& point : points)
        csv += fmt::format("{},{:.4f},{:.4f}\n", point.frame, point.at.x, point.at.y);
    return csv;
}

} // namespace sextant::operation
