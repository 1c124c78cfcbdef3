// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/zarr/halving.hpp"

#include "sextant/core/element.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace sextant::format {

namespace {

template <class T>
class NearestHalving final : public Halving {
  public:
    NearestHalving(ImageShape shape, bool slices)
        : width_(shape.width), slices_(slices), row_(static_cast<std::size_t>((width_ + 1) / 2)) {}

    void add(std::int64_t frame, Rows rows, std::span<const std::byte> samples,
             const TakeRows& take) override {
        if (slices_ && frame % 2 == 1)
            return;
        const std::int64_t to = slices_ ? frame / 2 : frame;
        for (std::int64_t y = rows.first + rows.first % 2; y < rows.last; y += 2) {
            const std::byte* const from =
                samples.data() + (y - rows.first) * width_ * static_cast<Bytes>(sizeof(T));
            for (std::size_t x = 0; x < row_.size(); ++x)
                std::memcpy(&row_[x], from + 2 * x * sizeof(T), sizeof(T));
            take(to, {y / 2, y / 2 + 1}, std::as_bytes(std::span(row_)));
        }
    }

  private:
    std::int64_t width_;
    bool slices_;
    std::vector<T> row_;
};

/// Returns the mean of 1, 2, 4 or 8 samples.
template <class T>
T mean_of(const T* samples, int count) {
    if constexpr (std::is_integral_v<T>) {
        const int shift = count == 1 ? 0 : count == 2 ? 1 : count == 4 ? 2 : 3;
        // Quotients and remainders are summed separately, because the sum of 64-bit integers could
        // overflow.
        std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t> quotients = 0;
        unsigned rest = static_cast<unsigned>(count) / 2;
        for (int i = 0; i < count; ++i) {
            quotients += samples[i] >> shift;
            rest += static_cast<unsigned>(samples[i] & static_cast<T>(count - 1));
        }
        return static_cast<T>(quotients + (rest >> shift));
    } else {
        double sum = 0;
        int found = 0;
        for (int i = 0; i < count; ++i) {
            double value = 0;
            if constexpr (std::is_same_v<T, Half>)
                value = static_cast<double>(to_float(samples[i]));
            else
                value = static_cast<double>(samples[i]);
            if (std::isnan(value))
                continue;
            sum += value;
            ++found;
        }
        const double mean = found > 0 ? sum / found : std::numeric_limits<double>::quiet_NaN();
        if constexpr (std::is_same_v<T, Half>)
            return to_half(static_cast<float>(mean));
        else
            return static_cast<T>(mean);
    }
}

template <class T>
class MeanHalving final : public Halving {
  public:
    MeanHalving(std::int64_t frames, ImageShape shape, bool slices)
        : frames_(frames),
          shape_(shape),
          slices_(slices),
          plane_(slices ? at(shape.elements()) : 0),
          rows_(at(2 * shape.width)),
          halved_(at((shape.width + 1) / 2)) {}

    void add(std::int64_t frame, Rows rows, std::span<const std::byte> samples,
             const TakeRows& take) override {
        const std::size_t row = at(shape_.width) * sizeof(T);
        const bool first_of_two = slices_ && frame % 2 == 0 && frame + 1 < frames_;
        for (std::int64_t y = rows.first; y < rows.last; ++y) {
            const std::byte* const from = samples.data() + at(y - rows.first) * row;
            if (first_of_two) {
                std::memcpy(plane_.data() + y * shape_.width, from, row);
                continue;
            }
            std::memcpy(rows_.data() + y % 2 * shape_.width, from, row);
            if (y % 2 == 0 && y + 1 < shape_.height)
                continue;
            halve(y, slices_ && frame % 2 == 1);
            take(slices_ ? frame / 2 : frame, {y / 2, y / 2 + 1},
                 std::as_bytes(std::span(halved_)));
        }
    }

  private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    /// Halves the pair of rows that ends with row y (or row y alone if y is even). If `both`,
    /// averages with the same rows of the previous frame.
    void halve(std::int64_t y, bool both) {
        const std::int64_t width = shape_.width;
        std::array<const T*, 4> rows{};
        int count = 0;
        for (std::int64_t k = y - y % 2; both && k <= y; ++k)
            rows[at(count++)] = plane_.data() + k * width;
        for (std::int64_t k = 0; k <= y % 2; ++k)
            rows[at(count++)] = rows_.data() + k * width;
        std::array<T, 8> samples{};
        for (std::int64_t x = 0; x < width; x += 2) {
            int found = 0;
            for (int i = 0; i < count; ++i) {
                samples[at(found++)] = rows[at(i)][x];
                if (x + 1 < width)
                    samples[at(found++)] = rows[at(i)][x + 1];
            }
            halved_[at(x / 2)] = mean_of(samples.data(), found);
        }
    }

    std::int64_t frames_;
    ImageShape shape_;
    bool slices_;
    std::vector<T> plane_;  // the previous frame
    std::vector<T> rows_;   // two rows of the current frame
    std::vector<T> halved_; // one row of the result
};

} // namespace

std::unique_ptr<Halving> make_halving(HalvedBy by, Sample sample, std::int64_t frames,
                                      ImageShape shape, bool slices) {
    return visit_sample(sample, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Halving> {
        if (by == HalvedBy::nearest)
            return std::make_unique<NearestHalving<T>>(shape, slices);
        return std::make_unique<MeanHalving<T>>(frames, shape, slices);
    });
}

} // namespace sextant::format
