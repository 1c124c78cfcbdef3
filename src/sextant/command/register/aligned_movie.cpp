// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/register/aligned_movie.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sextant::command {

namespace {

constexpr std::int64_t most_pictures = 100, least_pictures = 10;
constexpr double most_pixels = 1 << 22; // of all pictures; bounds the size of a page
constexpr double most_side = 512;

std::int64_t frames_per_picture_of(std::int64_t frames, double noise) {
    const std::int64_t at_most = std::max<std::int64_t>(1, frames / least_pictures);
    const double quiet = std::ceil(std::clamp(noise, 1., static_cast<double>(at_most)));
    return std::max(static_cast<std::int64_t>(quiet), (frames + most_pictures - 1) / most_pictures);
}

Elements side_of(ImageShape frame, std::int64_t pictures) {
    const auto longer = static_cast<double>(std::max(frame.width, frame.height)),
               shorter = static_cast<double>(std::min(frame.width, frame.height));
    const double side = std::sqrt(most_pixels / static_cast<double>(pictures) * longer / shorter);
    return std::max<Elements>(1, static_cast<Elements>(std::min(side, most_side)));
}

} // namespace

AlignedMovie::AlignedMovie(ImageShape frame, std::int64_t frames, double noise)
    : frame_(frame),
      frames_(frames),
      per_picture_(frames_per_picture_of(frames, noise)),
      side_(side_of(frame, (frames + per_picture_ - 1) / per_picture_)),
      next_(frame, side_) {}

void AlignedMovie::add(std::span<const float> rows) {
    next_.add(row_, rows);
    row_ += static_cast<Elements>(rows.size()) / frame_.width;
    if (row_ < frame_.height)
        return;
    row_ = 0;
    if (++added_ % per_picture_ != 0 && added_ != frames_)
        return;
    const std::vector<double> means = next_.means();
    pictures_.emplace_back(means.begin(), means.end());
    next_ = Overview(frame_, side_);
}

format::Animation AlignedMovie::finish() const {
    constexpr std::size_t most_values = 1 << 20;
    const std::size_t size = pictures_.front().size();
    const std::size_t step = size * pictures_.size() / most_values + 1;
    std::vector<double> values;
    for (std::size_t i = 0; i < size * pictures_.size(); i += step)
        values.push_back(static_cast<double>(pictures_[i / size][i % size]));
    const Interval grey = grey_range(std::move(values));
    format::Animation animation{next_.shape(), 100, {}};
    for (const std::vector<float>& picture : pictures_) {
        std::vector<std::uint8_t>& levels = animation.pictures.emplace_back();
        for (const float value : picture)
            levels.push_back(static_cast<std::uint8_t>(std::lround(
                grey_pixel(static_cast<double>(value), grey).r * (format::Animation::levels - 1))));
    }
    return animation;
}

} // namespace sextant::command
