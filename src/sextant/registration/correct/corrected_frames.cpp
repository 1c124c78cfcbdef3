// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/corrected_frames.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/core/equal_range.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/correct/planes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

FrameHeader as_grey_floats(FrameHeader header) {
    header.sample = Sample::f32;
    header.channels = 1;
    return header;
}

namespace {

/// The f32 samples in a buffer of FrameSource::read_samples().
std::span<float> floats_in(std::span<std::byte> buffer) {
    return {reinterpret_cast<float*>(buffer.data()), buffer.size() / sizeof(float)};
}

} // namespace

ChangedFrames::ChangedFrames(FrameSource& source, RowChange change)
    : FrameSource(source.path(), as_grey_floats(source.header()),
                  {[&source, change = std::move(change)](std::int64_t frame, Rows rows,
                                                         std::span<std::byte> to) {
                      const std::span<float> samples = floats_in(to);
                      source.read_rows(frame, rows, samples);
                      change(frame, rows, samples);
                  }}) {}

RowChange mirrored_at(std::vector<double> levels) {
    return [levels = std::move(levels)](std::int64_t frame, Rows, std::span<float> samples) {
        const double level = levels[static_cast<std::size_t>(frame)];
        if (std::isnan(level))
            return;
        for (float& sample : samples)
            sample = static_cast<float>(2 * level - static_cast<double>(sample));
    };
}

RowChange without_columns(std::int64_t columns, Elements width) {
    return [columns, width](std::int64_t, Rows rows, std::span<float> samples) {
        for (Elements row = 0; row < rows.count(); ++row)
            std::fill_n(samples.begin() + row * width, std::min(columns, width),
                        std::numeric_limits<float>::quiet_NaN());
    };
}

void set_gaps(std::span<const Elements> pixels, Rows rows, Elements width,
              std::span<float> samples) {
    const auto first = std::lower_bound(pixels.begin(), pixels.end(), rows.first * width);
    const auto last = std::lower_bound(first, pixels.end(), rows.last * width);
    for (auto pixel = first; pixel != last; ++pixel)
        samples[static_cast<std::size_t>(*pixel - rows.first * width)] =
            std::numeric_limits<float>::quiet_NaN();
}

namespace {

/// The minimum number of frames whose mean is searched for defective pixels. With fewer frames, the
/// mean shows no more than the individual frames do.
constexpr std::int64_t least_summed = 3;

/// Returns the least number of frames in which a pixel or line occurs often: half of the frames.
std::int64_t least_often(std::int64_t frames) {
    return std::max<std::int64_t>(2, (frames + 1) / 2);
}

bool is_gap(float sample) {
    return !(std::abs(sample) <= std::numeric_limits<float>::max());
}

void add_to_hash(std::uint64_t& hash, std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    hash ^= hash >> 29;
}

bool contains(const std::vector<Elements>& sorted, Elements value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

void sort_without_duplicates(std::vector<Elements>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Sets the samples of the rows that are in a band to NaN.
void set_gaps(const LineBand& band, Rows rows, Elements width, std::span<float> samples) {
    constexpr float gap = std::numeric_limits<float>::quiet_NaN();
    const Elements first = band.columns ? rows.first : std::max(rows.first, band.first);
    const Elements last = band.columns ? rows.last : std::min(rows.last, band.last);
    for (Elements y = first; y < last; ++y) {
        float* const row = samples.data() + (y - rows.first) * width;
        std::fill(row + (band.columns ? band.first : 0), row + (band.columns ? band.last : width),
                  gap);
    }
}

/// Returns the pixels that occur at least `least` times.
std::vector<Elements> frequent_pixels(std::vector<Elements> pixels, std::int64_t least) {
    std::sort(pixels.begin(), pixels.end());
    std::vector<Elements> frequent;
    for (auto first = pixels.begin(); first != pixels.end();) {
        const auto last = std::upper_bound(first, pixels.end(), *first);
        if (last - first >= least)
            frequent.push_back(*first);
        first = last;
    }
    return frequent;
}

} // namespace

std::vector<double> samples_of_image(FrameSource& image, const FrameSource& series,
                                     GainOrientation orientation) {
    const FrameHeader& header = image.header();
    ImageShape shape = series.header().shape;
    if (orientation.turns % 2 != 0)
        shape = {shape.height, shape.width};
    if (header.frames != 1)
        throw InvalidData(fmt::format("{} has {} frames, expected one image of {}x{} pixels",
                                      image.path(), header.frames, shape.width, shape.height));
    if (header.shape != shape)
        throw InvalidData(fmt::format(
            "{} has {}x{} pixels, expected {}x{} as in the frames of {}{}", image.path(),
            header.shape.width, header.shape.height, shape.width, shape.height, series.path(),
            orientation.turns % 2 != 0 ? ", rotated" : ""));
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    visit_sample(header.sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>) {
            if (header.channels == 1) {
                std::vector<T> samples(values.size());
                image.read_samples(0, {0, shape.height},
                                   std::as_writable_bytes(std::span(samples)));
                std::transform(samples.begin(), samples.end(), values.begin(),
                               [](T sample) { return static_cast<double>(sample); });
                return;
            }
        }
        std::vector<float> samples(values.size());
        image.read_frame(0, samples);
        std::copy(samples.begin(), samples.end(), values.begin());
    });
    return orientation == GainOrientation() ? values : oriented(values, shape, orientation);
}

CorrectedFrames::CorrectedFrames(std::unique_ptr<FrameSource> source, double offset,
                                 const DetectorImages& detector, const Despike& despike)
    : FrameSource(source->path(), as_grey_floats(source->header()),
                  {[this](auto... part) { load(part...); }}),
      source_(std::move(source)),
      offset_(offset),
      despike_(despike) {
    despike.check();
    if (!detector.empty())
        read_detector(detector);
    known_defects_ = std::ssize(defects_);
}

/// Reads a detector image, and adds it to the hash and its path to `names`.
std::vector<double> CorrectedFrames::image_of(const OpenImage& open, std::string& names,
                                              GainOrientation orientation) {
    const std::unique_ptr<FrameSource> source = open();
    names += (names.empty() ? "" : " and ") + source->path();
    std::vector<double> values = samples_of_image(*source, *this, orientation);
    add_to_hash(hash_, std::as_bytes(std::span(values)));
    return values;
}

void CorrectedFrames::read_detector(const DetectorImages& detector) {
    mark_defects(detector);
    if (!detector.dark && !detector.gain)
        return;
    const auto pixels = static_cast<std::size_t>(header().shape.elements());
    std::vector<double> dark, gain;
    std::string names;
    if (detector.dark)
        dark = image_of(detector.dark, names);
    add_to_hash(hash_, std::as_bytes(std::span("gain")));
    if (detector.gain)
        gain = image_of(detector.gain, names, detector.gain_orientation);
    double sum = 0;
    const auto is_usable = [&](std::size_t i) {
        return (dark.empty() || std::isfinite(dark[i])) &&
               (gain.empty() || (std::isfinite(gain[i]) && gain[i] > 0)) &&
               !contains(defects_, static_cast<Elements>(i));
    };
    std::vector<Elements> unusable;
    for (std::size_t i = 0; i < pixels; ++i) {
        if (is_usable(i))
            sum += gain.empty() ? 1 : gain[i];
        else
            unusable.push_back(static_cast<Elements>(i));
    }
    if (unusable.size() == pixels)
        throw InvalidData(fmt::format(
            "{}: no pixel can be used, expected a finite dark image and a positive finite gain",
            names));
    const double mean = sum / static_cast<double>(pixels - unusable.size());
    dark_.resize(pixels);
    factor_.resize(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
        // The source has subtracted the offset o. The corrected sample is (s + o − dark) / gain,
        // minus o if there is no dark image. A dark image already includes the offset.
        const double relative = gain.empty() ? 1 : gain[i] / mean;
        factor_[i] = static_cast<float>(1 / relative);
        dark_[i] = static_cast<float>(dark.empty() ? offset_ * (relative - 1) : dark[i] - offset_);
    }
    if (!dark.empty())
        offset_ = 0;
    defects_ = std::move(unusable);
}

void CorrectedFrames::mark_defects(const DetectorImages& detector) {
    const ImageShape shape = header().shape;
    if (detector.defects) {
        std::string name;
        const std::vector<double> image = image_of(detector.defects, name);
        for (std::size_t i = 0; i < image.size(); ++i) {
            if (image[i] != 0)
                defects_.push_back(static_cast<Elements>(i));
        }
    }
    for (const auto& [x, y] : detector.defective) {
        if (x < 0 || y < 0 || x >= shape.width || y >= shape.height)
            throw InvalidData(fmt::format("defective pixel ({}, {}): expected a column from 0 to "
                                          "{} and a row from 0 to {}, as "
                                          "the frames of {} have {}x{} pixels",
                                          x, y, shape.width - 1, shape.height - 1, path(),
                                          shape.width, shape.height));
        defects_.push_back(y * shape.width + x);
    }
    sort_without_duplicates(defects_);
    if (std::ssize(defects_) == shape.elements())
        throw InvalidData(fmt::format("{}: all {} pixels of the detector are listed as defective",
                                      path(), defects_.size()));
    add_to_hash(hash_, std::as_bytes(std::span(defects_)));
}

void CorrectedFrames::correct(Rows rows, std::span<float> samples) const {
    const Elements width = header().shape.width;
    if (!factor_.empty()) {
        const auto first = static_cast<std::size_t>(rows.first * width);
        const float* const dark = dark_.data() + first;
        const float* const factor = factor_.data() + first;
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] = (samples[i] - dark[i]) * factor[i];
    }
    set_gaps(defects_, rows, width, samples);
}

void CorrectedFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    if (settled_)
        return read_settled(frame, rows, floats_in(to));
    const ImageShape shape = header().shape;
    if (rows.count() == shape.height)
        return inspect(frame, floats_in(to));
    if (held_ != frame) {
        held_ = -1; // stays -1 if reading throws
        resize_buffer(samples_, static_cast<std::size_t>(shape.elements()));
        inspect(frame, samples_);
        held_ = frame;
    }
    std::memcpy(to.data(), samples_.data() + rows.first * shape.width, to.size());
}

void CorrectedFrames::read_settled(std::int64_t frame, Rows rows, std::span<float> to) {
    source_->read_rows(frame, rows, to);
    correct(rows, to);
    const auto at = static_cast<std::size_t>(frame);
    set_gaps(std::span(pixels_).subspan(first_[at], first_[at + 1] - first_[at]), rows,
             header().shape.width, to);
    for (const FrameBand& one : bands_of(frame))
        set_gaps(one.band, rows, header().shape.width, to);
}

/// Reads a frame and finds its outliers.
void CorrectedFrames::inspect(std::int64_t frame, std::span<float> samples) {
    const ImageShape shape = header().shape;
    source_->read_frame(frame, samples);
    Inspected seen;
    seen.gaps = std::count_if(samples.begin(), samples.end(), is_gap);
    correct({0, shape.height}, samples);
    if (despike_.enabled) {
        const Outliers found = find_outliers(samples, shape, despike_.threshold());
        seen.mean = found.mean;
        for (const Elements pixel : found.pixels)
            seen.pixels.push_back({pixel, samples[static_cast<std::size_t>(pixel)]});
        set_gaps(found.pixels, {0, shape.height}, shape.width, samples);
        seen.blank = find_blank_lines(samples, shape);
    }
    if (inspected_.contains(frame))
        return;
    if (despike_.enabled && header().frames >= least_summed) {
        resize_buffer(sum_, samples.size());
        const auto mean = static_cast<float>(seen.mean);
        std::transform(
            sum_.begin(), sum_.end(), samples.begin(), sum_.begin(),
            [mean](float sum, float sample) { return sum + (is_gap(sample) ? mean : sample); });
    }
    summarise(seen);
    inspected_.emplace(frame, std::move(seen));
}

void CorrectedFrames::summarise(Inspected& frame) const {
    frame.outliers = {};
    if (frame.pixels.empty())
        return;
    const auto [pixel, value] =
        *std::ranges::max_element(frame.pixels, {}, [&](const OutlierPixel& one) {
            return std::abs(static_cast<double>(one.value) - frame.mean);
        });
    const Elements width = header().shape.width;
    frame.outliers = {std::ssize(frame.pixels), static_cast<double>(value) + offset_, pixel % width,
                      pixel / width};
}

const CorrectedFrames::Inspected& CorrectedFrames::inspected(std::int64_t frame) const {
    const auto at = inspected_.find(frame);
    if (at == inspected_.end())
        throw std::logic_error("a frame has not been inspected on this rank");
    return at->second;
}

OutlierSummary CorrectedFrames::outliers(std::int64_t frame) const {
    const auto at = inspected_.find(frame); // no entry if the frame cannot be read
    return at == inspected_.end() ? OutlierSummary() : at->second.outliers;
}

void CorrectedFrames::settle(const Communicator& communicator) {
    if (despike_.enabled) {
        const std::vector<std::int64_t> counts = communicator.all_gather(std::ssize(inspected_));
        const auto frames = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        find_defects(communicator, frames);
        share_blank_lines(communicator, frames);
    }
    first_.resize(static_cast<std::size_t>(header().frames) + 1);
    settled_ = true;
    held_ = -1;
    samples_ = {};
    sum_ = {};
}

/// Finds the defective pixels and all-gathers the other outliers. `frames`: the number of frames
/// that were inspected on all ranks.
void CorrectedFrames::find_defects(const Communicator& communicator, std::int64_t frames) {
    struct FramePixel {
        std::int64_t frame;
        Elements pixel;
    };
    std::vector<FramePixel> own;
    for (const auto& [frame, seen] : inspected_)
        for (const OutlierPixel& one : seen.pixels)
            own.push_back({frame, one.pixel});
    std::vector<FramePixel> all = all_gather_lists(communicator, own);

    std::vector<Elements> pixels;
    for (const FramePixel& one : all)
        pixels.push_back(one.pixel);
    const std::vector<Elements> often = frequent_pixels(std::move(pixels), least_often(frames));
    defects_.insert(defects_.end(), often.begin(), often.end());

    if (frames >= least_summed) {
        // Needed if this rank read no frame.
        sum_.resize(static_cast<std::size_t>(header().shape.elements()));
        add_planes(communicator, sum_);
        for (float& sum : sum_)
            sum /= static_cast<float>(frames);
        compare_gain();
        const Outliers found = find_outliers(sum_, header().shape, despike_.threshold());
        defects_.insert(defects_.end(), found.pixels.begin(), found.pixels.end());
    }
    sort_without_duplicates(defects_);
    const auto is_defective = [this](const auto& one) { return contains(defects_, one.pixel); };
    for (auto& [number, frame] : inspected_) {
        std::erase_if(frame.pixels, is_defective);
        summarise(frame);
        frame.pixels = {};
    }
    std::erase_if(all, is_defective);
    first_.assign(static_cast<std::size_t>(header().frames) + 1, 0);
    // Ordered by frame, because each rank has a block of frames.
    for (const FramePixel& one : all) {
        pixels_.push_back(one.pixel);
        ++first_[static_cast<std::size_t>(one.frame) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

/// Compares the gain image with the mean of the series in other orientations.
void CorrectedFrames::compare_gain() {
    if (factor_.empty())
        return;
    std::vector<float> recorded(sum_.size());
    std::vector<double> gain(sum_.size());
    for (std::size_t i = 0; i < sum_.size(); ++i) {
        recorded[i] = sum_[i] / factor_[i] + static_cast<float>(offset_);
        gain[i] = 1 / static_cast<double>(factor_[i]);
    }
    set_gaps(defects_, {0, header().shape.height}, header().shape.width, recorded);
    better_gain_ = registration::better_gain(recorded, gain, header().shape);
}

/// All-gathers the blank lines of all frames. Drops lines that are blank in at least half of the
/// frames and lines that are as noisy as the dimmest lines of a typical frame.
void CorrectedFrames::share_blank_lines(const Communicator& communicator, std::int64_t frames) {
    std::vector<FrameBand> own;
    std::vector<double> dimmest_rows, dimmest_columns;
    for (const auto& [frame, seen] : inspected_) {
        for (const LineBand& band : seen.blank.bands)
            own.push_back({frame, band});
        dimmest_rows.push_back(seen.blank.dimmest_rows);
        dimmest_columns.push_back(seen.blank.dimmest_columns);
    }
    bands_ = all_gather_lists(communicator, own);
    if (bands_.empty())
        return;
    const double dimmest_row = median(all_gather_lists(communicator, dimmest_rows));
    const double dimmest_column = median(all_gather_lists(communicator, dimmest_columns));
    std::erase_if(bands_, [&](const FrameBand& one) {
        constexpr double most = .1;
        return !(one.band.activity < most * (one.band.columns ? dimmest_column : dimmest_row));
    });
    const ImageShape shape = header().shape;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(shape.height)),
        columns(static_cast<std::size_t>(shape.width));
    const auto lines_of = [&](const LineBand& band) {
        return std::span(band.columns ? columns : rows)
            .subspan(static_cast<std::size_t>(band.first), static_cast<std::size_t>(band.count()));
    };
    for (const FrameBand& one : bands_)
        for (std::int64_t& blank_in : lines_of(one.band))
            ++blank_in;
    std::erase_if(bands_, [&](const FrameBand& one) {
        return std::ranges::max(lines_of(one.band)) >= least_often(frames);
    });
}

std::span<const CorrectedFrames::FrameBand> CorrectedFrames::bands_of(std::int64_t frame) const {
    return equal_range(bands_, frame, &FrameBand::frame);
}

std::int64_t CorrectedFrames::blank(std::int64_t frame) const {
    if (!settled_)
        throw std::logic_error("blank lines are not known before the series has been inspected");
    std::vector<LineBand> bands;
    for (const FrameBand& one : bands_of(frame))
        bands.push_back(one.band);
    return samples_in(bands, header().shape);
}

std::int64_t CorrectedFrames::defects() const {
    if (!settled_)
        throw std::logic_error("defects are not known before the series has been inspected");
    return std::ssize(defects_);
}

bool CorrectedFrames::needed() const {
    return defects() > 0 || !factor_.empty() || !pixels_.empty() || !bands_.empty();
}

} // namespace sextant::registration
