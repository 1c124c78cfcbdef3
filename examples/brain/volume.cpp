// SPDX-License-Identifier: BSD-3-Clause
#include "volume.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nifti1_io.h>

namespace brain {

namespace {

using Imath::V3d;
using sextant::InvalidFile;

struct Free {
    void operator()(nifti_image* image) const { nifti_image_free(image); }
    void operator()(nifti_1_header* header) const { std::free(header); }
    void operator()(znzptr* stream) const { znzclose(stream); }
};
using Nifti = std::unique_ptr<nifti_image, Free>;

Nifti read_header(const std::string& path) {
    if (!std::filesystem::is_regular_file(path))
        throw InvalidFile(path, "does not exist or is not a file");
    nifti_set_debug_level(0); // errors are reported by exceptions instead
    const auto refused = InvalidFile(path, "is not NIfTI-1, or its header is damaged");
    if (is_nifti_file(path.c_str()) < 1)
        throw refused;
    const std::unique_ptr<nifti_1_header, Free> raw(nifti_read_header(path.c_str(), nullptr, 0));
    if (!raw || !nifti_hdr_looks_good(raw.get()))
        throw refused;
    Nifti file(nifti_image_read(path.c_str(), 0));
    if (!file)
        throw refused;
    return file;
}

void check_header(const std::string& path, const nifti_image& file) {
    if (std::max({file.nt, file.nu, file.nv, file.nw}) > 1) {
        throw InvalidFile(path, fmt::format("has {} dimensions, expected 3", file.ndim));
    }
    if (std::min({file.nx, file.ny, file.nz}) < 2) {
        throw InvalidFile(path, fmt::format("has {}x{}x{} voxels, expected at least 2x2x2", file.nx,
                                            file.ny, file.nz));
    }
    const auto [least, greatest] = std::minmax({file.dx, file.dy, file.dz});
    if (!(least > 0) || !(greatest <= 100 * least)) {
        throw InvalidFile(path, fmt::format("has voxels of {}x{}x{}, expected positive lengths of "
                                            "similar size",
                                            file.dx, file.dy, file.dz));
    }
}

/// Throws if the file is too short for the voxels in its header, before memory is allocated.
void check_length(const nifti_image& file) {
    const std::string pixels = file.iname;
    std::error_code missing;
    const auto length = std::filesystem::file_size(pixels, missing);
    if (missing)
        throw InvalidFile(pixels, "cannot be read: " + missing.message());
    const std::int64_t voxels = std::int64_t{file.nx} * file.ny * file.nz * file.nbyper;
    const std::int64_t ratio = nifti_is_gzfile(file.iname) ? 1032 : 1; // at most, by deflate
    if (voxels / ratio > static_cast<std::int64_t>(length))
        throw InvalidFile(pixels, fmt::format("has {} bytes, too few for the {} bytes of voxels "
                                              "that its header claims: damaged or truncated",
                                              length, voxels));
}

template <class Raw>
std::vector<double> converted(const void* voxels, std::size_t count) {
    const auto* const raw = static_cast<const Raw*>(voxels);
    return {raw, raw + count};
}

std::vector<double> converted(const std::string& path, const nifti_image& file,
                              const void* voxels) {
    const auto count = static_cast<std::size_t>(file.nvox);
    switch (file.datatype) {
    case DT_UINT8:
        return converted<std::uint8_t>(voxels, count);
    case DT_INT8:
        return converted<std::int8_t>(voxels, count);
    case DT_UINT16:
        return converted<std::uint16_t>(voxels, count);
    case DT_INT16:
        return converted<std::int16_t>(voxels, count);
    case DT_UINT32:
        return converted<std::uint32_t>(voxels, count);
    case DT_INT32:
        return converted<std::int32_t>(voxels, count);
    case DT_FLOAT32:
        return converted<float>(voxels, count);
    case DT_FLOAT64:
        return converted<double>(voxels, count);
    default:
        break;
    }
    throw InvalidFile(path, fmt::format("has voxels of type {}, expected integers of up to 32 bits "
                                        "or real numbers of 32 or 64",
                                        nifti_datatype_to_string(file.datatype)));
}

std::vector<double> read_voxels(const std::string& path, nifti_image& file) {
    check_length(file);
    // nifti_image_load is not used because it accepts truncated files.
    std::vector<char> raw(nifti_get_volsize(&file));
    const std::unique_ptr<znzptr, Free> stream(
        znzopen(file.iname, "rb", nifti_is_gzfile(file.iname)));
    if (!stream || znzseek(stream.get(), file.iname_offset, SEEK_SET) < 0 ||
        nifti_read_buffer(stream.get(), raw.data(), raw.size(), &file) != raw.size()) {
        throw InvalidFile(path, fmt::format("ends before the last of its {} voxels", file.nvox));
    }
    return converted(path, file, raw.data());
}

/// The eight voxels around a position, and along each axis the weight of the far ones.
struct Cell {
    int first[3];
    float weight[3];
    const float* corner;
    std::ptrdiff_t row, slice;
};

Cell cell_at(const Volume& volume, const V3d& position) {
    Cell cell{{}, {}, nullptr, volume.size.x, std::ptrdiff_t{volume.size.x} * volume.size.y};
    for (int axis = 0; axis < 3; ++axis) {
        const double inside = std::clamp(position[axis], 0.0, volume.size[axis] - 1.0);
        cell.first[axis] = std::min(static_cast<int>(inside), volume.size[axis] - 2);
        cell.weight[axis] = static_cast<float>(inside - cell.first[axis]);
    }
    cell.corner = volume.values.data() + cell.first[0] + cell.first[1] * cell.row +
                  cell.first[2] * cell.slice;
    return cell;
}

/// The density at the cell's position, shifted by this number of voxels in memory.
float interpolated(const Cell& cell, std::ptrdiff_t shift) {
    const auto along_x = [&](std::ptrdiff_t i) {
        const float* const voxel = cell.corner + shift + i;
        return voxel[0] + cell.weight[0] * (voxel[1] - voxel[0]);
    };
    const auto along_y = [&](std::ptrdiff_t i) {
        const float near = along_x(i);
        return near + cell.weight[1] * (along_x(i + cell.row) - near);
    };
    const float near = along_y(0);
    return near + cell.weight[2] * (along_y(cell.slice) - near);
}

/// Writes, for each of `count` voxels `stride` apart, the mean over its 2 radius + 1 neighbours.
void blur_row(const float* from, float* to, int count, std::ptrdiff_t stride, int radius) {
    const auto at = [&](int i) { return from[std::clamp(i, 0, count - 1) * stride]; };
    float sum = 0;
    for (int i = -radius; i <= radius; ++i)
        sum += at(i);
    for (int i = 0; i < count; ++i) {
        to[i * stride] = sum / static_cast<float>(2 * radius + 1);
        sum += at(i + radius + 1) - at(i - radius);
    }
}

} // namespace

Volume read_volume(const std::string& path) {
    const Nifti file = read_header(path);
    check_header(path, *file);
    const auto voxels = read_voxels(path, *file);
    const auto [least, greatest] = std::minmax_element(voxels.begin(), voxels.end());
    const double range = *greatest - *least;
    if (!(range > 0) || !std::isfinite(range)) {
        throw InvalidFile(path, fmt::format("has values from {} to {}, expected a finite range",
                                            *least, *greatest));
    }
    const V3d spacing(file->dx, file->dy, file->dz);
    Volume volume{{file->nx, file->ny, file->nz},
                  spacing / std::min({spacing.x, spacing.y, spacing.z}),
                  std::vector<float>(voxels.size())};
    std::transform(voxels.begin(), voxels.end(), volume.values.begin(),
                   [&](double voxel) { return static_cast<float>((voxel - *least) / range); });
    return volume;
}

Volume blurred(Volume volume, int radius) {
    const auto row = std::ptrdiff_t{volume.size.x}, slice = row * volume.size.y;
    const std::ptrdiff_t strides[3] = {1, row, slice};
    for (int axis = 0; axis < 3; ++axis) {
        const auto from = volume.values;
        const int across = (axis + 1) % 3, along = (axis + 2) % 3;
        for (int j = 0; j < volume.size[along]; ++j) {
            for (int i = 0; i < volume.size[across]; ++i) {
                const auto start = i * strides[across] + j * strides[along];
                blur_row(from.data() + start, volume.values.data() + start, volume.size[axis],
                         strides[axis], radius);
            }
        }
    }
    return volume;
}

float Volume::at(const V3d& position) const {
    return interpolated(cell_at(*this, position), 0);
}

V3d Volume::gradient(const V3d& position) const {
    const Cell cell = cell_at(*this, position);
    const auto row = std::ptrdiff_t{size.x}, slice = row * size.y;
    const std::ptrdiff_t strides[3] = {1, row, slice};
    V3d slope;
    for (int axis = 0; axis < 3; ++axis) { // differences are one-sided at the border
        const int back = cell.first[axis] > 0 ? 1 : 0;
        const int forth = cell.first[axis] < size[axis] - 2 ? 1 : 0;
        const float difference =
            interpolated(cell, forth * strides[axis]) - interpolated(cell, -back * strides[axis]);
        slope[axis] = difference / (std::max(1, back + forth) * spacing[axis]);
    }
    return slope;
}

} // namespace brain
