// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/read_apart.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <zlib.h>

namespace sextant::format {

/// A deflated chunk of HDF5 that is too large to be decoded as a whole: gives its samples in order
/// and keeps none. If its bytes are shuffled (first the first bytes of all samples, then the second
/// ones), each of them has a decoder of its own.
///
/// Cost      the chunk is decoded from its start on; shuffled, up to each byte's place again, and
///           again from the start for samples in front of the last ones that were read.
class Hdf5Inflater {
  public:
    /// `pace` is called now and then.
    Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size, bool shuffled,
                 Pace pace);

    /// Reads samples as they are stored, from number `first` on. Throws Error for damaged data.
    void read(Elements first, std::span<std::byte> to);

  private:
    struct End {
        void operator()(z_stream* stream) const;
    };
    /// A decoder, and how many bytes came out of it.
    struct Decoder {
        std::unique_ptr<z_stream, End> stream;
        Bytes position = 0;
    };

    void restart(Decoder& decoder);
    void inflate(Decoder& decoder, std::span<std::byte> to);
    void go_to(Decoder& decoder, Bytes position);

    std::vector<std::byte> stored_;
    Elements samples_;
    std::size_t size_;
    Pace pace_;
    std::vector<Decoder> decoders_; ///< one, or one for each byte of a sample
    std::vector<std::byte> passed_, bytes_;
    Bytes since_ = 0; ///< decoded since `pace_` was called
};

} // namespace sextant::format
