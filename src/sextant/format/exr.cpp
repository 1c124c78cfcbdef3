// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/atomic_file.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStdIO.h>
#include <OpenEXR/ImfTestFile.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfVersion.h>
#include <fmt/format.h>

namespace sextant::format {

namespace {

/// The channels of both element formats, in their order.
constexpr std::array channel_names{"R", "G", "B", "A", "Z"};

/// A frame of up to 8192×8192 pixels may be all but empty, so that a small file holds it.
constexpr Elements believable_frame = Elements{1} << 26;

/// Samples that the compressions built on cosine transforms store as one.
constexpr Bytes transform_ratio = 64;

/// A window with exclusive ends, in 64 bits: the library's are int, ends included.
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

int channels_of(const ElementFormat& element) {
    return element == rgba_depth_f32 ? 5 : 4;
}

/// Runs `action` and gives whatever the library throws the form of our errors.
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

/// Passes over a name that ends with a zero byte. Returns whether it was empty.
bool skip_name(SourceFile& file) {
    constexpr int longest = 256;
    for (int length = 0; length < longest; ++length) {
        const int byte = std::fgetc(file.handle());
        if (byte == EOF)
            throw InvalidFile(file.path(), "ends inside its header");
        if (byte == 0)
            return length == 0;
    }
    throw InvalidFile(file.path(), "has a header name of more than 255 bytes: damaged");
}

/// Walks the attributes before the library does, which takes as much memory for one as a damaged
/// length claims. Returns the version with its flags.
int check_attributes(SourceFile& file) {
    const std::string& path = file.path();
    if (read_integer(file) != Imf::MAGIC) {
        throw InvalidFile(path, "is not an OpenEXR file: its first bytes are others");
    }
    const int version = read_integer(file);
    if (Imf::isNonImage(version) || Imf::isMultiPart(version)) {
        throw InvalidFile(path, "has deep or several images, expected a single flat one");
    }
    for (int number = 0; !skip_name(file); ++number) {
        skip_name(file);
        const Bytes length = read_integer(file);
        const Bytes left = file.size() - ftello(file.handle());
        if (length < 0 || length > left) {
            throw InvalidFile(path,
                              fmt::format("header attribute {} claims {} bytes of the {} left: "
                                          "damaged or truncated",
                                          number, length, left));
        }
        file.skip(length);
    }
    return version;
}

std::string names_of(const Imf::ChannelList& channels) {
    std::string names;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        names += (names.empty() ? "" : ", ") + std::string(channel.name());
    }
    return names.empty() ? "none" : names;
}

void check_channels(const std::string& path, const Imf::ChannelList& channels) {
    for (const char* name : channel_names) {
        const Imf::Channel* channel = channels.findChannel(name);
        const bool required = std::strchr("RGB", *name) != nullptr;
        if (!channel && required) {
            throw InvalidFile(path,
                              fmt::format("has no channel {}; it has {}, expected R, G, B and "
                                          "where wanted A and Z",
                                          name, names_of(channels)));
        }
        if (channel && (channel->xSampling != 1 || channel->ySampling != 1)) {
            throw InvalidFile(
                path, fmt::format("channel {} is subsampled, expected full resolution", name));
        }
    }
}

/// The bytes of one pixel as stored, all channels of the file together.
Bytes stored_pixel(const Imf::ChannelList& channels) {
    Bytes bytes = 0;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        bytes += channel.channel().type == Imf::HALF ? 2 : 4;
    }
    return bytes;
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

/// Reads the header and believes it only where the file is large enough for what it claims.
Imf::Header read_checked(const std::string& path) {
    SourceFile file(path);
    const Bytes size = file.size();
    int version = check_attributes(file);
    Imf::StdIFStream stream(path.c_str());
    stream.seekg(8); // attributes follow the magic number and the version
    Imf::Header header;
    header.readFrom(stream, version);
    header.sanityCheck(Imf::isTiled(version), false);

    check_channels(path, header.channels());
    const Window frame(header.displayWindow());
    const Window window(header.dataWindow());
    const ImageShape shape = checked_shape(path, frame.width(), frame.height());
    const ImageShape data = checked_shape(path, window.width(), window.height());
    const bool transformed = header.compression() == Imf::DWAA_COMPRESSION ||
                             header.compression() == Imf::DWAB_COMPRESSION;
    check_plausible(path, data.elements() * stored_pixel(header.channels()), size,
                    deflate_ratio * (transformed ? transform_ratio : 1));
    if (shape.elements() > std::max(believable_frame, data.elements())) {
        check_plausible(path, shape.elements(), size, deflate_ratio);
    }
    check_tiles(path, header, data);
    return header;
}

ImageHeader image_header(const Imf::Header& header) {
    const Window frame(header.displayWindow());
    const bool depth = header.channels().findChannel("Z") != nullptr;
    return {{frame.width(), frame.height()}, depth ? rgba_depth_f32 : rgba_f32};
}

/// Slices that put every row of the file at `row`, pixel by pixel.
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

/// Fills an image with what lies outside the data window.
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

/// The library's stream over a file that appears whole or not at all.
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
        // The library takes char* for both directions and only reads here.
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

} // namespace

ImageHeader read_exr_header(const std::string& path) {
    return reporting(path, "cannot be read", [&] { return image_header(read_checked(path)); });
}

void read_exr(const std::string& path, const ImageHeader& expected, std::span<std::byte> to) {
    const Imf::Header header =
        reporting(path, "cannot be read", [&] { return read_checked(path); });
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
        write_rows(file, image); // the library's file is complete only once it is destroyed
        file.commit();
    });
}

} // namespace sextant::format
