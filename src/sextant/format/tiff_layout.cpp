// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_layout.hpp"

#include "sextant/format/tiff_description.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include <tiff.h>

namespace sextant::format {

namespace {

/// Beyond this, classic TIFF cannot point.
constexpr Bytes classic_bytes = std::numeric_limits<std::uint32_t>::max();

/// Java's arrays have no more elements, nor ImageJ's stacks more slices.
constexpr std::int64_t java_elements = std::numeric_limits<std::int32_t>::max() - 8;

/// Samples start at a multiple of this.
constexpr Bytes alignment = 64;

constexpr Bytes aligned(Bytes position, Bytes to) {
    return (position + to - 1) / to * to;
}

template <class T>
void put(std::vector<std::byte>& to, T value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), first, first + sizeof value);
}

/// Entries of a directory, in the order of their tags.
class Directory {
  public:
    explicit Directory(bool big) : big_(big) {}

    void short_value(std::uint16_t tag, std::uint16_t value) {
        begin(tag, TIFF_SHORT, 1);
        const std::size_t field = bytes_.size();
        put(bytes_, value);
        bytes_.resize(field + (big_ ? 8 : 4));
    }
    /// A length or position, of 64 bits in BigTIFF.
    void long_value(std::uint16_t tag, Bytes value) {
        begin(tag, big_ ? TIFF_LONG8 : TIFF_LONG, 1);
        put_offset(value);
    }
    /// Values that are elsewhere in the file.
    void values_at(std::uint16_t tag, TIFFDataType type, Bytes count, Bytes position) {
        begin(tag, type, count);
        put_offset(position);
    }
    /// A rational, which fits into an entry of BigTIFF only.
    void rational(std::uint16_t tag, TiffRational value, Bytes position) {
        begin(tag, TIFF_RATIONAL, 1);
        if (!big_)
            return put_offset(position);
        put(bytes_, value.numerator);
        put(bytes_, value.denominator);
    }

    std::vector<std::byte> finish(Bytes next) {
        std::vector<std::byte> all;
        if (big_)
            put(all, static_cast<std::uint64_t>(count_));
        else
            put(all, count_);
        all.insert(all.end(), bytes_.begin(), bytes_.end());
        bytes_.clear();
        put_offset(next);
        all.insert(all.end(), bytes_.begin(), bytes_.end());
        return all;
    }

  private:
    void begin(std::uint16_t tag, TIFFDataType type, Bytes count) {
        put(bytes_, tag);
        put(bytes_, static_cast<std::uint16_t>(type));
        put_offset(count);
        ++count_;
    }
    void put_offset(Bytes value) {
        if (big_)
            put(bytes_, static_cast<std::uint64_t>(value));
        else
            put(bytes_, static_cast<std::uint32_t>(value));
    }

    bool big_;
    std::uint16_t count_ = 0;
    std::vector<std::byte> bytes_;
};

} // namespace

TiffLayout::TiffLayout(FrameHeader header, const SinkOptions& options)
    : header_(std::move(header)), options_(options) {
    choose_kind();
    place_parts();
    const bool little = std::endian::native == std::endian::little;
    const auto first = directory(0);
    put(start_, little ? 'I' : 'M');
    put(start_, little ? 'I' : 'M');
    put(start_, static_cast<std::uint16_t>(big_ ? TIFF_VERSION_BIG : TIFF_VERSION_CLASSIC));
    if (big_) {
        put(start_, std::uint16_t{8});
        put(start_, std::uint16_t{0});
        put(start_, static_cast<std::uint64_t>(header_bytes()));
    } else {
        put(start_, static_cast<std::uint32_t>(header_bytes()));
    }
    start_.insert(start_.end(), first.begin(), first.end());
    start_.resize(static_cast<std::size_t>(text_at_));
    const auto* const text = reinterpret_cast<const std::byte*>(text_.c_str());
    start_.insert(start_.end(), text, text + text_.size() + 1);
    start_.resize(static_cast<std::size_t>(resolution_at_));
    if (!big_ && pixel_.known()) {
        for (const double size : {pixel_.x, pixel_.y}) {
            put(start_, tiff_rational(1 / size).numerator);
            put(start_, tiff_rational(1 / size).denominator);
        }
    }
    start_.resize(static_cast<std::size_t>(samples_at_));
}

void TiffLayout::choose_kind() {
    const Sample sample = header_.sample;
    imagej_ = (sample == Sample::u8 || sample == Sample::u16 || sample == Sample::f32) &&
              header_.shape.elements() <= java_elements && header_.frames <= java_elements;
    directories_ = header_.frames;
    const auto describe = [&] {
        text_ =
            imagej_ ? imagej_description(header_, options_) : ome_description(header_, options_);
        pixel_ = imagej_ ? in_storable_unit(header_.pixel) : in_centimetres(header_.pixel);
        place_parts();
    };
    describe();
    if (fits_classic())
        return;
    if (imagej_ && header_.frames > 1 && frame_bytes() <= classic_bytes) {
        directories_ = 1;
        return;
    }
    big_ = true;
    imagej_ = false;
    describe();
}

void TiffLayout::place_parts() {
    text_at_ = header_bytes() + directory_bytes(true);
    resolution_at_ = aligned(text_at_ + static_cast<Bytes>(text_.size()) + 1, 8);
    samples_at_ = aligned(resolution_at_ + (!big_ && pixel_.known() ? 16 : 0), alignment);
}

bool TiffLayout::fits_classic() const {
    const Bytes room = classic_bytes - samples_at_ - 1;
    return header_.frames <= room / (frame_bytes() + directory_bytes(false));
}

Bytes TiffLayout::frame_bytes() const {
    return header_.shape.elements() * size_of(header_.sample);
}

Bytes TiffLayout::directory_bytes(bool first) const {
    const Bytes entries = 11 + (first ? 1 : 0) + (pixel_.known() ? 3 : 0);
    return big_ ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
}

Bytes TiffLayout::end_of_samples() const {
    return samples_at_ + header_.frames * frame_bytes();
}

Bytes TiffLayout::padding() const {
    return directories_ > 1 ? aligned(end_of_samples(), 8) - end_of_samples() : 0;
}

Bytes TiffLayout::position_of(std::int64_t frame) const {
    return frame == 0 ? header_bytes()
                      : end_of_samples() + padding() + (frame - 1) * directory_bytes(false);
}

std::vector<std::byte> TiffLayout::directory(std::int64_t frame) const {
    const bool more = frame + 1 < directories_;
    Directory directory(big_);
    directory.long_value(TIFFTAG_SUBFILETYPE, 0);
    directory.long_value(TIFFTAG_IMAGEWIDTH, header_.shape.width);
    directory.long_value(TIFFTAG_IMAGELENGTH, header_.shape.height);
    directory.short_value(TIFFTAG_BITSPERSAMPLE,
                          static_cast<std::uint16_t>(8 * size_of(header_.sample)));
    directory.short_value(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    directory.short_value(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (frame == 0)
        directory.values_at(TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII,
                            static_cast<Bytes>(text_.size()) + 1, text_at_);
    directory.long_value(TIFFTAG_STRIPOFFSETS, samples_at_ + frame * frame_bytes());
    directory.short_value(TIFFTAG_SAMPLESPERPIXEL, 1);
    directory.long_value(TIFFTAG_ROWSPERSTRIP, header_.shape.height);
    directory.long_value(TIFFTAG_STRIPBYTECOUNTS, frame_bytes());
    if (pixel_.known()) {
        directory.rational(TIFFTAG_XRESOLUTION, tiff_rational(1 / pixel_.x), resolution_at_);
        directory.rational(TIFFTAG_YRESOLUTION, tiff_rational(1 / pixel_.y), resolution_at_ + 8);
        directory.short_value(TIFFTAG_RESOLUTIONUNIT, imagej_ ? RESUNIT_NONE : RESUNIT_CENTIMETER);
    }
    directory.short_value(TIFFTAG_SAMPLEFORMAT,
                          header_.sample == Sample::f32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    return directory.finish(more ? position_of(frame + 1) : 0);
}

} // namespace sextant::format
