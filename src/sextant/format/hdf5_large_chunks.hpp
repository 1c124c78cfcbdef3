// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/hdf5_inflater.hpp"
#include "sextant/format/hdf5_storage.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace sextant::format {

/// Reads rows of a dataset whose chunks are too large to be held, beside what is stored of them: of
/// a chunk, the compressed bytes are kept.
class Hdf5LargeChunks {
  public:
    /// Whether a dataset is such a one. Its rows must be along its last axis.
    static bool has(const Hdf5Storage& storage);

    /// `dataset` and `storage` must outlive the result.
    Hdf5LargeChunks(const Hdf5Storage& storage, hid_t dataset, Pace pace);

    /// Reads the row that begins at `start`, as samples of a type in memory. Throws Error.
    void read_row(std::span<const hsize_t> start, hid_t type, std::span<std::byte> to);

  private:
    using Offset = std::vector<hsize_t>;
    Hdf5Inflater& chunk_at(const Offset& offset);

    const Hdf5Storage& storage_;
    hid_t dataset_;
    Hdf5Handle type_;
    Pace pace_;
    std::map<Offset, Hdf5Inflater> open_; ///< those of the last row
    std::vector<std::byte> row_;
};

} // namespace sextant::format
