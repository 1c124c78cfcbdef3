// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff/layout.hpp"

#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tiff.h>

namespace sextant::format {

namespace {

/// Converts to UTF-16. Characters beyond U+FFFF are truncated to 16 bits; units and labels have
/// none.
std::vector<char16_t> utf16(std::string_view utf8) {
    std::vector<char16_t> units;
    for (std::size_t i = 0; i < utf8.size();) {
        const auto first = static_cast<unsigned char>(utf8[i++]);
        std::uint32_t code = first < 0x80 ? first : first >= 0xE0 ? first & 0x0FU : first & 0x1FU;
        for (; i < utf8.size() && (static_cast<unsigned char>(utf8[i]) & 0xC0U) == 0x80; ++i)
            code = code << 6 | (static_cast<unsigned char>(utf8[i]) & 0x3FU);
        units.push_back(static_cast<char16_t>(code & 0xFFFF));
    }
    return units;
}

/// Escapes text for ImageJ, which reads Java properties: Latin-1, and \uXXXX for other characters.
std::string escaped_for_java(std::string_view utf8) {
    std::string escaped;
    for (const char16_t unit : utf16(utf8)) {
        if (unit >= 0x80)
            escaped += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(unit));
        else
            escaped += unit == u'\\' ? "\\\\" : std::string(1, static_cast<char>(unit));
    }
    return escaped;
}

// ImageJ's private tags: the lengths of the parts of ImageJ's metadata, and the metadata.
constexpr std::uint16_t imagej_lengths = 50838, imagej_metadata = 50839;
/// The size of the header of metadata with labels only: the magic number "IJIJ", the type "labl",
/// and the number of labels.
constexpr Bytes label_header_bytes = 12;

std::uint16_t sample_format(Sample sample) {
    const char kind = name(sample)[0];
    return kind == 'f' ? SAMPLEFORMAT_IEEEFP : kind == 'i' ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

bool storable(double pixel) {
    return tiff_rational(1 / pixel).numerator > 0;
}

} // namespace

namespace {

/// Returns the length of an axis of planes; 1 if there is no such axis.
std::int64_t plane_axis_length(const SinkOptions& options, char letter) {
    for (const PlaneAxis& axis : options.planes) {
        if (axis.letter == letter)
            return axis.length;
    }
    return 1;
}

/// True if planes are in ImageJ's order: channels vary fastest, then slices, then times.
bool has_imagej_order(const SinkOptions& options) {
    constexpr std::string_view order = "tzc";
    return std::ranges::is_sorted(options.planes, {},
                                  [&](const PlaneAxis& axis) { return order.find(axis.letter); });
}

/// Returns the order of all axes for OME-XML, from the fastest to the slowest.
std::string ome_order(const SinkOptions& options) {
    std::string order = "XY";
    for (std::size_t i = options.planes.size(); i-- > 0;)
        order += static_cast<char>(std::toupper(options.planes[i].letter));
    for (const char letter : std::string_view("ZCT")) {
        if (order.find(letter) == std::string::npos)
            order += letter;
    }
    return order;
}

/// The numbers of slices, channels and times.
struct PlaneCounts {
    std::int64_t slices, channels, times;
};
PlaneCounts counts_of(const FrameHeader& header, const SinkOptions& options) {
    if (!options.planes.empty())
        return {plane_axis_length(options, 'z'), plane_axis_length(options, 'c'),
                plane_axis_length(options, 't')};
    const bool time = options.axis == StackAxis::time;
    return {time ? 1 : header.frames, 1, time ? header.frames : 1};
}

} // namespace

std::string imagej_description(const FrameHeader& header, const SinkOptions& options) {
    std::string text = fmt::format("ImageJ=1.53t\nimages={}\n", header.frames);
    constexpr std::array<std::pair<char, std::string_view>, 3> names{
        {{'c', "channels"}, {'z', "slices"}, {'t', "frames"}}};
    for (const auto& [letter, name] : names) {
        for (const PlaneAxis& axis : options.planes) {
            if (axis.letter == letter)
                text += fmt::format("{}={}\n", name, axis.length);
        }
    }
    if (!options.planes.empty())
        text += "hyperstack=true\n";
    else if (header.frames > 1)
        text += fmt::format("{}={}\n", options.axis == StackAxis::time ? "frames" : "slices",
                            header.frames);
    const PixelSize pixel = in_storable_unit(header.pixel);
    if (pixel.known() && !pixel.unit.empty())
        text += fmt::format("unit={}\n", escaped_for_java(pixel.unit));
    const bool slices = options.planes.empty()
                            ? options.axis == StackAxis::slices && header.frames > 1
                            : plane_axis_length(options, 'z') > 1;
    if (slices && pixel.known() && header.slice_distance > 0)
        text += fmt::format("spacing={}\n", header.slice_distance * pixel.x / header.pixel.x);
    if (header.frame_interval > 0)
        text += fmt::format("finterval={}\n", header.frame_interval);
    return text;
}

std::string ome_description(const FrameHeader& header, const SinkOptions& options) {
    const PlaneCounts counts = counts_of(header, options);
    std::string pixels = fmt::format(
        "ID=\"Pixels:0\" DimensionOrder=\"{}\" Type=\"{}\" SizeX=\"{}\" SizeY=\"{}\" "
        "SizeZ=\"{}\" SizeC=\"{}\" SizeT=\"{}\"",
        ome_order(options), header.sample == Sample::f32 ? "float" : long_name(header.sample),
        header.shape.width, header.shape.height, counts.slices, counts.channels, counts.times);
    if (header.pixel.known() && metres_of(header.pixel.unit) > 0) {
        pixels += fmt::format(" PhysicalSizeX=\"{}\" PhysicalSizeXUnit=\"{}\" PhysicalSizeY=\"{}\""
                              " PhysicalSizeYUnit=\"{}\"",
                              header.pixel.x, header.pixel.unit, header.pixel.y, header.pixel.unit);
        if (counts.slices > 1 && header.slice_distance > 0)
            pixels += fmt::format(" PhysicalSizeZ=\"{}\" PhysicalSizeZUnit=\"{}\"",
                                  header.slice_distance, header.pixel.unit);
    }
    if (header.frame_interval > 0)
        pixels +=
            fmt::format(" TimeIncrement=\"{}\" TimeIncrementUnit=\"s\"", header.frame_interval);
    std::string channels;
    for (std::int64_t channel = 0; channel < counts.channels; ++channel)
        channels += fmt::format("<Channel ID=\"Channel:0:{}\" SamplesPerPixel=\"1\"/>", channel);
    constexpr std::string_view schema = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME xmlns=\"{0}\" "
                       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                       "xsi:schemaLocation=\"{0} {0}/ome.xsd\"><Image ID=\"Image:0\"><Pixels {1}>"
                       "{3}<TiffData IFD=\"0\" PlaneCount=\"{2}\"/></Pixels></Image></OME>",
                       schema, pixels, header.frames, channels);
}

/// Uses continued fractions.
TiffRational tiff_rational(double number) {
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    double numerator = 1, denominator = 0, numerator_before = 0, denominator_before = 1;
    for (double rest = number; std::isfinite(rest);) {
        const double whole = std::floor(rest);
        const double next_numerator = whole * numerator + numerator_before;
        const double next_denominator = whole * denominator + denominator_before;
        if (next_numerator > most || next_denominator > most)
            break;
        numerator_before = numerator, numerator = next_numerator;
        denominator_before = denominator, denominator = next_denominator;
        if (rest == whole || std::abs(numerator / denominator / number - 1) < 1e-15)
            break;
        rest = 1 / (rest - whole);
    }
    if (!(std::abs(numerator / denominator / number - 1) < 1e-6))
        return {};
    return {static_cast<std::uint32_t>(numerator), static_cast<std::uint32_t>(denominator)};
}

PixelSize in_storable_unit(const PixelSize& pixel) {
    if (!pixel.known() || (storable(pixel.x) && storable(pixel.y)))
        return pixel;
    const double metres = metres_of(pixel.unit);
    const auto in = [&](const char* unit) {
        const double scale = metres / metres_of(unit);
        return PixelSize{pixel.x * scale, pixel.y * scale, unit};
    };
    // Choose the unit that gives the most readable number.
    for (const char* unit : {"m", "mm", "µm", "nm", "pm"}) {
        const PixelSize converted = in(unit);
        if (converted.x >= .05 && storable(converted.x) && storable(converted.y))
            return converted;
    }
    return {};
}

PixelSize in_centimetres(const PixelSize& pixel) {
    const double scale = metres_of(pixel.unit) / metres_of("cm");
    const PixelSize converted{pixel.x * scale, pixel.y * scale, "cm"};
    return converted.known() && storable(converted.x) && storable(converted.y) ? converted
                                                                               : PixelSize();
}

namespace {

/// The largest file position that classic TIFF can store.
constexpr Bytes classic_bytes = std::numeric_limits<std::uint32_t>::max();

/// The maximum length of a Java array. It limits the pixels per image and the images per stack in
/// ImageJ.
constexpr std::int64_t java_elements = std::numeric_limits<std::int32_t>::max() - 8;

/// The alignment of the samples in bytes.
constexpr Bytes alignment = 64;

constexpr Bytes aligned(Bytes position, Bytes to) {
    return (position + to - 1) / to * to;
}

template <class T>
void put(std::vector<std::byte>& to, T value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), first, first + sizeof value);
}

/// Builds the entries of a directory, in the order of tags.
class Directory {
  public:
    explicit Directory(bool big) : big_(big) {}

    void short_value(std::uint16_t tag, std::uint16_t value) {
        begin(tag, TIFF_SHORT, 1);
        const std::size_t field = bytes_.size();
        put(bytes_, value);
        bytes_.resize(field + (big_ ? 8 : 4));
    }
    /// Adds a length or position, which has 64 bits in BigTIFF.
    void long_value(std::uint16_t tag, Bytes value) {
        begin(tag, big_ ? TIFF_LONG8 : TIFF_LONG, 1);
        put_offset(value);
    }
    /// Adds values that are stored at another position in the file.
    void values_at(std::uint16_t tag, TIFFDataType type, Bytes count, Bytes position) {
        begin(tag, type, count);
        put_offset(position);
    }
    /// Adds a rational. Only in BigTIFF does it fit into the entry itself.
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
    if (!options_.labels.empty() && std::ssize(options_.labels) != header_.frames)
        throw std::logic_error("the number of labels differs from that of frames");
    std::transform(options_.labels.begin(), options_.labels.end(), std::back_inserter(labels_),
                   utf16);
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
    if (has_labels())
        put_labels();
    start_.resize(static_cast<std::size_t>(samples_at_));
}

/// Adds the labels as ImageJ's metadata: the lengths in bytes of the header and of each label, then
/// the header and the labels in UTF-16. All numbers are in the byte order of the file.
void TiffLayout::put_labels() {
    start_.resize(static_cast<std::size_t>(label_lengths_at_));
    put(start_, static_cast<std::uint32_t>(label_header_bytes));
    for (const std::vector<char16_t>& label : labels_)
        put(start_, static_cast<std::uint32_t>(sizeof(char16_t) * label.size()));
    put(start_, std::uint32_t{0x494a494a}); // "IJIJ"
    put(start_, std::uint32_t{0x6c61626c}); // "labl"
    put(start_, static_cast<std::uint32_t>(labels_.size()));
    for (const std::vector<char16_t>& label : labels_) {
        for (const char16_t unit : label)
            put(start_, unit);
    }
}

void TiffLayout::choose_kind() {
    const Sample sample = header_.sample;
    imagej_ = (sample == Sample::u8 || sample == Sample::u16 || sample == Sample::f32) &&
              header_.shape.elements() <= java_elements && header_.frames <= java_elements &&
              has_imagej_order(options_);
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

bool TiffLayout::keeps_pixel() const {
    return imagej_ ? pixel_.known() && !pixel_.unit.empty() : metres_of(header_.pixel.unit) > 0;
}

void TiffLayout::place_parts() {
    text_at_ = header_bytes() + directory_bytes(true);
    resolution_at_ = aligned(text_at_ + static_cast<Bytes>(text_.size()) + 1, 8);
    label_lengths_at_ = resolution_at_ + (!big_ && pixel_.known() ? 16 : 0);
    labels_at_ = label_lengths_at_;
    Bytes end = labels_at_;
    if (has_labels()) {
        labels_at_ += static_cast<Bytes>(sizeof(std::uint32_t)) * (1 + header_.frames);
        end = labels_at_ + label_bytes();
    }
    samples_at_ = aligned(end, alignment);
}

bool TiffLayout::fits_classic() const {
    const Bytes room = classic_bytes - samples_at_ - 1;
    return header_.frames <= room / (frame_bytes() + directory_bytes(false));
}

Bytes TiffLayout::frame_bytes() const {
    return header_.shape.elements() * size_of(header_.sample);
}

Bytes TiffLayout::label_bytes() const {
    Bytes bytes = label_header_bytes;
    for (const std::vector<char16_t>& label : labels_)
        bytes += static_cast<Bytes>(sizeof(char16_t) * label.size());
    return bytes;
}

Bytes TiffLayout::directory_bytes(bool first) const {
    const Bytes entries =
        11 + (first ? 1 : 0) + (first && has_labels() ? 2 : 0) + (pixel_.known() ? 3 : 0);
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
    directory.short_value(TIFFTAG_SAMPLEFORMAT, sample_format(header_.sample));
    if (frame == 0 && has_labels()) {
        directory.values_at(imagej_lengths, TIFF_LONG, 1 + header_.frames, label_lengths_at_);
        directory.values_at(imagej_metadata, TIFF_BYTE, label_bytes(), labels_at_);
    }
    return directory.finish(more ? position_of(frame + 1) : 0);
}

} // namespace sextant::format
