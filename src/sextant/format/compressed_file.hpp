// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// True if a file begins with the signature of gzip.
bool is_gzip(const SourceFile& file);

/// Decompresses a file from its start.
class Decompressor {
  public:
    virtual ~Decompressor() = default;
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Reads until `to` is full or the compressed data end, also if they end too early. Returns the
    /// number of bytes read. Throws InvalidFile if the data are damaged.
    virtual Bytes read(std::span<std::byte> to) = 0;
    /// True if the end of the compressed data, with the last checksum, has been read.
    bool ended() const { return ended_; }

  protected:
    Decompressor() = default;
    bool ended_ = false;
};

/// Returns a decompressor for a file of gzip or bzip2, by its signature; null for other files. The
/// file must outlive it. Files may have several members (gzip) or streams (bzip2), as parallel
/// programs write them; bytes after the last one are ignored.
std::unique_ptr<Decompressor> open_decompressor(const SourceFile& file);

/// Throws InvalidFile if a file of gzip or bzip2 is damaged at its start. To be called if its first
/// decompressed bytes make no sense, because checksums are stored after them.
void check_compressed_start(const std::string& path);

/// Throws InvalidFile if `size` decompressed bytes cannot be expected in a compressed file: more
/// than 64 MiB, and more than 1032 times the size of the file, which is the most that gzip reaches.
void check_decompressed(const SourceFile& file, Bytes size);

/// The decompressed bytes of a file, in any order. They are decompressed up to the last one that is
/// requested, once, and kept in a scratch file: in the folder of the file, or if this is not
/// writable, in the folder for temporary files. The scratch file of another spool of the same file
/// is read as far as it goes, if there is one.
class Spool {
  public:
    /// `size`: the number of bytes that the file should have after decompression; further bytes are
    /// ignored.
    ///
    /// Requires  a file for which open_decompressor() has a decompressor.
    Spool(SourceFile file, Bytes size, const ScratchPlace& copy = {});

    const std::string& path() const { return file_->path(); }
    /// Throws InvalidFile if there are fewer bytes than `size`, or if they are damaged.
    void read(Bytes position, std::span<std::byte> to);
    /// Decompresses the first `end` bytes, and returns the position of the scratch file.
    ScratchPlace share(Bytes end);

  private:
    void spool(Bytes end);
    Bytes spool_piece();
    void check_end();

    std::unique_ptr<SourceFile> file_;
    Bytes size_, spooled_ = 0;
    std::unique_ptr<Decompressor> reader_;
    std::optional<ScratchFile> scratch_;
    bool is_own_ = true; ///< unless the scratch file is that of another spool
    std::exception_ptr
        damage_; ///< of the bytes after those that are spooled; null if none is found
    std::vector<std::byte> buffer_;
};

/// Returns a source of frames that are stored in a compressed file with the given layout.
std::unique_ptr<FrameSource> spooled_frames(FrameHeader header, Spool spool, StoredLayout layout);

/// Returns a sink that writes `start` and all samples as stored_sink does, compressed by gzip at
/// level 1. Its files are the same for the same samples.
std::unique_ptr<FrameSink> gzip_sink(const std::string& path, const FrameHeader& header,
                                     std::span<const std::byte> start);

} // namespace sextant::format
