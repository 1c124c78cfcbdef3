// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/combined.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/spectra.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr std::size_t most_by_network = 64;

float mean_of(float one, float other) {
    return static_cast<float>((static_cast<double>(one) + static_cast<double>(other)) / 2);
}

/// Replaces −0 by 0. Both zeros compare equal, so the sign of a median of 0 would depend on the
/// algorithm.
float without_sign_of_zero(float value) {
    return value + 0.F;
}

} // namespace

float middle_of(std::span<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return without_sign_of_zero(*middle);
    return without_sign_of_zero(mean_of(*std::max_element(values.begin(), middle), *middle));
}

/// Returns the exchanges of a sorting network, without those that do not affect the middle values.
PixelMedians::Network PixelMedians::network_of(std::size_t count) {
    Network all;
    const std::size_t highest = std::bit_ceil(count) / 2;
    for (std::size_t p = highest; p > 0; p /= 2) {
        for (std::size_t q = highest, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (std::size_t i = 0; i + d < count; ++i) {
                if ((i & p) == r)
                    all.push_back({i, i + d});
            }
            if (q == p)
                break;
        }
    }
    // Traverse the network backwards and keep an exchange if one of its outputs is needed later.
    std::vector<bool> needed(count);
    needed[(count - 1) / 2] = needed[count / 2] = true;
    Network backwards;
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        if (!needed[at->low] && !needed[at->high])
            continue;
        needed[at->low] = needed[at->high] = true;
        backwards.push_back(*at);
    }
    return {backwards.rbegin(), backwards.rend()};
}

void PixelMedians::find(const float* values, std::size_t count, std::size_t stride,
                        float* medians) {
    held_.resize(std::max(held_.size(), count * pixels));
    if (count > most_by_network) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < pixels; ++k)
                held_[k * count + i] = values[i * stride + k];
        }
        for (std::size_t k = 0; k < pixels; ++k)
            medians[k] = middle_of(std::span(held_).subspan(k * count, count));
        return;
    }
    networks_.resize(std::max(networks_.size(), count + 1));
    if (networks_[count].empty())
        networks_[count] = network_of(count);
    for (std::size_t i = 0; i < count; ++i)
        std::copy_n(values + i * stride, pixels, held_.data() + i * pixels);
    kernel::apply_network(networks_[count], held_.data());
    const float* const below = held_.data() + (count - 1) / 2 * pixels;
    const float* const above = held_.data() + count / 2 * pixels;
    for (std::size_t k = 0; k < pixels; ++k)
        medians[k] = without_sign_of_zero(count % 2 == 1 ? above[k] : mean_of(below[k], above[k]));
}

namespace {

/// Accumulates the rows of one pass. Adjacent pixels that are covered by the same number of frames,
/// as nearly all are, are processed together, which is much faster. The object is reused for all
/// passes.
class Band {
  public:
    /// `most`: the maximum number of rows per pass. `middle`: the area of Combined::halves; empty
    /// without halves.
    Band(Elements width, Elements most, const PixelArea& middle, std::size_t frames,
         const CombineOptions& options, Team* team)
        : width_(width), middle_(middle), team_(team) {
        const auto size = static_cast<std::size_t>(most * width);
        const auto second_size = static_cast<std::size_t>(std::min(most, middle.shape.height)) *
                                 static_cast<std::size_t>(width);
        shown_ = make_room<float>(size);
        sums_ = make_room<double>(size);
        weights_ = make_room<double>(options.contributions.empty() ? 0 : size);
        counts_ = make_room<std::uint32_t>(size);
        second_sums_ = make_room<double>(second_size);
        second_weights_ = make_room<double>(second_size);
        values_ = make_room<float>(options.median ? size * frames : 0);
    }

    /// Starts a pass over the given rows of the area.
    void begin(Rows rows) {
        rows_ = rows;
        pixels_ = static_cast<std::size_t>(rows.count() * width_);
        of_halves_ = {std::clamp(middle_.y, rows.first, rows.last),
                      std::clamp(middle_.y + middle_.shape.height, rows.first, rows.last)};
        std::ranges::fill(in_halves(second_sums_), 0);
        std::ranges::fill(in_halves(second_weights_), 0);
        for_each_block([&](std::size_t first, std::size_t last) {
            const auto clear = [&](auto numbers) {
                if (!numbers.empty())
                    std::ranges::fill(numbers.subspan(first, last - first), 0);
            };
            clear(sums_);
            clear(weights_);
            clear(counts_);
        });
    }

    /// Returns the buffer for the resampled rows of one frame; add() accumulates them.
    std::span<float> shown() { return shown_.first(pixels_); }

    /// `in_second`: true if the frame belongs to the second half.
    void add(bool in_second) {
        for_each_block([&](std::size_t first, std::size_t last) {
            if (in_second)
                add_to_second(first, last, {});
            accumulate(first, last, [&](std::size_t pixel) {
                sums_[pixel] += static_cast<double>(shown_[pixel]);
            });
        });
    }

    void add(const Contribution& contribution, bool in_second) {
        for_each_block([&](std::size_t first, std::size_t last) {
            if (in_second)
                add_to_second(first, last, contribution);
            accumulate(first, last, [&](std::size_t pixel) {
                const double value =
                    contribution.gain * static_cast<double>(shown_[pixel]) + contribution.offset;
                sums_[pixel] += contribution.weight * value;
                weights_[pixel] += contribution.weight;
                shown_[pixel] = static_cast<float>(value);
            });
        });
    }

    /// Stores the results of the pass in `combined`. The first row of `combined` is row `first_row`
    /// of the area.
    void finish(Combined& combined, Elements first_row) {
        const auto before = static_cast<std::size_t>((rows_.first - first_row) * width_);
        for_each_block([&](std::size_t first, std::size_t last) {
            for (std::size_t pixel = first; pixel < last; ++pixel) {
                const std::size_t count = counts_[pixel];
                if (!combined.count.empty())
                    combined.count[before + pixel] = static_cast<float>(count);
                if (!weights_.empty())
                    combined.weight[before + pixel] = static_cast<float>(weights_[pixel]);
                const double weight =
                    weights_.empty() ? static_cast<double>(count) : weights_[pixel];
                if (count > 0 && weight > 0)
                    combined.mean[before + pixel] = static_cast<float>(sums_[pixel] / weight);
            }
            if (!values_.empty())
                find_medians(first, last, std::span(combined.median).subspan(before));
        });
        const Elements first_of_halves = std::max(middle_.y, first_row);
        run_parts(team_, static_cast<int>(of_halves_.count()), [&](int row, int) {
            const Elements side = middle_.shape.width, y = of_halves_.first + row;
            auto second = static_cast<std::size_t>(row * width_ + middle_.x);
            auto pixel = static_cast<std::size_t>((y - rows_.first) * width_ + middle_.x);
            auto to = static_cast<std::size_t>((y - first_of_halves) * side);
            for (Elements x = 0; x < side; ++x, ++second, ++pixel, ++to) {
                const double sum = second_sums_[second], weight = second_weights_[second];
                const double all =
                    weights_.empty() ? static_cast<double>(counts_[pixel]) : weights_[pixel];
                combined.halves[0][to] =
                    static_cast<float>((sums_[pixel] - sum) / (all - weight)); // 0 / 0 is NaN
                combined.halves[1][to] = static_cast<float>(sum / weight);
            }
        });
    }

  private:
    static constexpr std::size_t at_a_time = 4096;

    template <class Number>
    std::span<Number> make_room(std::size_t size) {
        Memory& memory = memory_.emplace_back(static_cast<Bytes>(size * sizeof(Number)));
        return {reinterpret_cast<Number*>(memory.data()), size};
    }

    /// Accumulates the finite samples among the shown pixels [first, last). `sum` adds one pixel.
    template <class Sum>
    void accumulate(std::size_t first, std::size_t last, const Sum& sum) {
        constexpr std::size_t run = 64;
        for (; first < last; first += run)
            accumulate_run(first, std::min(first + run, last), sum);
    }

    template <class Sum>
    void accumulate_run(std::size_t first, std::size_t last, const Sum& sum) {
        if (!all_finite(shown_.subspan(first, last - first)) || !have_one_count(first, last)) {
            for (std::size_t pixel = first; pixel < last; ++pixel) {
                if (!std::isfinite(shown_[pixel]))
                    continue;
                sum(pixel);
                if (!values_.empty())
                    value(counts_[pixel], pixel) = shown_[pixel];
                ++counts_[pixel];
            }
            return;
        }
        for (std::size_t pixel = first; pixel < last; ++pixel)
            sum(pixel);
        if (!values_.empty())
            std::copy(shown_.data() + first, shown_.data() + last, &value(counts_[first], first));
        for (std::size_t pixel = first; pixel < last; ++pixel)
            ++counts_[pixel];
    }

    /// Returns the part of a buffer that belongs to this pass's rows of the halves.
    std::span<double> in_halves(std::span<double> numbers) const {
        return numbers.first(static_cast<std::size_t>(of_halves_.count() * width_));
    }

    /// Adds the shown pixels [first, last) that are in rows of the halves.
    void add_to_second(std::size_t first, std::size_t last, const Contribution& contribution) {
        const auto before = static_cast<std::size_t>((of_halves_.first - rows_.first) * width_);
        const auto end = static_cast<std::size_t>((of_halves_.last - rows_.first) * width_);
        last = std::min(last, end);
        for (std::size_t pixel = std::max(first, before); pixel < last; ++pixel) {
            const double value =
                contribution.gain * static_cast<double>(shown_[pixel]) + contribution.offset;
            const bool finite = std::isfinite(value);
            second_sums_[pixel - before] += finite ? contribution.weight * value : 0;
            second_weights_[pixel - before] += finite ? contribution.weight : 0;
        }
    }

    bool have_one_count(std::size_t first, std::size_t last) const {
        std::uint32_t differ = 0;
        for (std::size_t pixel = first; pixel < last; ++pixel)
            differ |= counts_[pixel] ^ counts_[first];
        return differ == 0;
    }

    void find_medians(std::size_t first, std::size_t last, std::span<float> medians) {
        constexpr std::size_t group = PixelMedians::pixels;
        PixelMedians of_group;
        std::vector<float> of_pixel;
        for (std::size_t pixel = first; pixel < last; pixel += group) {
            const std::size_t end = std::min(pixel + group, last);
            if (end == pixel + group && counts_[pixel] > 0 && have_one_count(pixel, end)) {
                of_group.find(&value(0, pixel), counts_[pixel], pixels_, &medians[pixel]);
                continue;
            }
            for (std::size_t one = pixel; one < end; ++one) {
                of_pixel.resize(counts_[one]);
                for (std::size_t i = 0; i < of_pixel.size(); ++i)
                    of_pixel[i] = value(i, one);
                if (!of_pixel.empty())
                    medians[one] = middle_of(of_pixel);
            }
        }
    }

    /// Returns the i-th finite sample of a pixel.
    float& value(std::size_t i, std::size_t pixel) { return values_[i * pixels_ + pixel]; }

    /// Calls body(first pixel, end pixel) for each block of pixels, in parallel.
    template <class Body>
    void for_each_block(const Body& body) {
        const auto blocks = static_cast<int>((pixels_ + at_a_time - 1) / at_a_time);
        run_parts(team_, blocks, [&](int block, int) {
            const std::size_t first = static_cast<std::size_t>(block) * at_a_time;
            body(first, std::min(pixels_, first + at_a_time));
        });
    }

    Elements width_;             ///< width of the area
    PixelArea middle_;           ///< area of the halves
    std::vector<Memory> memory_; ///< memory of the buffers below
    Rows rows_, of_halves_;      ///< rows of the pass; those of them that are in the halves
    std::size_t pixels_ = 0;     ///< number of pixels of the pass
    std::span<float> shown_;
    std::span<double> sums_, weights_; ///< weights_: empty if all weights are equal
    std::span<std::uint32_t> counts_;
    /// Sums of the second half, in rows of_halves_.
    std::span<double> second_sums_, second_weights_;
    std::span<float> values_; ///< [i][pixel]: the i-th finite sample of a pixel
    Team* team_;
};

/// Returns the memory that a band needs per pixel.
Bytes bytes_of_pixel(std::int64_t frames, const CombineOptions& options) {
    const Bytes sums = sizeof(float) + sizeof(double) + sizeof(std::uint32_t);
    const Bytes weights = options.contributions.empty() ? 0 : sizeof(double);
    const Bytes halves = options.halves ? 2 * sizeof(double) : 0;
    return sums + weights + halves +
           (options.median ? frames * static_cast<Bytes>(sizeof(float)) : 0);
}

/// Returns the number of `rows` that are in `area`.
Elements rows_within(const PixelArea& area, Rows rows) {
    return std::max<Elements>(0, std::min(area.y + area.shape.height, rows.last) -
                                     std::max(area.y, rows.first));
}

/// Combines some rows of an area.
Combined combine_rows(FrameSource& source, std::span<const std::int64_t> frames,
                      const TransformOf& transform_of, const PixelArea& area, Rows rows,
                      const CombineOptions& options, const RunControl& control) {
    const std::int64_t width = area.shape.width;
    const auto count = static_cast<std::int64_t>(frames.size());
    const std::int64_t step =
        std::max<std::int64_t>(1, options.memory / (bytes_of_pixel(count, options) * width));
    Team team(options.threads);
    Resampler resampler(source, &team);
    Combined combined;
    const auto pixels = static_cast<std::size_t>(rows.count() * width);
    resize_buffer(combined.mean, pixels);
    resize_buffer(combined.count, options.count ? pixels : 0);
    resize_buffer(combined.median, options.median ? pixels : 0);
    resize_buffer(combined.weight, options.contributions.empty() ? 0 : pixels);
    const PixelArea middle = options.halves ? ring_area(area.shape) : PixelArea();
    for (std::vector<float>& half : combined.halves)
        resize_buffer(half,
                      static_cast<std::size_t>(rows_within(middle, rows) * middle.shape.width));
    Band band(width, std::min(step, rows.count()), middle, frames.size(), options, &team);
    const std::int64_t passes = (rows.count() + step - 1) / step;
    std::int64_t done = 0;
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        band.begin(some);
        for (std::size_t index = 0; index < frames.size(); ++index) {
            const std::int64_t frame = frames[index];
            control.report(options.median ? "average and median" : "average", done++,
                           passes * count);
            control.check();
            if (!resampler.resample(frame, transform_of(frame),
                                    {area.x, area.y + some.first, {width, some.count()}},
                                    band.shown()))
                continue;
            const bool in_second = options.halves && index % 2 == 1;
            if (options.contributions.empty())
                band.add(in_second);
            else
                band.add(options.contributions[index], in_second);
        }
        band.finish(combined, rows.first);
    }
    return combined;
}

} // namespace

Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options) {
    return bytes_of_pixel(frames, options) * width;
}

Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options, const RunControl& control) {
    const PixelArea area = options.area.value_or(area_of(source.header().shape));
    Combined local;
    agree(communicator, [&] {
        if (!options.contributions.empty() && options.contributions.size() != frames.size())
            throw std::logic_error("the number of contributions differs from that of the frames");
        const Bytes least =
            least_memory(static_cast<std::int64_t>(frames.size()), area.shape.width, options);
        if (options.memory < least)
            throw InvalidTask(fmt::format(
                "{} bytes of memory are too few for a row of {} frames, expected {} or more",
                options.memory, frames.size(), least));
        const Block block = block_of(communicator.rank(), communicator.size(), area.shape.height);
        RunControl own = control;
        if (communicator.rank() != 0)
            own.progress = {};
        local = combine_rows(source, frames, transform_of, area, {block.first, block.last}, options,
                             own);
    });
    const auto all = [&](std::vector<float>& values) {
        if (communicator.size() == 1)
            return std::move(values);
        // Freed before the next vector is gathered.
        const std::vector<float> own = std::move(values);
        return all_gather_lists(communicator, std::span<const float>(own));
    };
    return {all(local.mean),
            all(local.median),
            all(local.count),
            all(local.weight),
            {all(local.halves[0]), all(local.halves[1])}};
}

} // namespace sextant::registration
