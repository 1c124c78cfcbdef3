// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/pair_reader.hpp"

#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Number of independent partial results, so that loops can be vectorised.
constexpr std::size_t partial_sums = 8;

struct Range {
    float least, largest;
};

/// Returns the range of the samples. Requires at least one sample, all finite.
Range range_of(std::span<const float> samples) {
    std::array<float, partial_sums> least, largest;
    least.fill(samples.front());
    largest.fill(samples.front());
    const std::size_t whole = samples.size() / partial_sums * partial_sums;
    for (std::size_t i = 0; i < whole; i += partial_sums) {
        for (std::size_t lane = 0; lane < partial_sums; ++lane) {
            const float sample = samples[i + lane];
            least[lane] = sample < least[lane] ? sample : least[lane];
            largest[lane] = sample > largest[lane] ? sample : largest[lane];
        }
    }
    for (const float sample : samples.subspan(whole)) {
        least[0] = std::min(least[0], sample);
        largest[0] = std::max(largest[0], sample);
    }
    return {std::ranges::min(least), std::ranges::max(largest)};
}

double sum_of(std::span<const float> samples) {
    std::array<double, partial_sums> sums{};
    const std::size_t whole = samples.size() / partial_sums * partial_sums;
    for (std::size_t i = 0; i < whole; i += partial_sums) {
        for (std::size_t lane = 0; lane < partial_sums; ++lane)
            sums[lane] += static_cast<double>(samples[i + lane]);
    }
    for (const float sample : samples.subspan(whole))
        sums[0] += static_cast<double>(sample);
    return std::accumulate(sums.begin(), sums.end(), 0.);
}

double share(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

FrameStatistics statistics_of(std::span<const float> samples) {
    FrameStatistics statistics;
    statistics.samples = static_cast<std::int64_t>(samples.size());
    float least = std::numeric_limits<float>::infinity(), largest = -least;
    double sum = 0;
    constexpr std::size_t at_a_time = 4096;
    for (std::size_t first = 0; first < samples.size(); first += at_a_time) {
        const auto some = samples.subspan(first, std::min(at_a_time, samples.size() - first));
        if (all_finite(some)) {
            const Range range = range_of(some);
            sum += sum_of(some);
            least = std::min(least, range.least);
            largest = std::max(largest, range.largest);
            continue;
        }
        for (const float sample : some) {
            if (!std::isfinite(sample)) {
                ++statistics.gaps;
                continue;
            }
            sum += static_cast<double>(sample);
            least = std::min(least, sample);
            largest = std::max(largest, sample);
        }
    }
    if (statistics.gaps < statistics.samples) {
        statistics.mean = sum / static_cast<double>(statistics.samples - statistics.gaps);
        statistics.least = static_cast<double>(least);
        statistics.largest = static_cast<double>(largest);
        statistics.at_largest = std::count(samples.begin(), samples.end(), largest);
    }
    return statistics;
}

bool same_samples(const FrameStatistics& a, const FrameStatistics& b) {
    const auto values = [](const FrameStatistics& frame) {
        return std::tuple(frame.mean, frame.least, frame.largest, frame.at_largest, frame.gaps,
                          frame.deviation, frame.shading);
    };
    return values(a) == values(b);
}

double usual_mean(std::span<const FrameStatistics> frames) {
    std::vector<double> means, least;
    for (const FrameStatistics& frame : frames) {
        if (frame.gaps == frame.samples)
            continue;
        means.push_back(frame.mean);
        least.push_back(frame.least);
    }
    return !means.empty() && median(least) > -median(means) ? median(means) : 0;
}

std::string fault_of(const FrameStatistics& frame, double usual_mean, const FrameLimits& limits) {
    if (share(frame.gaps, frame.samples) > limits.most_gaps)
        return fmt::format("{} of {} samples are gaps", frame.gaps, frame.samples);
    if (frame.least == frame.largest)
        return fmt::format("every sample is {:g}", frame.least);
    if (usual_mean > 0 && frame.mean < limits.least_brightness * usual_mean)
        return fmt::format("the mean is {:.4g}, but {:.4g} in the other frames", frame.mean,
                           usual_mean);
    return "";
}

std::shared_ptr<const ReadFrame> FrameCache::find(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(frames_, number, &ReadFrame::number);
    if (found == frames_.end())
        return nullptr;
    (*found)->used = ++uses_;
    return *found;
}

std::shared_ptr<ReadFrame> FrameCache::make_room() {
    const std::lock_guard lock(mutex_);
    if (frames_.size() < most_)
        return nullptr;
    const auto oldest = std::ranges::min_element(frames_, {}, &ReadFrame::used);
    std::shared_ptr<ReadFrame> frame = std::move(*oldest);
    frames_.erase(oldest);
    return frame;
}

void FrameCache::add(std::shared_ptr<ReadFrame> frame) {
    const std::lock_guard lock(mutex_);
    frame->used = ++uses_;
    frames_.push_back(std::move(frame));
}

void FrameCache::clear() {
    const std::lock_guard lock(mutex_);
    frames_.clear();
}

std::shared_ptr<FrameCache> cache_for(ImageShape shape, int farthest, int threads, int finest,
                                      Bytes memory) {
    constexpr double of_levels = 4. / 3;
    const auto frame = static_cast<Bytes>(
        std::ldexp(of_levels * sizeof(float) * static_cast<double>(shape.elements()), -2 * finest));
    const auto most = std::max<Bytes>(farthest + threads, memory / frame);
    return std::make_shared<FrameCache>(static_cast<std::size_t>(most), finest);
}

PairReader::PairReader(FrameSource& source, const RigidOptions& options, double prefilter,
                       std::shared_ptr<FrameCache> cache, Team* team, double offset)
    : source_(source),
      prefilter_(prefilter),
      offset_(offset),
      team_(team),
      cache_(std::move(cache)),
      registration_(source.header().shape, 0, options, team, cache_->finest()) {}

FrameStatistics PairReader::read_samples(std::int64_t frame) {
    const auto pixels = static_cast<std::size_t>(source_.header().shape.elements());
    if (room_.empty())
        resize_buffer(own_samples_, pixels);
    samples_ = room_.empty() ? std::span(own_samples_) : room_.first(pixels);
    source_.read_frame(frame, samples_);
    FrameStatistics statistics = statistics_of(samples_);
    if (statistics.gaps == statistics.samples)
        throw UnusableFrame(
            fmt::format("none of the {} samples is a finite number", statistics.samples));
    if (statistics.least == statistics.largest)
        throw UnusableFrame(fmt::format("every sample is {:g}", statistics.least + offset_));
    for (double* value : {&statistics.mean, &statistics.least, &statistics.largest})
        *value += offset_;
    // 64-bit integers may differ by less than the resolution of doubles at the offset. A frame that
    // is not constant must keep a nonempty range.
    if (statistics.least == statistics.largest)
        statistics.largest = std::nextafter(statistics.least, HUGE_VAL);
    return statistics;
}

std::shared_ptr<const ReadFrame> PairReader::read(std::int64_t frame) {
    if (auto found = cache_->find(frame))
        return found;
    // Fill the pyramid of an earlier frame that nothing uses any more, because the first use of new
    // memory takes longer than filling it.
    std::shared_ptr<ReadFrame> made = cache_->make_room();
    if (!made || made->reader != this || made.use_count() > 1)
        made = std::make_shared<ReadFrame>(Pyramid(source_.header().shape, 0, prefilter_, team_));
    const bool without_finest = cache_->finest() > 0;
    if (without_finest && finest_.shape() == made->pyramid.shape())
        made->pyramid.swap_finest(finest_);
    made->statistics = read_samples(frame);
    made->pyramid.fill(view_of(samples_, source_.header().shape));
    made->statistics.deviation = 1 / made->pyramid.scale();
    made->number = frame;
    made->reader = this;
    if (without_finest) {
        finest_ = {};
        made->pyramid.swap_finest(finest_);
    }
    cache_->add(made);
    return made;
}

FrameStatistics PairReader::statistics(std::int64_t frame) {
    const Pyramid& one = pyramid(frame);
    FrameStatistics statistics = last_->statistics;
    statistics.shading = shading_of(one);
    return statistics;
}

RigidResult PairReader::align(std::int64_t reference, std::int64_t moved) {
    const std::shared_ptr<const ReadFrame> r = read(reference);
    return registration_.align(r->pyramid, pyramid(moved), std::abs(moved - reference));
}

RigidResult PairReader::locate(std::int64_t reference, std::int64_t moved) {
    const std::shared_ptr<const ReadFrame> r = read(reference);
    return registration_.locate(r->pyramid, pyramid(moved), std::abs(moved - reference));
}

RigidResult PairReader::refine(std::int64_t reference, std::int64_t moved,
                               const RigidMotion& start) {
    const std::shared_ptr<const ReadFrame> r = read(reference);
    return refine(r->pyramid, moved, start);
}

RigidResult PairReader::refine(const Pyramid& reference, std::int64_t moved,
                               const RigidMotion& start) {
    return registration_.refine(reference, pyramid(moved), start);
}

RigidResult PairReader::align(const Pyramid& reference, std::int64_t moved) {
    return registration_.align(reference, pyramid(moved));
}

} // namespace sextant::registration
