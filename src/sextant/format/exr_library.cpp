// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr_library.hpp"

#include "sextant/format/source_file.hpp"

#include <array>
#include <span>

#include <OpenEXR/ImfStdIO.h>
#include <OpenEXR/ImfTestFile.h>
#include <OpenEXR/ImfVersion.h>

namespace sextant::format {

namespace {

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

/// Returns the version with its flags.
int check_attributes(SourceFile& file) {
    const std::string& path = file.path();
    if (read_integer(file) != Imf::MAGIC) {
        throw InvalidFile(path, "is not an OpenEXR file: its first bytes are others");
    }
    const int version = read_integer(file);
    if (Imf::isMultiPart(version))
        throw InvalidFile(path, "has several images, expected a single one");
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

} // namespace

ExrStart read_exr_start(const std::string& path) {
    SourceFile file(path);
    int version = check_attributes(file);
    Imf::StdIFStream stream(path.c_str());
    stream.seekg(8); // attributes follow the magic number and the version
    ExrStart start{{}, Imf::isNonImage(version), file.size()};
    start.header.readFrom(stream, version);
    start.header.sanityCheck(Imf::isTiled(version), false);
    return start;
}

std::string names_of(const Imf::ChannelList& channels) {
    std::string names;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        names += (names.empty() ? "" : ", ") + std::string(channel.name());
    }
    return names.empty() ? "none" : names;
}

Bytes stored_pixel(const Imf::ChannelList& channels) {
    Bytes bytes = 0;
    for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
        bytes += channel.channel().type == Imf::HALF ? 2 : 4;
    }
    return bytes;
}

} // namespace sextant::format
