// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_axes.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

std::string upper_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// Returns an example of axis names for messages, such as "TZYX" for four axes.
std::string example_of_names(std::size_t axes) {
    constexpr std::string_view all = "TCZYX";
    return std::string(axes == 4 ? "TZYX" : all.substr(all.size() - std::min(axes, all.size())));
}

/// Throws InvalidFile unless each axis has a letter of its own, rows are the axis Y, and columns
/// are the axis X.
void check_names(const std::string& path, const ArrayInFile& array, const std::string& names) {
    const auto refuse = [&](const std::string& expected) {
        throw InvalidFile(path, fmt::format("axes \"{}\" were given, expected {}",
                                            printable(upper_case(names)), expected));
    };
    if (names.size() != array.lengths.size())
        refuse(fmt::format("a letter for each of {} axes ({})", array.lengths.size(),
                           fmt::join(array.lengths, "×")));
    for (const char letter : names) {
        if (std::string_view("tczyx").find(letter) == std::string_view::npos ||
            std::ranges::count(names, letter) > 1)
            refuse(fmt::format("each of T, C, Z, Y and X at most once, such as {}",
                               example_of_names(names.size())));
    }
    if (names[array.row_axis] != 'y' || names[array.column_axis] != 'x')
        refuse(fmt::format("Y as axis {} and X as axis {}, which are rows and columns",
                           array.row_axis, array.column_axis));
}

/// Returns the names of the axes in lower case; "" if neither the options nor the file name them.
std::string axis_names_of(const std::string& path, const ArrayInFile& array,
                          const SourceOptions& options) {
    const std::string given = lower_case(options.axes);
    if (given.empty())
        return array.names;
    if (!array.names.empty() && given != array.names) {
        throw InvalidFile(path, fmt::format("axes \"{}\" were given, but the file names them {}",
                                            printable(upper_case(given)), upper_case(array.names)));
    }
    check_names(path, array, given);
    return given;
}

/// Chooses the frames of an array with named axes: one channel, and all times of one slice or all
/// slices of one time.
FrameAxes choose_named(const std::string& path, const ArrayInFile& array, const std::string& names,
                       const SourceOptions& options, FrameHeader& header) {
    const auto length = [&](char letter) {
        const std::size_t axis = names.find(letter);
        return axis == std::string::npos ? 1 : array.lengths[axis];
    };
    const bool by_slices = options.time || (length('t') == 1 && length('z') > 1 && !options.slice);
    header.frame_interval = by_slices ? 0 : array.frame_interval;
    Hyperstack& stack = header.hyperstack;
    stack.channels = length('c');
    stack.slices = by_slices ? 1 : length('z');
    stack.times = by_slices ? length('t') : 1;
    stack.channel = chosen_plane(path, "channel", options.channel, stack.channels, header);
    stack.slice = chosen_plane(path, "slice", options.slice, stack.slices, header);
    stack.time = chosen_plane(path, "time", options.time, stack.times, header);
    FrameAxes chosen{{}, std::vector<std::int64_t>(array.lengths.size(), 0)};
    for (const auto& [letter, position] :
         {std::pair('c', stack.channel), std::pair('z', stack.slice), std::pair('t', stack.time)}) {
        const std::size_t axis = names.find(letter);
        if (axis == std::string::npos)
            continue;
        if (letter == (by_slices ? 'z' : 't'))
            chosen.frames.push_back(axis);
        else
            chosen.fixed[axis] = position;
    }
    return chosen;
}

/// Returns the axes in the order in which the planes are read as frames: the axes of frames, then
/// rows and columns.
ArrayAxes axes_as_read(const ArrayInFile& array, const FrameAxes& chosen) {
    std::vector<std::size_t> order = chosen.frames;
    order.push_back(array.row_axis);
    order.push_back(array.column_axis);
    ArrayAxes axes;
    for (const std::size_t axis : order) {
        axes.lengths.push_back(array.lengths[axis]);
        if (!array.names.empty())
            axes.names += upper_case(array.names.substr(axis, 1));
        if (!array.labels.empty())
            axes.labels.push_back(array.labels[axis]);
    }
    return axes;
}

/// Returns all axes, with rows and columns last.
ArrayAxes axes_in_order(const ArrayInFile& array) {
    FrameAxes all;
    for (std::size_t axis = 0; axis < array.lengths.size(); ++axis) {
        if (axis != array.row_axis && axis != array.column_axis)
            all.frames.push_back(axis);
    }
    return axes_as_read(array, all);
}

} // namespace

std::unique_ptr<ArraySource> whole_array(std::unique_ptr<FrameSource> planes) {
    const FrameHeader& header = planes->header();
    const std::vector<std::int64_t>& lengths = header.axes.lengths;
    std::int64_t stated = 1;
    for (std::size_t axis = 0; axis + 2 < lengths.size(); ++axis)
        stated *= lengths[axis];
    if (lengths.size() > 3 && stated != header.frames)
        throw InvalidFile(planes->path(), fmt::format("is truncated: {} of {} planes are complete",
                                                      header.frames, stated));
    auto array = std::move(*planes).into_array();
    ArrayHeader(array->header()).check(array->path());
    return array;
}

ArrayHeader series_array(const FrameHeader& series, StackAxis axis) {
    ArrayHeader array{{series.shape.height, series.shape.width}, {"y", "x"}, series.sample};
    if (series.frames > 1) {
        array.lengths.insert(array.lengths.begin(), series.frames);
        array.names.insert(array.names.begin(), axis == StackAxis::slices ? "z" : "t");
    }
    array.pixel = series.pixel;
    array.slice_distance = series.slice_distance;
    array.frame_interval = series.frame_interval;
    return array;
}

std::string usual_axis_name(std::string name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> words{{{"time", "t"},
                                                                                  {"frame", "t"},
                                                                                  {"frames", "t"},
                                                                                  {"channel", "c"},
                                                                                  {"channels", "c"},
                                                                                  {"slice", "z"},
                                                                                  {"row", "y"},
                                                                                  {"column", "x"}}};
    name = lower_case(std::move(name));
    const auto* const row = std::find_if(words.begin(), words.end(),
                                         [&](const auto& each) { return each.first == name; });
    return row == words.end() ? name : std::string(row->second);
}

std::string why_no_frames(const ArrayAxes& as_read) {
    std::vector<std::string> names;
    for (const std::string& label : as_read.labels)
        names.push_back(usual_axis_name(label));
    if (names.size() < 2 || std::ranges::count(names, "y") != 1 ||
        std::ranges::count(names, "x") != 1)
        return "";
    const std::string &row = names[names.size() - 2], &column = names.back();
    const auto is_of_image = [](const std::string& name) { return name == "y" || name == "x"; };
    if ((row == "y" && column == "x") || (!is_of_image(row) && !is_of_image(column)))
        return "";
    return fmt::format("has the axes {} ({}), of which {} and {} are not those of a frame, "
                       "expected y (rows) and x (columns) as the last two axes",
                       printable(fmt::format("{}", fmt::join(names, ","))),
                       fmt::join(as_read.lengths, "×"), printable(row), printable(column));
}

ArrayInFile ArrayInFile::with_last_axes(std::vector<std::int64_t> lengths) {
    const std::size_t axes = lengths.size();
    return {std::move(lengths), axes - 2, axes - 1};
}

FrameAxes choose_frame_axes(const std::string& path, const ArrayInFile& array,
                            const SourceOptions& options, FrameHeader& header) {
    header.shape = {array.lengths[array.column_axis], array.lengths[array.row_axis]};
    header.frame_interval = array.frame_interval;
    const std::string names = options.every_plane ? "" : axis_names_of(path, array, options);
    header.axes = {array.lengths, upper_case(names), array.labels};
    FrameAxes chosen{{}, std::vector<std::int64_t>(array.lengths.size(), 0)};
    if (!names.empty()) {
        chosen = choose_named(path, array, names, options, header);
    } else {
        for (std::size_t axis = 0; axis < array.lengths.size(); ++axis) {
            if (axis != array.row_axis && axis != array.column_axis)
                chosen.frames.push_back(axis);
        }
    }
    if (options.every_plane)
        header.axes = axes_as_read(array, chosen);
    else if (const std::string reason = why_no_frames(axes_in_order(array)); !reason.empty())
        throw InvalidFile(path, reason);
    std::vector<std::int64_t> lengths;
    header.frames = 1;
    for (const std::size_t axis : chosen.frames) {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        const std::int64_t length = array.lengths[axis];
        if (length < 0 || length > most / std::max<std::int64_t>(1, header.frames))
            throw InvalidFile(path, "has an implausible number of frames: damaged");
        header.frames *= length;
        lengths.push_back(length);
    }
    checked_frames(path, header);
    if (options.every_plane)
        return chosen;
    remark_on_axes(lengths, header);
    if (std::ranges::count_if(lengths, [](auto length) { return length > 1; }) > 1 &&
        array.lengths.size() <= std::string_view("TCZYX").size()) {
        header.remarks.back() +=
            fmt::format("; to read some of them, name the axes, for example --axes {}",
                        example_of_names(array.lengths.size()));
    }
    return chosen;
}

namespace {

bool is_axis_name(std::string_view name) {
    return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
           std::ranges::all_of(
               name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

/// An array whose axes have names from the options or the file.
class NamedArray final : public ArraySource {
  public:
    NamedArray(std::unique_ptr<ArraySource> array, ArrayHeader header)
        : ArraySource(array->path(), std::move(header)), array_(std::move(array)) {}

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        array_->read(block, to);
    }
    bool lacks(const ArrayBlock& block) override { return array_->is_fill(block); }

    std::unique_ptr<ArraySource> array_;
};

} // namespace

std::unique_ptr<ArraySource> with_axis_names(std::unique_ptr<ArraySource> array,
                                             const std::string& stated) {
    ArrayHeader header = array->header();
    const std::size_t axes = header.lengths.size();
    for (std::string& name : header.names)
        name = usual_axis_name(name);
    std::vector<std::string> sorted = header.names;
    std::ranges::sort(sorted);
    if (!std::ranges::all_of(sorted, is_axis_name) ||
        std::ranges::adjacent_find(sorted) != sorted.end())
        header.names.clear(); // such as "<undefined>"
    if (!stated.empty()) {
        const std::vector<std::string> names = parse_axis_names(array->path(), stated);
        if (names.size() != axes)
            throw InvalidFile(array->path(),
                              fmt::format("axes \"{}\" were given, expected a name for each of {} "
                                          "axes ({})",
                                          printable(stated), axes, fmt::join(header.lengths, "×")));
        if (!header.names.empty() && header.names != names)
            throw InvalidFile(
                array->path(),
                fmt::format("axes \"{}\" were given, but the file names them {}", printable(stated),
                            printable(fmt::format("{}", fmt::join(header.names, ",")))));
        header.names = names;
    }
    if (header.names == array->header().names)
        return array;
    return std::make_unique<NamedArray>(std::move(array), std::move(header));
}

std::vector<std::string> parse_axis_names(const std::string& path, std::string_view text) {
    std::vector<std::string> names;
    if (text.find(',') == std::string_view::npos) {
        for (const char letter : text)
            names.push_back(usual_axis_name(std::string(1, letter)));
    } else {
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find(',', at), text.size());
            names.push_back(usual_axis_name(std::string(text.substr(at, end - at))));
            at = end + 1;
        }
    }
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted);
    if (!std::ranges::all_of(names, is_axis_name) ||
        std::ranges::adjacent_find(sorted) != sorted.end())
        throw InvalidTask(
            fmt::format("{}: axes \"{}\" were given, expected a letter for each axis, "
                        "such as TYXE, or different names separated by commas, such "
                        "as t,y,x,ky,kx",
                        path, printable(text)));
    return names;
}

bool are_plane_axes(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) {
        return std::string_view("tczyx").find(static_cast<char>(
                   std::tolower(static_cast<unsigned char>(letter)))) != std::string_view::npos;
    });
}

} // namespace sextant::format
