// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDeepFrameBuffer.h>
#include <OpenEXR/ImfDeepScanLineInputFile.h>
#include <OpenEXR/ImfDeepScanLineOutputFile.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfStdIO.h>
#include <OpenEXR/ImfTestFile.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfVersion.h>
#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A window of pixels with exclusive ends and 64-bit coordinates; OpenEXR's windows have inclusive
/// ends.
struct Window {
    std::int64_t left, top, right, bottom;
    explicit Window(const Imath::Box2i& box)
        : left(box.min.x),
          top(box.min.y),
          right(std::int64_t{box.max.x} + 1),
          bottom(std::int64_t{box.max.y} + 1) {}
    std::int64_t width() const { return right - left; }
    std::int64_t height() const { return bottom - top; }
};

/// The header of a file, which precedes the pixels.
struct ExrStart {
    Imf::Header header;
    bool deep = false;
    Bytes file_size = 0;
    Bytes end = 0; ///< position after the header
};

std::int32_t read_integer(SourceFile& file) {
    std::array<unsigned char, 4> bytes{};
    if (file.read(std::as_writable_bytes(std::span(bytes))) < 4) {
        throw InvalidFile(file.path(), "ends inside its header");
    }
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i)
        value = value << 8 | bytes[static_cast<std::size_t>(i)];
    return static_cast<std::int32_t>(value);
}

/// Reads a zero-terminated name.
std::string read_name(SourceFile& file) {
    constexpr int longest = 256;
    std::string name;
    for (int length = 0; length < longest; ++length) {
        const int byte = std::fgetc(file.handle());
        if (byte == EOF)
            throw InvalidFile(file.path(), "ends inside its header");
        if (byte == 0)
            return name;
        name += static_cast<char>(byte);
    }
    throw InvalidFile(file.path(), "has a header name of more than 255 bytes: damaged");
}

/// An attribute type whose values all have the same size.
struct AttributeType {
    std::string_view name;
    Bytes size;
};
constexpr AttributeType attribute_types[] = {{"box2f", 16},
                                             {"box2i", 16},
                                             {"chromaticities", 32},
                                             {"compression", 1},
                                             {"deepImageState", 1},
                                             {"double", 8},
                                             {"envmap", 1},
                                             {"float", 4},
                                             {"int", 4},
                                             {"keycode", 28},
                                             {"lineOrder", 1},
                                             {"m33d", 72},
                                             {"m33f", 36},
                                             {"m44d", 128},
                                             {"m44f", 64},
                                             {"rational", 8},
                                             {"tiledesc", 9},
                                             {"timecode", 8},
                                             {"v2d", 16},
                                             {"v2f", 8},
                                             {"v2i", 8},
                                             {"v3d", 24},
                                             {"v3f", 12},
                                             {"v3i", 12}};

/// Returns the number of bytes that OpenEXR reads for an attribute's value, which starts at the
/// current position of `file`. `stated` is the size in the file. OpenEXR ignores `stated` for some
/// types. If the two differ, OpenEXR would read the following attributes from a wrong position and
/// allocate memory of any size.
Bytes size_of_value(SourceFile& file, const std::string& type, Bytes stated) {
    const auto* const known = std::ranges::find(attribute_types, type, &AttributeType::name);
    if (known != std::end(attribute_types))
        return known->size;
    if (type == "floatvector")
        return stated / 4 * 4;
    if (type == "preview" && stated >= 8) {
        const Bytes width = read_integer(file), height = read_integer(file);
        const bool fits = width >= 0 && height >= 0 && (width == 0 || height <= stated / width);
        return fits ? 8 + 4 * width * height : -1;
    }
    if (type != "chlist")
        return stated;
    constexpr Bytes size_of_channel = 16;
    Bytes size = 1;
    for (std::string name = read_name(file); !name.empty() && size <= stated;
         name = read_name(file)) {
        size += std::ssize(name) + 1 + size_of_channel;
        file.skip(size_of_channel);
    }
    return size;
}

/// Checks that every attribute has the size that the file states, and that no attribute extends
/// beyond the end of the file. Returns the version field, including its flags.
int check_attributes(SourceFile& file) {
    const std::string& path = file.path();
    if (read_integer(file) != Imf::MAGIC) {
        throw InvalidFile(path, "is not an OpenEXR file: its signature is wrong");
    }
    const int version = read_integer(file);
    if (Imf::isMultiPart(version))
        throw InvalidFile(path, "has several images, expected a single one");
    for (int number = 0; !read_name(file).empty(); ++number) {
        const std::string type = read_name(file);
        const Bytes length = read_integer(file);
        const Bytes begin = ftello(file.handle()), left = file.size() - begin;
        if (length < 0 || length > left) {
            throw InvalidFile(
                path, fmt::format("header attribute {} claims {} bytes, but only {} remain: "
                                  "damaged or truncated",
                                  number, length, left));
        }
        if (size_of_value(file, type, length) != length)
            throw InvalidFile(path, fmt::format("header attribute {} claims {} bytes, which its "
                                                "type does not have: damaged",
                                                number, length));
        file.skip(begin + length - ftello(file.handle()));
    }
    return version;
}

/// Reads the header. Checks the attributes first, because OpenEXR allocates as much memory as a
/// damaged length field states. Throws InvalidFile for damaged and for multi-part files, and
/// OpenEXR's exceptions.
ExrStart read_exr_start(const std::string& path) {
    SourceFile file(path);
    int version = check_attributes(file);
    const Bytes end = ftello(file.handle());
    Imf::StdIFStream stream(path.c_str());
    stream.seekg(8); // attributes follow the magic number and the version
    ExrStart start{{}, Imf::isNonImage(version), file.size(), end};
    start.header.readFrom(stream, version);
    start.header.sanityCheck(Imf::isTiled(version), false);
    return start;
}

/// Returns the names of channels, such as "A, B, G, R".
std::string names_of(const Imf::ChannelList& channels) {
    std::string names;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        names += (names.empty() ? "" : ", ") + std::string(channel.name());
    }
    return names.empty() ? "none" : names;
}

/// Returns the number of bytes that a file stores per pixel, or per sample of a deep pixel, over
/// all channels.
Bytes stored_pixel(const Imf::ChannelList& channels) {
    Bytes bytes = 0;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        bytes += channel.channel().type == Imf::HALF ? 2 : 4;
    }
    return bytes;
}

/// Runs `action`, and converts OpenEXR's exceptions to InvalidFile.
template <class Action>
auto reporting(const std::string& path, const char* failed, const Action& action) {
    try {
        return action();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw InvalidFile(path, fmt::format("{}: {}", failed, error.what()));
    }
}

/// An OpenEXR output stream that writes to an AtomicFile.
class AtomicStream : public Imf::OStream {
  public:
    explicit AtomicStream(AtomicFile& file) : Imf::OStream(file.path().c_str()), file_(file) {}
    void write(const char* bytes, int count) override {
        file_.write(std::string_view(bytes, static_cast<std::size_t>(count)));
    }
    std::uint64_t tellp() override { return static_cast<std::uint64_t>(file_.position()); }
    void seekp(std::uint64_t position) override { file_.seek(static_cast<Bytes>(position)); }

  private:
    AtomicFile& file_;
};

/// The channels of rgba_depth_f32 in order; rgba_f32 has only the first four.
constexpr std::array channel_names{"R", "G", "B", "A", "Z"};

/// The factor by which DCT codecs may exceed the compression ratio of deflate.
constexpr Bytes transform_ratio = 64;

int channels_of(const ElementFormat& element) {
    return element == rgba_depth_f32 ? 5 : 4;
}

void check_channels(const std::string& path, const Imf::ChannelList& channels) {
    for (const char* name : channel_names) {
        const Imf::Channel* channel = channels.findChannel(name);
        const bool required = std::strchr("RGB", *name) != nullptr;
        if (!channel && required) {
            throw InvalidFile(
                path,
                fmt::format("has no channel {}; it has {}, expected R, G, B and optionally A and Z",
                            name, names_of(channels)));
        }
        if (channel && (channel->xSampling != 1 || channel->ySampling != 1)) {
            throw InvalidFile(
                path, fmt::format("channel {} is subsampled, expected full resolution", name));
        }
    }
}

void check_tiles(const std::string& path, const Imf::Header& header, const ImageShape& data) {
    constexpr std::int64_t believable_side = 4096;
    if (!header.hasTileDescription())
        return;
    const Imf::TileDescription& tile = header.tileDescription();
    if (tile.xSize > std::max(believable_side, data.width) ||
        tile.ySize > std::max(believable_side, data.height)) {
        throw InvalidFile(path, fmt::format("has tiles of {}×{} in an image of {}×{}: damaged",
                                            tile.xSize, tile.ySize, data.width, data.height));
    }
}

/// Throws InvalidFile if the file is too small for the contents that its header states.
void check_header(const std::string& path, const ExrStart& start) {
    const Imf::Header& header = start.header;
    check_channels(path, header.channels());
    const Window frame(header.displayWindow());
    const Window window(header.dataWindow());
    const ImageShape shape = checked_shape(path, frame.width(), frame.height());
    const ImageShape data = checked_shape(path, window.width(), window.height());
    const bool transformed = header.compression() == Imf::DWAA_COMPRESSION ||
                             header.compression() == Imf::DWAB_COMPRESSION;
    check_plausible(path, data.elements() * stored_pixel(header.channels()), start.file_size,
                    deflate_ratio * (transformed ? transform_ratio : 1));
    if (shape.elements() > data.elements())
        check_held(path, shape.elements(), start.file_size);
    check_tiles(path, header, data);
}

Imf::Header read_flat_header(const std::string& path) {
    const ExrStart start = read_exr_start(path);
    if (start.deep)
        throw InvalidFile(path, "has deep pixels, expected flat ones");
    check_header(path, start);
    return start.header;
}

ImageHeader image_header(const Imf::Header& header) {
    const Window frame(header.displayWindow());
    const bool depth = header.channels().findChannel("Z") != nullptr;
    return {{frame.width(), frame.height()}, depth ? rgba_depth_f32 : rgba_f32};
}

/// Returns a frame buffer that reads every row of the file into the same `row`, with interleaved
/// channels.
Imf::FrameBuffer row_buffer(float* row, const Window& window, int channels) {
    const std::size_t stride = sizeof(float) * static_cast<std::size_t>(channels);
    Imf::FrameBuffer buffer;
    for (int channel = 0; channel < channels; ++channel) {
        const char* name = channel_names[static_cast<std::size_t>(channel)];
        auto* base = reinterpret_cast<char*>(row + channel) -
                     window.left * static_cast<std::ptrdiff_t>(stride);
        const double missing = *name == 'A' ? 1 : 0;
        buffer.insert(name, Imf::Slice(Imf::FLOAT, base, stride, 0, 1, 1, missing));
    }
    return buffer;
}

/// Fills pixels with the value that pixels outside the data window have.
void fill_empty(float* pixels, Elements count, int channels) {
    std::fill(pixels, pixels + count * channels, 0.0F);
    if (channels < 5)
        return;
    for (Elements i = 0; i < count; ++i)
        pixels[i * channels + 4] = std::numeric_limits<float>::infinity();
}

void read_rows(Imf::InputFile& file, const Window& frame, const Window& window, int channels,
               float* pixels) {
    fill_empty(pixels, frame.width() * frame.height(), channels);
    const std::int64_t left = std::max(frame.left, window.left);
    const std::int64_t right = std::min(frame.right, window.right);
    if (left >= right)
        return;
    std::vector<float> row(static_cast<std::size_t>(window.width() * channels));
    file.setFrameBuffer(row_buffer(row.data(), window, channels));
    const std::int64_t bottom = std::min(frame.bottom, window.bottom);
    for (std::int64_t y = std::max(frame.top, window.top); y < bottom; ++y) {
        file.readPixels(static_cast<int>(y));
        const float* from = row.data() + (left - window.left) * channels;
        float* to = pixels + ((y - frame.top) * frame.width() + left - frame.left) * channels;
        std::copy(from, from + (right - left) * channels, to);
    }
}

void write_rows(AtomicFile& to, const Image& image) {
    const int channels = channels_of(image.element());
    const int height = static_cast<int>(image.shape().height);
    Imf::Header header(static_cast<int>(image.shape().width), height);
    header.compression() = Imf::ZIP_COMPRESSION;
    const auto stride = static_cast<std::size_t>(image.element().size);
    const Imf::PixelType type = image.element() == rgba_f16 ? Imf::HALF : Imf::FLOAT;
    const std::size_t size = type == Imf::HALF ? sizeof(Half) : sizeof(float);
    Imf::FrameBuffer buffer;
    for (int channel = 0; channel < channels; ++channel) {
        const char* name = channel_names[static_cast<std::size_t>(channel)];
        header.channels().insert(name, Imf::Channel(type));
        // OpenEXR takes a char* for reading and for writing; this code only reads from it.
        auto* base = const_cast<char*>(reinterpret_cast<const char*>(image.bytes().data())) +
                     size * static_cast<std::size_t>(channel);
        const std::size_t row = stride * static_cast<std::size_t>(image.shape().width);
        buffer.insert(name, Imf::Slice(type, base, stride, row));
    }
    AtomicStream stream(to);
    Imf::OutputFile file(stream, header);
    file.setFrameBuffer(buffer);
    file.writePixels(height);
}

struct DeepChannel {
    const char* name;
    std::size_t offset; ///< offset in Fragment
};
constexpr std::array deep_channels{
    DeepChannel{"R", offsetof(Fragment, r)}, DeepChannel{"G", offsetof(Fragment, g)},
    DeepChannel{"B", offsetof(Fragment, b)}, DeepChannel{"A", offsetof(Fragment, a)},
    DeepChannel{"Z", offsetof(Fragment, depth)}};

void check_deep_channels(const std::string& path, const Imf::ChannelList& channels) {
    for (const DeepChannel& wanted : deep_channels) {
        const Imf::Channel* channel = channels.findChannel(wanted.name);
        if (!channel) {
            throw InvalidFile(path, fmt::format("has no channel {}; it has {}, expected R, G, B, A "
                                                "and Z in a deep image",
                                                wanted.name, names_of(channels)));
        }
        if (channel->xSampling != 1 || channel->ySampling != 1) {
            throw InvalidFile(
                path,
                fmt::format("channel {} is subsampled, expected full resolution", wanted.name));
        }
    }
    if (channels.findChannel("ZBack")) {
        throw InvalidFile(path, "has channel ZBack: samples with an extent in depth are not "
                                "supported, expected point samples");
    }
}

/// The number of fragments of each pixel of a window, and a pointer per channel to the fragments of
/// each pixel. OpenEXR takes the addresses of these arrays before it reads the file.
class Samples {
  public:
    /// `frame` is the window of the image. `window` is the part of `frame` that OpenEXR reads or
    /// writes.
    Samples(const Window& frame, const Window& window)
        : frame_(frame),
          window_(window),
          counts_(static_cast<std::size_t>(window.width() * window.height())) {
        for (auto& pointers : pointers_)
            pointers.resize(counts_.size());
    }

    Imf::DeepFrameBuffer buffer() {
        Imf::DeepFrameBuffer buffer;
        buffer.insertSampleCountSlice(
            Imf::Slice(Imf::UINT, from_origin(counts_.data()), sizeof(unsigned), row<unsigned>()));
        for (std::size_t c = 0; c < deep_channels.size(); ++c) {
            buffer.insert(deep_channels[c].name,
                          Imf::DeepSlice(Imf::FLOAT, from_origin(pointers_[c].data()),
                                         sizeof(char*), row<char*>(), sizeof(Fragment)));
        }
        return buffer;
    }

    /// Computes the positions of each pixel's fragments in the image from the counts.
    void lay_out(DeepImage& image) const {
        each([&](std::size_t i, std::size_t pixel) { image.first[pixel + 1] = counts_[i]; });
        std::partial_sum(image.first.begin(), image.first.end(), image.first.begin());
    }

    /// Sets the counts and pointers to the fragments of the image.
    void point_to(const DeepImage& image, Fragment* fragments) {
        each([&](std::size_t i, std::size_t pixel) {
            counts_[i] = static_cast<unsigned>(image.first[pixel + 1] - image.first[pixel]);
            char* const first = reinterpret_cast<char*>(fragments + image.first[pixel]);
            for (std::size_t c = 0; c < deep_channels.size(); ++c)
                pointers_[c][i] = first + deep_channels[c].offset;
        });
    }

  private:
    /// Calls `part` for each pixel with its index in the window and its index in the image.
    template <class Part>
    void each(const Part& part) const {
        std::size_t i = 0;
        for (std::int64_t y = window_.top; y < window_.bottom; ++y) {
            for (std::int64_t x = window_.left; x < window_.right; ++x)
                part(i++,
                     static_cast<std::size_t>((y - frame_.top) * frame_.width() + x - frame_.left));
        }
    }

    template <class Value>
    std::size_t row() const {
        return sizeof(Value) * static_cast<std::size_t>(window_.width());
    }
    /// OpenEXR indexes pixels from the origin, not from the corner of the window.
    template <class Value>
    char* from_origin(Value* values) const {
        const std::ptrdiff_t before = window_.top * window_.width() + window_.left;
        return reinterpret_cast<char*>(values) -
               before * static_cast<std::ptrdiff_t>(sizeof(Value));
    }

    const Window frame_, window_;
    std::vector<unsigned> counts_;
    std::array<std::vector<char*>, deep_channels.size()> pointers_;
};

void write_samples(AtomicFile& to, const DeepImage& image) {
    const int width = static_cast<int>(image.shape.width);
    const int height = static_cast<int>(image.shape.height);
    Imf::Header header(width, height);
    header.setType(Imf::DEEPSCANLINE);
    header.compression() = Imf::ZIPS_COMPRESSION;
    for (const DeepChannel& channel : deep_channels)
        header.channels().insert(channel.name, Imf::Channel(Imf::FLOAT));
    const Window window(header.dataWindow());
    // OpenEXR takes a char* for reading and for writing; this code only reads from it.
    Samples samples(window, window);
    samples.point_to(image, const_cast<Fragment*>(image.fragments.data()));
    AtomicStream stream(to);
    Imf::DeepScanLineOutputFile file(stream, header);
    file.setFrameBuffer(samples.buffer());
    file.writePixels(height);
}

/// Returns the header of a deep file, with element deep_f32. Throws the same as read_exr_deep.
ImageHeader deep_exr_header(const std::string& path, const ExrStart& start) {
    const Imf::Header& header = start.header;
    if (!header.hasType() || header.type() != Imf::DEEPSCANLINE) {
        throw InvalidFile(path, fmt::format("is of type '{}', expected deep scan lines",
                                            header.hasType() ? header.type() : "none"));
    }
    check_deep_channels(path, header.channels());
    const Window frame(header.displayWindow()), window(header.dataWindow());
    const ImageShape shape = checked_shape(path, frame.width(), frame.height());
    const bool inside = window.left >= frame.left && window.top >= frame.top &&
                        window.right <= frame.right && window.bottom <= frame.bottom;
    if (!inside) {
        throw InvalidFile(
            path, "has deep pixels outside the image (data window beyond the display window)");
    }
    check_plausible(path, shape.elements() * static_cast<Bytes>(sizeof(unsigned)), start.file_size,
                    deflate_ratio);
    return {shape, deep_f32};
}

/// Checks the sizes that the chunks of a deep file state, because OpenEXR allocates that much
/// memory. Each chunk has one row. `unpacked` is the number of bytes of all fragments.
void check_deep_chunks(const std::string& path, const ExrStart& start, std::int64_t rows,
                       Bytes unpacked) {
    const SourceFile file(path);
    for (std::int64_t row = 0; row < rows; ++row) {
        std::array<std::int64_t, 1> position{};
        std::array<std::int64_t, 3> sizes{}; // of counts, fragments, unpacked fragments
        const auto read = [&](Bytes from, std::span<std::int64_t> to) {
            if (from < start.end || from > start.file_size ||
                file.read_at(from, std::as_writable_bytes(to)) <
                    static_cast<Bytes>(to.size_bytes()))
                throw InvalidFile(path, fmt::format("row {} is missing: truncated", row));
        };
        read(start.end + 8 * row, position);
        // A chunk begins with its row number.
        read(std::min(position[0], start.file_size) + 4, sizes);
        const Bytes left = start.file_size - position[0];
        if (sizes[0] < 0 || sizes[0] > left || sizes[1] < 0 || sizes[1] > left || sizes[2] < 0 ||
            sizes[2] > unpacked)
            throw InvalidFile(path, fmt::format("row {} claims {} and {} bytes, {} when unpacked: "
                                                "damaged",
                                                row, sizes[0], sizes[1], sizes[2]));
    }
}

} // namespace

ImageHeader read_exr_header(const std::string& path) {
    return reporting(path, "cannot be read", [&] {
        const ExrStart start = read_exr_start(path);
        if (start.deep)
            return deep_exr_header(path, start);
        check_header(path, start);
        return image_header(start.header);
    });
}

void read_exr(const std::string& path, const ImageHeader& expected, std::span<std::byte> to) {
    const Imf::Header header =
        reporting(path, "cannot be read", [&] { return read_flat_header(path); });
    check_expected(path, image_header(header), expected, to);
    reporting(path, "cannot be read", [&] {
        Imf::InputFile file(path.c_str());
        read_rows(file, Window(header.displayWindow()), Window(header.dataWindow()),
                  channels_of(expected.element), reinterpret_cast<float*>(to.data()));
    });
}

void write_exr(const std::string& path, const Image& image) {
    check_writable(path, image, std::numeric_limits<int>::max() / 2 - 1, true);
    reporting(path, "cannot be written", [&] {
        AtomicFile file(path);
        write_rows(file, image); // OpenEXR's object completes the file in its destructor
        file.commit();
    });
}

DeepImage read_exr_deep(const std::string& path) {
    return reporting(path, "cannot be read", [&] {
        const ExrStart start = read_exr_start(path);
        if (!start.deep)
            throw InvalidFile(path, "is flat, expected deep pixels");
        DeepImage image = empty_deep_image(deep_exr_header(path, start).shape);
        const Window frame(start.header.displayWindow()), window(start.header.dataWindow());
        const int top = static_cast<int>(window.top), last = static_cast<int>(window.bottom) - 1;
        Samples samples(frame, window);
        Imf::DeepScanLineInputFile file(path.c_str());
        file.setFrameBuffer(samples.buffer());
        file.readPixelSampleCounts(top, last);
        samples.lay_out(image);
        const Bytes unpacked = image.first.back() * stored_pixel(start.header.channels());
        check_plausible(path, unpacked, start.file_size, deflate_ratio);
        check_deep_chunks(path, start, window.height(), unpacked);
        image.fragments.resize(static_cast<std::size_t>(image.first.back()));
        samples.point_to(image, image.fragments.data());
        file.readPixels(top, last);
        return image;
    });
}

void write_exr_deep(const std::string& path, const DeepImage& image) {
    constexpr std::int64_t longest_side = std::numeric_limits<int>::max() / 2 - 1;
    const auto [width, height] = image.shape;
    if (width < 1 || height < 1 || width > longest_side || height > longest_side) {
        throw InvalidFile(path, fmt::format("cannot hold an image of {}x{} pixels", width, height));
    }
    reporting(path, "cannot be written", [&] {
        AtomicFile file(path);
        write_samples(file, image); // OpenEXR's object completes the file in its destructor
        file.commit();
    });
}

} // namespace sextant::format
