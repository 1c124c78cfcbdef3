// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/outliers.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/filter/sample_sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

/// An interval of samples, both ends included. NaN is in no interval.
struct Interval {
    float low = -largest_float, high = largest_float;
    bool has(float value) const { return value >= low && value <= high; }
};

/// Statistics of the samples in an interval.
struct SampleMoments {
    Elements count = 0;
    double mean = 0, deviation = 0;
    float least = largest_float, largest = -largest_float;
    bool constant() const { return !(deviation > 0); }
};

/// Computes the sums in double precision, for samples whose squares overflow a float.
kernel::SampleSums wide_sums(std::span<const float> samples, const Interval& interval,
                             float shift) {
    kernel::SampleSums sums;
    for (const float sample : samples) {
        if (!interval.has(sample))
            continue;
        const double difference = static_cast<double>(sample) - static_cast<double>(shift);
        ++sums.count;
        sums.sum += difference;
        sums.squares += difference * difference;
        sums.least = std::min(sums.least, sample);
        sums.largest = std::max(sums.largest, sample);
    }
    return sums;
}

/// Returns a typical sample in the interval. Subtracting it from the samples before summing
/// preserves precision.
float middle_sample(std::span<const float> samples, const Interval& interval) {
    constexpr std::size_t most = 9;
    std::vector<double> some;
    for (std::size_t i = 0; i < most; ++i) {
        const float sample = samples[(2 * i + 1) * samples.size() / (2 * most)];
        if (interval.has(sample))
            some.push_back(static_cast<double>(sample));
    }
    return some.empty() ? 0 : static_cast<float>(median(some));
}

SampleMoments moments_of(std::span<const float> samples, const Interval& interval) {
    const float shift = middle_sample(samples, interval);
    kernel::SampleSums sums = kernel::sample_sums(samples, interval.low, interval.high, shift);
    if (!std::isfinite(sums.squares))
        sums = wide_sums(samples, interval, shift);
    SampleMoments moments;
    if (sums.count == 0)
        return moments;
    const double mean = sums.sum / static_cast<double>(sums.count);
    const double variance = sums.squares / static_cast<double>(sums.count) - mean * mean;
    moments.count = sums.count;
    moments.mean = static_cast<double>(shift) + mean;
    moments.deviation = std::sqrt(std::max(0., variance));
    moments.least = sums.least;
    moments.largest = sums.largest;
    return moments;
}

Interval around(const SampleMoments& moments, double reach) {
    const auto bounded = [](double value) {
        constexpr auto most = static_cast<double>(largest_float);
        return static_cast<float>(std::clamp(value, -most, most));
    };
    return {bounded(moments.mean - reach), bounded(moments.mean + reach)};
}

/// Returns the maximum number of candidates. If there are more, they are detail.
Elements most_candidates(Elements samples) {
    constexpr Elements one_in = 500;
    return samples / one_in;
}

/// The distribution of a frame's samples.
struct Distribution {
    SampleMoments all;     ///< moments of all finite samples
    SampleMoments clipped; ///< moments without samples beyond 8 standard deviations
};

/// Computes both moments. Samples are clipped only if they are few and the remaining samples are
/// not all equal. Otherwise they are detail, or the counts of a sparse frame.
Distribution distribution_of(std::span<const float> samples) {
    constexpr double reach = 8;
    constexpr int most_passes = 6;
    Distribution result;
    result.all = moments_of(samples, {});
    result.clipped = result.all;
    SampleMoments& moments = result.clipped;
    const Elements least_count = moments.count - most_candidates(moments.count);
    for (int pass = 0; pass < most_passes; ++pass) {
        const Interval interval = around(moments, reach * moments.deviation);
        if (interval.has(moments.least) && interval.has(moments.largest))
            break;
        const SampleMoments rest = moments_of(samples, interval);
        if (rest.count < least_count || rest.constant())
            break;
        moments = rest;
    }
    return result;
}

/// Returns the distance from the mean that one in 500 samples exceeds, estimated from a subset.
double tail_of(std::span<const float> samples, double mean) {
    constexpr std::size_t most = 1 << 14;
    const std::size_t step = std::max<std::size_t>(1, samples.size() / most) | 1;
    std::vector<float> distances;
    distances.reserve(samples.size() / step + 1);
    for (std::size_t i = 0; i < samples.size(); i += step) {
        if (std::isfinite(samples[i]))
            distances.push_back(std::abs(samples[i] - static_cast<float>(mean)));
    }
    const Elements rank = most_candidates(std::ssize(distances));
    if (rank >= std::ssize(distances))
        return 0;
    const auto at = distances.begin() + rank;
    std::nth_element(distances.begin(), at, distances.end(), std::greater<>());
    return static_cast<double>(*at);
}

/// Returns the interval of samples that are not candidates.
Interval interval_for(std::span<const float> samples, const Distribution& distribution,
                      double threshold) {
    // Assumes that the smallest sample received no electrons. Counts are Poisson-distributed, so
    // one electron then raises a sample by variance / (mean − smallest sample). At low electron
    // counts, the distribution has a long tail.
    constexpr double electrons = 5, tails = 3;
    const SampleMoments& moments = distribution.clipped;
    const double scale = threshold / automatic_threshold;
    const double above_least = moments.mean - static_cast<double>(moments.least);
    const double electron =
        above_least > 0 ? moments.deviation * moments.deviation / above_least : 0;
    const double reach = threshold * moments.deviation + scale * electrons * electron;
    const Interval interval = around(moments, reach);
    if (interval.has(distribution.all.least) && interval.has(distribution.all.largest))
        return interval;
    return around(moments, std::max(reach, scale * tails * tail_of(samples, moments.mean)));
}

/// Decides which candidates of a frame are outliers.
class Candidates {
  public:
    Candidates(std::span<const float> samples, ImageShape shape, const SampleMoments& moments,
               double threshold, const Interval& interval)
        : samples_(samples),
          shape_(shape),
          mean_(moments.mean),
          margin_(moments.deviation * threshold / automatic_threshold),
          interval_(interval) {}

    std::vector<Elements> outliers() {
        if (!collect())
            return {};
        // A streak of uneven brightness is found in several searches, starting at its brightest
        // part.
        constexpr int most_searches = 8;
        std::vector<Elements> outliers;
        for (int search = 0; search < most_searches; ++search) {
            const std::size_t before = outliers.size();
            add_sharp_groups(outliers);
            if (outliers.size() == before)
                break;
        }
        add_neighbours(outliers);
        std::ranges::sort(outliers);
        outliers.erase(std::unique(outliers.begin(), outliers.end()), outliers.end());
        return outliers;
    }

  private:
    enum class State : std::uint8_t { open, grouped, outlier };

    double at(Elements index) const {
        return static_cast<double>(samples_[static_cast<std::size_t>(index)]);
    }

    /// Returns false if there are no candidates, or too many.
    bool collect() {
        const auto most = static_cast<std::size_t>(most_candidates(std::ssize(samples_)));
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            if (interval_.has(samples_[i]) || !std::isfinite(samples_[i]))
                continue;
            if (candidates_.size() == most)
                return false;
            candidates_.push_back(static_cast<Elements>(i));
        }
        states_.assign(candidates_.size(), State::open);
        return !candidates_.empty();
    }

    /// Returns the position of a pixel in candidates_, or candidates_.size() if it is not a
    /// candidate.
    std::size_t find(Elements index) const {
        const auto found = std::lower_bound(candidates_.begin(), candidates_.end(), index);
        return found != candidates_.end() && *found == index
                   ? static_cast<std::size_t>(found - candidates_.begin())
                   : candidates_.size();
    }

    bool is_outlier(Elements index) const {
        const std::size_t which = find(index);
        return which < candidates_.size() && states_[which] == State::outlier;
    }

    /// Calls `visit` for each pixel that is at most `reach` rows and columns from `index`.
    template <class Visit>
    void visit_around(Elements index, Elements reach, const Visit& visit) const {
        const Elements x = index % shape_.width, y = index / shape_.width;
        const Elements right = std::min(x + reach, shape_.width - 1);
        const Elements bottom = std::min(y + reach, shape_.height - 1);
        for (Elements row = std::max<Elements>(0, y - reach); row <= bottom; ++row)
            for (Elements column = std::max<Elements>(0, x - reach); column <= right; ++column)
                visit(row * shape_.width + column);
    }

    void add_sharp_groups(std::vector<Elements>& outliers) {
        for (State& state : states_)
            state = state == State::grouped ? State::open : state;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (states_[i] != State::open)
                continue;
            for (const Elements pixel : sharp_part(group_of(i))) {
                states_[find(pixel)] = State::outlier;
                outliers.push_back(pixel);
            }
        }
    }

    /// Returns the connected component of a candidate: candidates that touch at sides or corners.
    std::vector<Elements> group_of(std::size_t first) {
        std::vector<Elements> group{candidates_[first]};
        states_[first] = State::grouped;
        for (std::size_t next = 0; next < group.size(); ++next) {
            visit_around(group[next], 1, [&](Elements pixel) {
                const std::size_t which = find(pixel);
                if (which == candidates_.size() || states_[which] != State::open)
                    return;
                states_[which] = State::grouped;
                group.push_back(pixel);
            });
        }
        return group;
    }

    /// Returns the part of a group within a factor of six of its extreme sample if this part is
    /// sharp and at most two pixels thick, and nothing otherwise.
    std::vector<Elements> sharp_part(std::vector<Elements> group) {
        constexpr double least_ratio = 6;
        const Elements peak =
            *std::max_element(group.begin(), group.end(), [this](Elements a, Elements b) {
                return std::abs(at(a) - mean_) < std::abs(at(b) - mean_);
            });
        const double level = level_around(peak);
        const double height = std::abs(at(peak) - level);
        if (height < least_ratio * (distance_beside(peak, level) + margin_))
            return {};
        std::sort(group.begin(), group.end());
        std::erase_if(group, [&](Elements pixel) {
            return std::abs(at(pixel) - level) * least_ratio < height;
        });
        const bool thick = std::any_of(group.begin(), group.end(), [&](Elements pixel) {
            bool inside = true;
            visit_around(pixel, 1, [&](Elements other) {
                inside = inside && std::binary_search(group.begin(), group.end(), other);
            });
            return inside;
        });
        if (thick)
            group.clear();
        return group;
    }

    /// Returns the third smallest distance of a pixel's neighbours from the local level. A streak
    /// that is two pixels wide leaves three of the nine pixels free.
    double distance_beside(Elements peak, double level) {
        near_.clear();
        visit_around(peak, 1, [&](Elements pixel) {
            if (std::isfinite(at(pixel)) && !is_outlier(pixel))
                near_.push_back(std::abs(at(pixel) - level));
        });
        if (near_.size() < 4)
            return 0; // the other neighbours are gaps
        const auto rank = near_.begin() + (std::ssize(near_) - 1) / 4;
        std::nth_element(near_.begin(), rank, near_.end());
        return *rank;
    }

    /// Returns the median of the samples around a pixel, without candidates.
    double level_around(Elements pixel) {
        constexpr Elements reach = 3;
        near_.clear();
        visit_around(pixel, reach, [&](Elements other) {
            if (interval_.has(samples_[static_cast<std::size_t>(other)]))
                near_.push_back(at(other));
        });
        return near_.empty() ? mean_ : median(near_);
    }

    /// Adds pixels next to outliers that exceed half the threshold.
    void add_neighbours(std::vector<Elements>& outliers) const {
        const double low = (mean_ + static_cast<double>(interval_.low)) / 2;
        const double high = (mean_ + static_cast<double>(interval_.high)) / 2;
        const std::size_t found = outliers.size();
        for (std::size_t i = 0; i < found; ++i) {
            visit_around(outliers[i], 1, [&](Elements pixel) {
                if (std::isfinite(at(pixel)) && (at(pixel) < low || at(pixel) > high))
                    outliers.push_back(pixel);
            });
        }
    }

    std::span<const float> samples_;
    ImageShape shape_;
    double mean_;
    double margin_; ///< allowance for noise in the neighbours of a candidate
    Interval interval_;
    std::vector<Elements> candidates_; ///< sorted pixel indices
    std::vector<State> states_;        ///< one per candidate
    std::vector<double> near_;         ///< scratch
};

} // namespace

Outliers find_outliers(std::span<const float> samples, ImageShape shape, double threshold) {
    if (std::ssize(samples) != shape.elements() || !(threshold > 0))
        throw std::logic_error("outliers: the samples or the threshold are invalid");
    const Distribution distribution = distribution_of(samples);
    const SampleMoments& all = distribution.all;
    Outliers found{{}, all.count, distribution.clipped.mean};
    if (all.count == 0 || distribution.clipped.constant())
        return found;
    const Interval interval = interval_for(samples, distribution, threshold);
    if (!interval.has(all.least) || !interval.has(all.largest))
        found.pixels =
            Candidates(samples, shape, distribution.clipped, threshold, interval).outliers();
    return found;
}

std::string describe(const OutlierSummary& outliers) {
    if (outliers.count == 0)
        return "";
    const std::string largest =
        fmt::format("{:.6g} at ({}, {})", outliers.value, outliers.x, outliers.y);
    return outliers.count == 1
               ? fmt::format("a hot pixel of {}", largest)
               : fmt::format("{} outliers, the largest {}", outliers.count, largest);
}

Codec codec_of_automatic(bool& enabled, std::optional<double>& value, double least, double most) {
    return {[&enabled, &value] {
                if (!enabled)
                    return std::string("off");
                return value ? fmt::format("{}", *value) : std::string("auto");
            },
            [&enabled, &value, least, most](const Field&, std::string_view text) -> std::string {
                const auto number = parsed_number<double>(text);
                const bool is_word = text == "auto" || text == "off";
                if (!is_word && !(number && *number >= least && *number <= most))
                    return fmt::format("auto, off, or a number from {:g} to {:g}", least, most);
                enabled = text != "off";
                value = number;
                return "";
            }};
}

Codec codec_of(Despike& despike) {
    return codec_of_automatic(despike.enabled, despike.sigma, least_threshold, most_threshold);
}

double Despike::threshold() const {
    return sigma.value_or(automatic_threshold);
}

void Despike::check() const {
    if (sigma && !(*sigma >= least_threshold && *sigma <= most_threshold))
        throw InvalidTask(
            fmt::format("despike {}: expected auto, off, or a number from {:g} to {:g}", *sigma,
                        least_threshold, most_threshold));
}

namespace {

/// Sums over the differences of adjacent samples of a line. These differences measure noise rather
/// than the specimen, whose contrast varies more between lines.
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

/// A run of adjacent lines that are not clearly lit, with the number of blank lines among them.
struct DarkRun {
    Elements first = 0, last = 0, blank = 0;
    double activity = 0; ///< sum of the activities of the blank lines
};

/// Appends the blank bands and returns the activity of the dimmest lines.
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
    // This many differences per line are enough to distinguish activities that differ by a factor
    // of four.
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
