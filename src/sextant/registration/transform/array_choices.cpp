// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/array_choices.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::registration {

namespace {

/// A view of an array in which some axes are fixed at one position and removed.
class FixedPositions final : public ArraySource {
  public:
    FixedPositions(std::unique_ptr<ArraySource> array,
                   std::vector<std::optional<std::int64_t>> fixed)
        : ArraySource(array->path(), remaining(array->header(), fixed)),
          array_(std::move(array)),
          fixed_(std::move(fixed)) {}

  private:
    static ArrayHeader remaining(ArrayHeader header,
                                 const std::vector<std::optional<std::int64_t>>& fixed) {
        for (std::size_t axis = fixed.size(); axis-- > 0;) {
            if (!fixed[axis])
                continue;
            const auto at = static_cast<std::ptrdiff_t>(axis);
            header.lengths.erase(header.lengths.begin() + at);
            header.chunk.erase(header.chunk.begin() + at);
            if (!header.names.empty())
                header.names.erase(header.names.begin() + at);
        }
        return header;
    }

    ArrayBlock whole_block(const ArrayBlock& block) const {
        ArrayBlock whole;
        for (std::size_t axis = 0, next = 0; axis < fixed_.size(); ++axis) {
            whole.start.push_back(fixed_[axis] ? *fixed_[axis] : block.start[next]);
            whole.count.push_back(fixed_[axis] ? 1 : block.count[next]);
            next += fixed_[axis] ? 0 : 1;
        }
        return whole;
    }

    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        array_->read(whole_block(block), to);
    }
    bool lacks(const ArrayBlock& block) override { return array_->is_fill(whole_block(block)); }

    std::unique_ptr<ArraySource> array_;
    std::vector<std::optional<std::int64_t>> fixed_;
};

} // namespace

std::vector<Named<AlignBy>> align_by_names() {
    return {{"bilinear", AlignBy::bilinear},
            {"cubic", AlignBy::cubic},
            {"lanczos", AlignBy::lanczos},
            {"shift", AlignBy::shift},
            {"splat", AlignBy::splat}};
}

Sample usual_sample(Sample data, const AlignOptions& options) {
    if (options.sum && options.by == AlignBy::shift && name(data).front() != 'f')
        return name(data).front() == 'u' ? Sample::u64 : Sample::i64;
    if (options.sum || options.by == AlignBy::splat) {
        const bool wide = data == Sample::f64 || (size_of(data) > 2 && name(data).front() != 'f');
        return wide ? Sample::f64 : Sample::f32;
    }
    return data;
}

double usual_gap(Sample sample, const AlignOptions& options) {
    const bool zero = options.sum || options.by == AlignBy::splat || name(sample).front() != 'f';
    return zero ? 0 : std::numeric_limits<double>::quiet_NaN();
}

std::string remark_on_rounding(const AlignResult& result, Sample data, Sample sample,
                               const AlignOptions& options) {
    if (result.clamped > 0)
        return fmt::format("{} samples are beyond the range of {}, and are clamped", result.clamped,
                           name(sample));
    if (result.rounded == 0)
        return "";
    if (name(sample).front() != 'f')
        return fmt::format("{} samples are rounded, because sums beyond 2^53 are inexact as f64",
                           result.rounded);
    const Sample usual = usual_sample(data, options);
    return fmt::format("{} samples are rounded from {} to {}", result.rounded,
                       name(name(usual).front() != 'f' ? usual : data), name(sample));
}

std::string axes_text(const ArrayHeader& header) {
    std::string text;
    for (std::size_t axis = 0; axis < header.lengths.size(); ++axis)
        text += fmt::format("{}{} {}", text.empty() ? "" : " × ", header.axis_name(axis),
                            header.lengths[axis]);
    return text;
}

std::string example_of_axes(std::size_t axes) {
    return axes == 4 ? "TYXE" : axes == 5 ? "T,Y,X,ky,kx" : "T,C,Z,Y,X,E";
}

ChosenArray choose_axes(std::unique_ptr<ArraySource> array, const ArrayChoice& choice) {
    const ArrayHeader& header = array->header();
    const std::size_t count = header.lengths.size();
    std::vector<std::string> names = header.names;
    if (names.empty() && count <= 3) {
        names = count == 2 ? std::vector<std::string>{"y", "x"}
                           : std::vector<std::string>{"t", "y", "x"};
    }
    std::vector<std::optional<std::int64_t>> fixed(count);
    const auto refuse = [&](const std::string& expected) {
        throw InvalidFile(array->path(),
                          fmt::format("has the axes {}, expected {}",
                                      names.empty()
                                          ? fmt::format("{}", fmt::join(header.lengths, "×"))
                                          : axes_text(header),
                                      expected));
    };
    if (count < 2)
        refuse("rows and columns");
    if (names.empty()) {
        refuse(fmt::format("names for them, such as --axes {}, where T stands for the frames, Y "
                           "for the rows and X for the columns",
                           example_of_axes(count)));
    }
    const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto at = std::find(names.begin(), names.end(), name);
        return at == names.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(at - names.begin()));
    };
    const auto row = find("y"), column = find("x"), time = find("t"), slice = find("z");
    if (!row || !column || *column != *row + 1)
        refuse("y (rows) and x (columns) next to each other: name them with --axes");
    if (time && *time > *row)
        refuse("t (frames) before y and x");
    const auto length = [&](const std::optional<std::size_t>& axis) {
        return axis ? header.lengths[*axis] : 1;
    };
    const auto fix = [&](const std::optional<std::size_t>& axis,
                         const std::optional<std::int64_t>& position, std::string_view what) {
        if (!position)
            return;
        if (*position >= length(axis))
            throw InvalidFile(array->path(),
                              fmt::format("has no {0} {1}, expected {0} {2}", what, *position,
                                          length(axis) == 1
                                              ? std::string("0")
                                              : fmt::format("0 to {}", length(axis) - 1)));
        if (axis)
            fixed[*axis] = position;
    };
    fix(find("c"), choice.channel, "channel");
    fix(slice, choice.slice, "slice");
    fix(time, choice.time, "time");
    // As in other commands, slices are the frames if the array has a single time or a time is
    // requested.
    std::optional<std::size_t> frame = time;
    if (choice.single_frame) {
        frame = std::nullopt;
        if (length(time) > 1)
            throw InvalidTask(
                fmt::format("{} has {} frames, expected one frame because --frame is given",
                            array->path(), length(time)));
        if (time)
            fixed[*time] = 0;
    } else if (choice.time || (length(time) == 1 && length(slice) > 1 && !choice.slice)) {
        frame = slice;
        if (time)
            fixed[*time] = choice.time.value_or(0);
    }
    if (frame && fixed[*frame])
        frame = std::nullopt;
    if (frame && *frame > *row)
        refuse("z (frames) before y and x");
    const auto now = [&](std::size_t axis) {
        return axis - static_cast<std::size_t>(std::count_if(
                          fixed.begin(), fixed.begin() + static_cast<std::ptrdiff_t>(axis),
                          [](const auto& each) { return each.has_value(); }));
    };
    const MovedAxes axes{frame ? std::optional(now(*frame)) : std::nullopt, now(*row),
                         now(*column)};
    if (std::ranges::any_of(fixed, [](const auto& each) { return each.has_value(); }))
        array = std::make_unique<FixedPositions>(std::move(array), std::move(fixed));
    return {std::move(array), axes};
}

} // namespace sextant::registration
