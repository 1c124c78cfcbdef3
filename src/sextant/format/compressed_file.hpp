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

/// Decompresses a file sequentially, from its start.
class Decompressor {
  public:
    virtual ~Decompressor() = default;
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Reads until `to` is full or the compressed data end, even if they are truncated. Returns the
    /// number of bytes read. Throws InvalidFile if the data are damaged.
    virtual Bytes read(std::span<std::byte> to) = 0;
    /// True if the end of the compressed data, including the last checksum, has been read.
    bool ended() const { return ended_; }

  protected:
    Decompressor() = default;
    bool ended_ = false;
};

/// Returns a decompressor for a gzip or bzip2 file, which is recognised by its signature; null for
/// other files. The file must outlive the decompressor. Parallel compressors write several members
/// (gzip) or streams (bzip2); all of them are decompressed. Bytes after the last one are ignored.
std::unique_ptr<Decompressor> open_decompressor(const SourceFile& file);

/// Throws InvalidFile if a gzip or bzip2 file is damaged at its start. Call this function if the
/// first decompressed bytes make no sense: the decoder reaches the checksums only later.
void check_compressed_start(const std::string& path);

/// Throws InvalidFile if `size` is implausible for the decompressed bytes of a file: more than 64
/// MiB, and more than 1032 times the size of the file, the highest compression ratio of gzip.
void check_decompressed(const SourceFile& file, Bytes size);

/// Random access to the decompressed bytes of a file. A Spool decompresses the file once, up to the
/// last byte that is requested, and keeps the bytes in a scratch file. The scratch file is in the
/// folder of the compressed file or, if that folder is not writable, in the folder for temporary
/// files. If another Spool of the same file has a scratch file, bytes that this file already
/// contains are read from it.
class Spool {
  public:
    /// `size` is the number of bytes that the file should have after decompression; further bytes
    /// are ignored. `copy` is the scratch file of another Spool, if there is one.
    ///
    /// Requires  a file for which open_decompressor() returns a decompressor.
    Spool(SourceFile file, Bytes size, const ScratchPlace& copy = {});

    const std::string& path() const { return file_->path(); }
    /// Throws InvalidFile if the requested bytes are damaged, or if the file has fewer bytes than
    /// `size`.
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
    bool is_own_ = true;        ///< false if the scratch file belongs to another Spool
    std::exception_ptr damage_; ///< the error after the spooled bytes; null if none was found
    std::vector<std::byte> buffer_;
};

/// Returns a source of frames that a compressed file stores in the given layout.
std::unique_ptr<FrameSource> spooled_frames(FrameHeader header, Spool spool, StoredLayout layout);

/// Returns a sink that writes the same bytes as stored_sink(), compressed by gzip at level 1. The
/// same samples give the same file.
std::unique_ptr<FrameSink> gzip_sink(const std::string& path, const FrameHeader& header,
                                     std::span<const std::byte> start);

} // namespace sextant::format
