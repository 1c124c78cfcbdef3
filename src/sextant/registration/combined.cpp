// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/combined.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/share.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The middle of some values, of an even number between the two in the middle. Changes their order.
float middle_of(std::span<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    const float below = *std::max_element(values.begin(), middle);
    return static_cast<float>((static_cast<double>(below) + static_cast<double>(*middle)) / 2);
}

/// Rows of all frames that are combined at a time.
class Band {
  public:
    Band(Elements pixels, std::size_t frames, bool median, Team* team)
        : shown_(static_cast<std::size_t>(pixels)),
          sums_(shown_.size()),
          counts_(shown_.size()),
          values_(median ? shown_.size() * frames : 0),
          frames_(frames),
          team_(team) {}

    /// For a frame's rows.
    std::span<float> shown() { return shown_; }

    void add() {
        for_each_pixel([&](std::size_t pixel) {
            if (!std::isfinite(shown_[pixel]))
                return;
            sums_[pixel] += static_cast<double>(shown_[pixel]);
            if (!values_.empty())
                values_[pixel * frames_ + counts_[pixel]] = shown_[pixel];
            ++counts_[pixel];
        });
    }

    /// At the end of what there is of these.
    void finish(Combined& combined) {
        const std::size_t before = combined.mean.size();
        combined.mean.resize(before + shown_.size());
        combined.count.resize(before + shown_.size());
        if (!values_.empty())
            combined.median.resize(before + shown_.size());
        for_each_pixel([&](std::size_t pixel) {
            const std::size_t count = counts_[pixel];
            combined.count[before + pixel] = static_cast<float>(count);
            if (count == 0)
                return; // 0
            combined.mean[before + pixel] =
                static_cast<float>(sums_[pixel] / static_cast<double>(count));
            if (!values_.empty())
                combined.median[before + pixel] =
                    middle_of(std::span(values_).subspan(pixel * frames_, count));
        });
    }

  private:
    template <class Body>
    void for_each_pixel(const Body& body) {
        constexpr std::size_t at_a_time = 4096;
        const auto parts = static_cast<int>((shown_.size() + at_a_time - 1) / at_a_time);
        run_parts(team_, parts, [&](int part, int) {
            const std::size_t first = static_cast<std::size_t>(part) * at_a_time;
            for (std::size_t pixel = first; pixel < std::min(shown_.size(), first + at_a_time);
                 ++pixel)
                body(pixel);
        });
    }

    std::vector<float> shown_;
    std::vector<double> sums_;
    std::vector<std::uint32_t> counts_;
    std::vector<float> values_; ///< of each pixel those of all frames that show it
    std::size_t frames_;
    Team* team_;
};

/// Of a pixel of a band.
Bytes bytes_of_pixel(std::int64_t frames, bool median) {
    const Bytes sums = sizeof(float) + sizeof(double) + sizeof(std::uint32_t);
    return sums + (median ? frames * static_cast<Bytes>(sizeof(float)) : 0);
}

Combined combine_rows(FrameSource& source, std::span<const std::int64_t> frames,
                      const TransformOf& transform_of, Rows rows, const CombineOptions& options) {
    const std::int64_t width = source.header().shape.width;
    const auto count = static_cast<std::int64_t>(frames.size());
    const std::int64_t step =
        std::max<std::int64_t>(1, options.memory / (bytes_of_pixel(count, options.median) * width));
    Team team(options.threads);
    Resampler resampler(source, &team);
    Combined combined;
    const auto pixels = static_cast<std::size_t>(rows.count() * width);
    combined.mean.reserve(pixels);
    combined.count.reserve(pixels);
    combined.median.reserve(options.median ? pixels : 0);
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        Band band(some.count() * width, frames.size(), options.median, &team);
        for (const std::int64_t frame : frames) {
            resampler.show(frame, transform_of(frame), some, band.shown());
            band.add();
        }
        band.finish(combined);
    }
    return combined;
}

} // namespace

Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options) {
    return bytes_of_pixel(frames, options.median) * width;
}

Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options) {
    const ImageShape shape = source.header().shape;
    Combined mine;
    agree(communicator, [&] {
        const Bytes least =
            least_memory(static_cast<std::int64_t>(frames.size()), shape.width, options);
        if (options.memory < least)
            throw InvalidTask(fmt::format("{} bytes of memory for a row of {} frames, expected {}",
                                          options.memory, frames.size(), least));
        const Share share = share_of(communicator.rank(), communicator.size(), shape.height);
        mine = combine_rows(source, frames, transform_of, {share.first, share.last}, options);
    });
    const auto all = [&](std::vector<float>& values) {
        const std::vector<float> own = std::move(values); // is not needed beside the next
        return all_gather_lists(communicator, std::span<const float>(own));
    };
    return {all(mine.mean), all(mine.median), all(mine.count)};
}

} // namespace sextant::registration
