// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/static_pattern.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/registration/correct/layers.hpp"
#include "sextant/registration/correct/planes.hpp"
#include "sextant/registration/pair/spectrum_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace sextant::registration {

namespace {

constexpr Elements largest_reduced = 1024;
constexpr std::int64_t most_frames = 24;
constexpr float unseen = std::numeric_limits<float>::infinity();
constexpr float differs = std::numeric_limits<float>::quiet_NaN();

void subtract_mean(std::span<float> values) {
    double sum = 0;
    for (const float value : values)
        sum += static_cast<double>(value);
    const auto mean = static_cast<float>(sum / static_cast<double>(values.size()));
    for (float& value : values)
        value -= mean;
}

/// Returns the areas of constant pixels: those most of whose neighbours are constant too, and
/// constant pixels next to these. A single pixel may be constant by chance at a low dose. Returns
/// none if a quarter of all pixels is constant.
std::vector<Elements> areas_of(const std::vector<float>& same, ImageShape shape) {
    const auto index = [&](Elements x, Elements y) {
        return static_cast<std::size_t>(y * shape.width + x);
    };
    const auto around = [&](Elements x, Elements y, bool beyond, const auto& is) {
        int count = 0;
        for (const Elements j : {y - 1, y, y + 1}) {
            for (const Elements i : {x - 1, x, x + 1}) {
                const bool inside = i >= 0 && j >= 0 && i < shape.width && j < shape.height;
                count += (inside ? is(index(i, j)) : beyond) ? 1 : 0;
            }
        }
        return count;
    };
    const auto constant = [&](std::size_t pixel) { return std::isfinite(same[pixel]); };
    std::vector<char> core(same.size());
    Elements all = 0;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            constexpr int least = 6; // of nine; two adjacent columns have six
            all += constant(index(x, y)) ? 1 : 0;
            core[index(x, y)] =
                constant(index(x, y)) && around(x, y, true, constant) >= least ? 1 : 0;
        }
    }
    std::vector<Elements> pixels;
    if (4 * all > shape.elements())
        return pixels;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            if (constant(index(x, y)) &&
                around(x, y, false, [&](std::size_t pixel) { return core[pixel] != 0; }) > 0)
                pixels.push_back(y * shape.width + x);
        }
    }
    return pixels;
}

} // namespace

PatternView pattern_view(ImageShape frame, std::int64_t frames) {
    PatternView view;
    ImageShape level = frame;
    // A few frames take little time, and their fine detail is needed.
    const bool few = frames < std::int64_t{LayerFit::many_frames};
    const Elements largest_view = few ? 256 : 128, least_side = few ? 1024 : 256;
    if (std::min(frame.width, frame.height) >= least_side && default_levels(frame) > 1) {
        view.level = 1;
        level = kernel::halved(frame);
    }
    const ImageShape shape{std::min(level.width, largest_view),
                           std::min(level.height, largest_view)};
    view.area = {(level.width - shape.width) / 2, (level.height - shape.height) / 2, shape};
    return view;
}

std::vector<float> viewed_part(const PatternView& view, const Pyramid& frame) {
    const kernel::FloatImage image = frame.level(view.level);
    const auto scale = static_cast<float>(1 / frame.scale());
    std::vector<float> part;
    part.reserve(static_cast<std::size_t>(view.area.shape.elements()));
    for (Elements y = view.area.y; y < view.area.y + view.area.shape.height; ++y) {
        for (Elements x = view.area.x; x < view.area.x + view.area.shape.width; ++x)
            part.push_back(scale * image.at(x, y));
    }
    return part;
}

std::vector<std::int64_t> frames_for_layers(std::int64_t frames, ImageShape shape) {
    constexpr Elements least_side = 32;
    const std::int64_t count =
        std::min(shape.width, shape.height) < least_side ? 0 : std::min(frames, most_frames);
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < count; ++i)
        chosen.push_back(i * frames / count);
    return chosen;
}

std::vector<float> StaticPattern::image() const {
    std::vector<float> image = of_results;
    for (const Elements pixel : constant)
        image[static_cast<std::size_t>(pixel)] = std::numeric_limits<float>::quiet_NaN();
    return image;
}

RowChange without_static(std::shared_ptr<const StaticPattern> pattern,
                         std::vector<float> StaticPattern::*values) {
    return [pattern = std::move(pattern), values](std::int64_t frame, Rows rows,
                                                  std::span<float> samples) {
        const Elements width = pattern->shape.width;
        const float level = pattern->levels[static_cast<std::size_t>(frame)];
        const float* const still = ((*pattern).*values).data() + rows.first * width;
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] -= level * still[i];
        set_gaps(pattern->constant, rows, width, samples);
    };
}

StaticSum::StaticSum(ImageShape shape)
    : shape_(shape),
      reduced_(shape),
      padded_(shape),
      factor_([&] {
          Elements factor = 1;
          while (std::max(shape.width, shape.height) > factor * largest_reduced)
              factor *= 2;
          reduced_ = {shape.width / factor, shape.height / factor};
          padded_ = {fast_fourier_size(reduced_.width), fast_fourier_size(reduced_.height)};
          return factor;
      }()),
      forward_(padded_, false),
      backward_(padded_, true),
      sum_(static_cast<std::size_t>(shape.elements())),
      same_(sum_.size(), unseen),
      aligned_(static_cast<std::size_t>(padded_.elements())) {}

/// Returns the spectrum of a reduced frame without its mean.
StaticSum::Values StaticSum::spectrum_of(std::span<const float> samples, float mean) {
    Values values(aligned_.size());
    const float each = 1 / static_cast<float>(factor_ * factor_);
    for (Elements y = 0; y < reduced_.height * factor_; ++y) {
        std::complex<float>* const to = values.data() + y / factor_ * padded_.width;
        for (Elements x = 0; x < reduced_.width * factor_; ++x) {
            const float sample = samples[static_cast<std::size_t>(y * shape_.width + x)];
            if (std::isfinite(sample))
                to[x / factor_] += each * (sample - mean);
        }
    }
    forward_.transform(values, scratch_);
    return values;
}

void StaticSum::add(std::span<const float> samples, std::optional<Point> displaced) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const float sample = samples[i];
        if (!std::isfinite(sample))
            continue;
        sum += static_cast<double>(sample);
        ++count;
        if (same_[i] == unseen)
            same_[i] = sample;
        else if (same_[i] != sample)
            same_[i] = differs;
    }
    if (!displaced)
        return;
    const Point shift{displaced->x / static_cast<double>(factor_),
                      displaced->y / static_cast<double>(factor_)};
    const auto mean = static_cast<float>(count > 0 ? sum / count : 0);
    for (std::size_t i = 0; i < samples.size(); ++i)
        sum_[i] += std::isfinite(samples[i]) ? samples[i] - mean : 0;
    const Values spectrum = spectrum_of(samples, mean);
    const Values columns = factors_of_displacement(padded_.width, shift.x),
                 rows = factors_of_displacement(padded_.height, shift.y);
    for (Elements y = 0; y < padded_.height; ++y) {
        for (Elements x = 0; x < padded_.width; ++x) {
            const auto i = static_cast<std::size_t>(y * padded_.width + x);
            const std::complex<float> phase =
                times(columns[static_cast<std::size_t>(x)], rows[static_cast<std::size_t>(y)]);
            aligned_[i] += conj_times(phase, spectrum[i]);
        }
    }
    shifts_.push_back(shift);
}

StaticPattern StaticSum::pattern(const Communicator& communicator) {
    fold_planes(communicator, same_, [](std::span<const float> of_ranks) {
        float all = unseen;
        for (const float one : of_ranks) {
            if (one == unseen)
                continue;
            all = all == unseen || all == one ? one : differs;
        }
        return all;
    });
    const std::vector<Point> shifts = all_gather_lists(communicator, shifts_);
    StaticPattern pattern;
    pattern.shape = shape_;
    pattern.constant = areas_of(same_, shape_);
    if (shifts.empty()) {
        pattern.of_matching = pattern.of_results = std::vector<float>(sum_.size());
        return pattern;
    }
    add_planes(communicator, sum_);
    add_planes(communicator, {reinterpret_cast<float*>(aligned_.data()), 2 * aligned_.size()});
    const float each = 1 / static_cast<float>(shifts.size());
    pattern.of_matching = sum_;
    for (float& value : pattern.of_matching)
        value *= each;
    Values mean = spectrum_of(pattern.of_matching, 0);
    std::vector<Values> columns, rows;
    for (const Point shift : shifts) {
        columns.push_back(factors_of_displacement(padded_.width, shift.x));
        rows.push_back(factors_of_displacement(padded_.height, shift.y));
    }
    // The two corrections are real images; they are transformed as the parts of a complex one.
    for (Elements y = 0; y < padded_.height; ++y) {
        for (Elements x = 0; x < padded_.width; ++x) {
            std::complex<float> a;
            for (std::size_t k = 0; k < shifts.size(); ++k)
                a += each * times(columns[k][static_cast<std::size_t>(x)],
                                  rows[k][static_cast<std::size_t>(y)]);
            constexpr float least = .03F, clear = .2F, smallest = 1e-3F;
            const auto i = static_cast<std::size_t>(y * padded_.width + x);
            const float determined = 1 - std::norm(a);
            const std::complex<float> moving = (each * aligned_[i] - times(std::conj(a), mean[i])) /
                                               std::max(determined, smallest);
            const std::complex<float> specimen =
                std::min(1.F, determined / least) * times(a, moving);
            const std::complex<float> unknown =
                (1 - std::min(1.F, determined / clear)) * (mean[i] - specimen);
            const std::complex<float> i_unknown(-unknown.imag(), unknown.real());
            aligned_[i] = specimen + i_unknown;
        }
    }
    backward_.transform(aligned_, scratch_);
    std::vector<float> of_specimen, unknown;
    const float scale = 1 / static_cast<float>(padded_.elements());
    for (Elements y = 0; y < reduced_.height; ++y) {
        for (Elements x = 0; x < reduced_.width; ++x) {
            const std::complex<float> both =
                aligned_[static_cast<std::size_t>(y * padded_.width + x)];
            of_specimen.push_back(scale * both.real());
            unknown.push_back(scale * both.imag());
        }
    }
    subtract_between_cells(of_specimen, reduced_, factor_, {0, shape_.height}, pattern.of_matching);
    subtract_mean(pattern.of_matching);
    pattern.of_results = pattern.of_matching;
    subtract_between_cells(unknown, reduced_, factor_, {0, shape_.height}, pattern.of_results);
    for (std::vector<float>* values : {&pattern.of_matching, &pattern.of_results}) {
        for (const Elements pixel : pattern.constant)
            (*values)[static_cast<std::size_t>(pixel)] = 0;
        subtract_mean(*values);
    }
    double squares = 0;
    for (const float value : pattern.of_results)
        squares += static_cast<double>(value) * static_cast<double>(value);
    pattern.deviation = std::sqrt(squares / static_cast<double>(pattern.of_results.size()));
    return pattern;
}

} // namespace sextant::registration
