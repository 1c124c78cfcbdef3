// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/gzip.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace sextant::format {

/// True if a file begins with the signature of bzip2.
bool is_bzip2(const SourceFile& file);

/// Decompresses a file of bzip2, of one or more streams, as parallel programs write them. Bytes
/// after the last stream are ignored.
///
/// Cost      up to 4 MiB of memory.
class Bzip2Reader : public Decompressor {
  public:
    /// The file must outlive this object.
    explicit Bzip2Reader(const SourceFile& file);
    ~Bzip2Reader() override;

    Bytes read(std::span<std::byte> to) override;

  private:
    struct Stream; // hides bzlib.h
    bool fetch();

    const SourceFile* file_;
    Bytes position_ = 0;
    std::vector<std::byte> stored_;
    std::unique_ptr<Stream> stream_;
};

} // namespace sextant::format
