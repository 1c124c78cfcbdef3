// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/blank_lines.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::registration {

namespace {

/// The differences of adjacent samples of a line. They show noise more than the specimen, whose
/// contrast differs more between lines.
struct LineSums {
    double count = 0, squares = 0;

    void add(float one, float next) {
        const double difference = static_cast<double>(next) - static_cast<double>(one);
        if (!std::isfinite(difference))
            return;
        ++count;
        squares += difference * difference;
    }
    /// Returns the mean square; NaN if there are too few samples.
    double activity() const {
        constexpr double least_samples = 8;
        return count < least_samples ? std::numeric_limits<double>::quiet_NaN() : squares / count;
    }
};

/// A run of lines that are not clearly lit, with the number of those that are blank.
struct DarkRun {
    Elements first = 0, last = 0, blank = 0;
    double activity = 0; ///< sum of those of the blank lines
};

/// Appends the bands, and returns the activity of the dimmest lines.
double find_bands(std::span<const LineSums> lines, bool columns, std::vector<LineBand>& bands) {
    constexpr double most_of_blank = .05, least_of_lit = .2; // relative to the usual activity
    const auto count = std::ssize(lines);
    std::vector<double> activities, known;
    for (const LineSums& line : lines) {
        activities.push_back(line.activity());
        if (!std::isnan(activities.back()))
            known.push_back(activities.back());
    }
    if (known.empty())
        return 0;
    constexpr double dimmest_lines = .02;
    const double dimmest = quantile(known, dimmest_lines);
    constexpr double lit = .875; // at least an eighth of the lines must be lit
    const double usual = quantile(known, lit);
    if (!(usual > 0))
        return dimmest;
    std::vector<DarkRun> runs;
    for (Elements line = 0; line < count; ++line) {
        const double activity = activities[static_cast<std::size_t>(line)];
        if (!(activity < least_of_lit * usual))
            continue;
        if (runs.empty() || runs.back().last < line)
            runs.push_back({line, line, 0});
        runs.back().last = line + 1;
        if (activity < most_of_blank * usual) {
            ++runs.back().blank;
            runs.back().activity += activity;
        }
    }
    const Elements least = std::max<Elements>(8, count / 32);
    constexpr Elements most_at_edges = 2;
    std::vector<LineBand> found;
    Elements unclear = 0;
    for (const DarkRun& run : runs) {
        const Elements dim = run.last - run.first - run.blank;
        if (run.blank >= least && dim <= most_at_edges)
            found.push_back(
                {columns, run.first, run.last, run.activity / static_cast<double>(run.blank)});
        else
            unclear += run.last - run.first;
    }
    if (50 * unclear <= count)
        bands.insert(bands.end(), found.begin(), found.end());
    return dimmest;
}

} // namespace

BlankLines find_blank_lines(std::span<const float> samples, ImageShape shape) {
    // So many differences are enough to distinguish activities by the factor of four.
    constexpr Elements enough = 128;
    const auto [width, height] = shape;
    const Elements step_x = std::max<Elements>(1, width / enough),
                   step_y = std::max<Elements>(1, height / enough);
    std::vector<LineSums> rows(static_cast<std::size_t>(height)),
        columns(static_cast<std::size_t>(width));
    for (Elements y = 0; y < height; ++y) {
        const float* const row = samples.data() + y * width;
        LineSums& of_row = rows[static_cast<std::size_t>(y)];
        for (Elements x = 0; x + 1 < width; x += step_x)
            of_row.add(row[x], row[x + 1]);
        if (y % step_y != 0 || y + 1 == height)
            continue;
        for (Elements x = 0; x < width; ++x)
            columns[static_cast<std::size_t>(x)].add(row[x], row[x + width]);
    }
    BlankLines found;
    found.dimmest_rows = find_bands(rows, false, found.bands);
    found.dimmest_columns = find_bands(columns, true, found.bands);
    return found;
}

Elements samples_in(std::span<const LineBand> bands, ImageShape shape) {
    Elements rows = 0, columns = 0;
    for (const LineBand& band : bands)
        (band.columns ? columns : rows) += band.count();
    return rows * shape.width + columns * (shape.height - rows);
}

} // namespace sextant::registration
