// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <exception>
#include <string>

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <fmt/format.h>

// Shared by readers and writers of flat and deep OpenEXR files.
namespace sextant::format {

/// A window with exclusive ends in 64 bits; the library's are inclusive ints.
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

/// The part of a file before its pixels.
struct ExrStart {
    Imf::Header header;
    bool deep = false;
    Bytes file_size = 0;
};

/// Checks the attributes before the library reads them, because it allocates as much memory as a
/// damaged length states. Throws InvalidFile, also for multi-image files, and what the library
/// throws.
ExrStart read_exr_start(const std::string& path);

/// Returns names such as "A, B, G, R".
std::string names_of(const Imf::ChannelList& channels);

/// Returns the stored bytes of one pixel or sample, over all channels of the file.
Bytes stored_pixel(const Imf::ChannelList& channels);

/// Runs `action` and converts the library's exceptions to InvalidFile.
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

/// A stream of the library that writes to an AtomicFile.
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

} // namespace sextant::format
