// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/hdf5_conventions.hpp"
#include "sextant/format/hdf5_library.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/read_apart.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/stored_frames.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// No filter is believed to make more of a byte than this.
constexpr Bytes believable_ratio = Bytes{1} << 16;
constexpr Bytes least_cache = Bytes{1} << 20, most_cache = Bytes{1} << 28;

/// The lengths of a chunk along the axes; none where the dataset is in one piece.
std::vector<std::int64_t> chunk_of(hid_t dataset, std::size_t axes) {
    const Hdf5Handle created(H5Dget_create_plist(dataset), H5Pclose);
    if (!created || H5Pget_layout(created.id()) != H5D_CHUNKED)
        return {};
    std::vector<hsize_t> sides(axes);
    H5Pget_chunk(created.id(), static_cast<int>(axes), sides.data());
    return {sides.begin(), sides.end()};
}

/// Throws where a chunk could not come out of the file. Returns its bytes.
Bytes checked_chunk(const std::string& path, const std::vector<std::int64_t>& chunk, Bytes sample,
                    Bytes size_of_file) {
    Bytes bytes = sample;
    for (const std::int64_t side : chunk) {
        constexpr Bytes most = Bytes{1} << 32; // the library's own limit
        if (side < 1 || bytes > most / side)
            throw InvalidFile(path, "has chunks of more than 4 GiB: damaged");
        bytes *= side;
    }
    check_plausible(path, bytes, size_of_file, believable_ratio);
    return bytes;
}

/// What holds every chunk of a frame, so that reading its rows decodes each once.
Bytes wanted_cache(const Hdf5Series& series, const std::vector<std::int64_t>& chunk, Bytes bytes) {
    const auto pieces = [&](std::size_t axis) {
        return (series.dataset.sides[axis] + chunk[axis] - 1) / chunk[axis];
    };
    const double all = static_cast<double>(bytes) *
                       static_cast<double>(pieces(series.column_axis)) *
                       static_cast<double>(pieces(series.row_axis));
    return std::clamp(static_cast<Bytes>(std::min(all, 1e18)), least_cache, most_cache);
}

Hdf5Handle open_dataset(hid_t file, const std::string& path, const Hdf5Series& series) {
    const std::string& name = series.dataset.name;
    Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const auto chunk = chunk_of(dataset.id(), series.dataset.sides.size());
    if (chunk.empty())
        return dataset;
    const Bytes bytes =
        checked_chunk(path, chunk, size_of(*series.dataset.sample), SourceFile(path).size());
    const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    constexpr std::size_t slots = 10007; // a prime well above the number of chunks in the cache
    H5Pset_chunk_cache(access.id(), slots,
                       static_cast<std::size_t>(wanted_cache(series, chunk, bytes)),
                       H5D_CHUNK_CACHE_W0_DEFAULT);
    return {H5Dopen2(file, name.c_str(), access.id()), H5Dclose};
}

hid_t type_in_memory(Sample sample) {
    switch (sample) {
    case Sample::u8:
        return H5T_NATIVE_UINT8;
    case Sample::i8:
        return H5T_NATIVE_INT8;
    case Sample::u16:
        return H5T_NATIVE_UINT16;
    case Sample::i16:
        return H5T_NATIVE_INT16;
    case Sample::u32:
        return H5T_NATIVE_UINT32;
    case Sample::i32:
        return H5T_NATIVE_INT32;
    case Sample::u64:
        return H5T_NATIVE_UINT64;
    case Sample::i64:
        return H5T_NATIVE_INT64;
    case Sample::f64:
        return H5T_NATIVE_DOUBLE;
    default:
        return H5T_NATIVE_FLOAT;
    }
}

class Hdf5Frames : public FrameSource {
  public:
    Hdf5Frames(const std::string& path, FrameHeader header, Hdf5Series series, Hdf5Handle file,
               Hdf5Handle dataset)
        : FrameSource(path, std::move(header)),
          series_(std::move(series)),
          file_(std::move(file)),
          dataset_(std::move(dataset)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const std::size_t axes = series_.dataset.sides.size();
        std::vector<hsize_t> start(axes), count(axes, 1);
        std::int64_t left = frame; // the last axis of frames runs fastest
        for (std::size_t axis = axes; axis-- > 0;) {
            if (axis == series_.row_axis || axis == series_.column_axis)
                continue;
            start[axis] = static_cast<hsize_t>(left % series_.dataset.sides[axis]);
            left /= series_.dataset.sides[axis];
        }
        start[series_.row_axis] = static_cast<hsize_t>(rows.first);
        count[series_.row_axis] = static_cast<hsize_t>(rows.count());
        count[series_.column_axis] = static_cast<hsize_t>(header().shape.width);
        const Hdf5Handle from(H5Dget_space(dataset_.id()), H5Sclose);
        const auto elements = static_cast<hsize_t>(rows.count() * header().shape.width);
        const Hdf5Handle memory(H5Screate_simple(1, &elements, nullptr), H5Sclose);
        if (H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr) < 0 ||
            H5Dread(dataset_.id(), type_in_memory(header().sample), memory.id(), from.id(),
                    H5P_DEFAULT, to.data()) < 0) {
            throw InvalidFile(path(),
                              fmt::format("frame {} cannot be read: {}", frame, hdf5_complaint()));
        }
    }

    Hdf5Series series_;
    Hdf5Handle file_, dataset_;
};

FrameHeader header_of(const std::string& path, const Hdf5Series& series) {
    const std::vector<std::int64_t>& sides = series.dataset.sides;
    FrameHeader header;
    header.shape = {sides[series.column_axis], sides[series.row_axis]};
    header.sample = *series.dataset.sample;
    header.frames = 1;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
        if (axis == series.row_axis || axis == series.column_axis)
            continue;
        constexpr std::int64_t most = std::int64_t{1} << 40;
        if (sides[axis] < 0 || header.frames * std::max<std::int64_t>(1, sides[axis]) > most ||
            sides[axis] > most)
            throw InvalidFile(path, "has more frames than can be believed: damaged");
        header.frames *= sides[axis];
    }
    checked_frames(path, header);
    return header;
}

std::unique_ptr<FrameSource> open_here(const std::string& path, const std::string& detail) {
    const Bytes size = SourceFile(path).size(); // a wrong path is the first thing to say
    Hdf5Handle file = open_hdf5_file(path);
    std::vector<std::string> remarks;
    Hdf5Series series = find_hdf5_series(file.id(), path, detail, remarks);
    FrameHeader header = header_of(path, series);
    header.remarks = std::move(remarks);
    header.pixel = believable(series.pixel, header.remarks);
    check_plausible(path, header.shape.elements() * size_of(header.sample), size, believable_ratio);
    Hdf5Handle dataset = open_dataset(file.id(), path, series);
    if (!dataset)
        throw InvalidFile(path, "cannot be read as HDF5: " + hdf5_complaint());
    return std::make_unique<Hdf5Frames>(path, std::move(header), std::move(series), std::move(file),
                                        std::move(dataset));
}

} // namespace

std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const std::string& detail,
                                       const SourceOptions&) {
    return read_apart(path, [=](const Pace&) { return open_here(path, detail); });
}

} // namespace sextant::format
