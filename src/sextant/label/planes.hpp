// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/row_source.hpp"
#include "sextant/kernel/label/bodies.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// In this layer, an image is a volume whose planes are its rows (kernel::VolumeShape::of_rows).
namespace sextant::label {

/// Planes of a volume that are read on demand, several successive planes at a time.
class Planes {
  public:
    virtual ~Planes() = default;
    Planes(const Planes&) = delete;
    Planes& operator=(const Planes&) = delete;

    virtual const kernel::VolumeShape& shape() const = 0;
    /// The number of planes in a chunk of the file.
    virtual Elements planes_per_chunk() const { return 1; }
    /// Bytes per voxel in memory.
    virtual Bytes bytes_per_voxel() const = 0;
    /// Reads planes, which replace those read before. Returns the number of NaN samples that were
    /// converted to other values.
    virtual Elements read(Elements first, Elements count) = 0;
    /// A view of planes that have been read; `first` is relative to the first of them.
    virtual kernel::ValueView view(Elements first, Elements count) const = 0;
    /// The number that was added to each sample to make it unsigned.
    virtual std::uint64_t offset() const { return 0; }

  protected:
    Planes() = default;
};

/// Planes of a volume, read from the frames of a series, or the rows of one frame. Samples are
/// converted to a type that kernels accept: f16 becomes f32. For comparison, signed integers keep
/// their bit patterns; for computation, those of up to 16 bits become f32, of 32 bits f64, and of
/// 64 bits u64 with an offset.
class FramePlanes final : public Planes {
  public:
    enum class Use { comparison, computation };

    /// `frame`: use this frame as an image; empty: use all frames as planes.
    /// Throws InvalidTask unless the series is grey and not empty.
    FramePlanes(FrameSource& source, Use use, std::optional<std::int64_t> frame = {});

    const kernel::VolumeShape& shape() const override { return shape_; }
    Elements planes_per_chunk() const override {
        return frame_ ? 1 : source_.header().frames_per_chunk;
    }
    Bytes bytes_per_voxel() const override;
    Elements read(Elements first, Elements count) override;
    std::uint64_t offset() const override {
        return stored_ == Sample::i64 && use_ == Use::computation ? std::uint64_t{1} << 63 : 0;
    }
    kernel::ValueView view(Elements first, Elements count) const override;

  private:
    void read_rows(std::int64_t frame, const Rows& rows, std::byte* to);

    FrameSource& source_;
    Use use_;
    std::optional<std::int64_t> frame_;
    kernel::VolumeShape shape_;
    Sample stored_, kept_; // types in the file and in memory
    Memory planes_;
    std::vector<std::byte> plane_; // as stored, before conversion
};

/// The rows of an image, read for comparison. The image's channels may be packed.
class ImageRows final : public Planes {
  public:
    /// Throws InvalidTask for an empty image and, if pixels are connected by value, for a colour
    /// image in which different colours may have the same luminance.
    ImageRows(RowSource& source, bool by_value);

    const kernel::VolumeShape& shape() const override { return shape_; }
    Bytes bytes_per_voxel() const override { return source_.element().size; }
    Elements read(Elements first, Elements count) override;
    kernel::ValueView view(Elements first, Elements count) const override;

  private:
    RowSource& source_;
    kernel::VolumeShape shape_;
    Memory rows_;
};

/// An image or volume in memory, which is not copied.
class ArrayPlanes final : public Planes {
  public:
    /// Throws InvalidTask if the array is empty.
    ArrayPlanes(const kernel::ValueView& array, bool is_image);

    const kernel::VolumeShape& shape() const override { return shape_; }
    /// The same as if samples were copied, so that slabs have the same size as for other sources.
    Bytes bytes_per_voxel() const override;
    Elements read(Elements first, Elements) override {
        first_ = first;
        return 0;
    }
    kernel::ValueView view(Elements first, Elements count) const override;

  private:
    kernel::ValueView array_;
    kernel::VolumeShape shape_;
    Elements first_ = 0; // the first plane that was read
};

/// Planes of bytes, 0 or 1, that are computed from other planes.
class BitPlanes : public Planes {
  public:
    explicit BitPlanes(const kernel::VolumeShape& shape) : shape_(shape) {}

    const kernel::VolumeShape& shape() const final { return shape_; }
    kernel::ValueView view(Elements first, Elements count) const final;

  protected:
    /// Room for the bytes of planes.
    std::span<std::uint8_t> room(Elements planes);

  private:
    kernel::VolumeShape shape_;
    Memory planes_;
};

/// Planes with 1 where the samples of other planes are 0 or NaN, and 0 elsewhere.
class BackgroundPlanes final : public BitPlanes {
  public:
    /// Keeps a reference to `planes`.
    explicit BackgroundPlanes(Planes& planes) : BitPlanes(planes.shape()), planes_(planes) {}

    Elements planes_per_chunk() const override { return planes_.planes_per_chunk(); }
    Bytes bytes_per_voxel() const override { return planes_.bytes_per_voxel() + 1; }
    Elements read(Elements first, Elements count) override;

  private:
    Planes& planes_;
};

} // namespace sextant::label
