// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/row_source.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call.hpp"
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace sextant::python {

/// A regular file that is kept open between reads.
class KeptOpen;

/// The memory layout of the samples of frames.
struct Layout {
    std::vector<const std::byte*> frames = {};     ///< the first sample of each frame
    std::int64_t row = 0, column = 0, channel = 0; ///< strides in bytes
    bool swapped = false;                          ///< not in the byte order of this machine
};

/// A series of frames from Python: arrays, a function that returns one frame at a time, or files.
/// Each rank opens its own source.
class Frames {
  public:
    /// Frames in memory, read in place, with any strides and byte order. All arrays have the same
    /// shape and type: height, width and, if `channels` is set, channels.
    static Frames of_arrays(const pybind11::list& arrays, bool channels);
    /// A series in one array of frames, height, width and, if `channels` is set, channels.
    static Frames of_stack(const pybind11::array& stack, bool channels);
    /// Frames from a function: `read(frame, first, last)` returns rows [first, last) as arrays of
    /// this type. If `whole` is set, complete frames are read, and the last one is kept; otherwise
    /// only the required rows are read.
    static Frames of_reader(pybind11::function read, std::int64_t frames, std::int64_t height,
                            std::int64_t width, const pybind11::dtype& type, bool whole);
    /// Files, opened by format::open_frames.
    static Frames of_files(const std::string& name, const format::SourceOptions& options);

    const FrameHeader& header() const { return header_; }
    bool in_files() const { return in_files_; }
    /// Opens a source, on any thread, without the GIL. The call must outlive the source.
    std::unique_ptr<FrameSource> open(Call& call) const { return open_(header_, call); }
    /// Opens one frame as an image.
    std::unique_ptr<RowSource> image(Call& call, std::int64_t frame, ReadAs read_as) const {
        return std::make_unique<RowSource>(open(call), frame, read_as);
    }
    /// A view of a frame, or of all frames as a volume; nullopt if their samples cannot be used in
    /// place. The samples of a row must be contiguous and in the byte order of this machine.
    std::optional<kernel::ValueView> view(std::optional<std::int64_t> frame) const;
    /// Reads a frame as stored: height, width and, if there is more than one, channels.
    pybind11::array read(std::int64_t frame) const;
    /// Reads some frames into a C-contiguous array of frames with the type of the samples.
    void read_into(const std::vector<std::int64_t>& frames, const pybind11::array& out) const;
    /// Closes the file that is kept open between reads, if any.
    void close() const;

  private:
    void set_layout(Layout layout);
    void read_into(std::span<const std::int64_t> frames, std::span<std::byte> out) const;

    FrameHeader header_;
    std::shared_ptr<const Layout> layout_; ///< of frames in memory, otherwise null
    bool in_files_ = false;
    std::function<std::unique_ptr<FrameSource>(const FrameHeader& header, Call& call)> open_;
    std::vector<pybind11::object> kept_; ///< the objects that the sources refer to
    std::shared_ptr<const KeptOpen>
        kept_open_; ///< the file if it is a single regular file, otherwise null
};

pybind11::dtype type_of(Sample sample);
/// The sample type for a NumPy type, in any byte order. Throws WrongType if there is no such type.
Sample sample_of(const pybind11::dtype& type);
/// True if 32-bit floats cannot represent all samples of a type, so that results are f64.
bool exceeds_floats(Sample sample);
/// True if samples are not in the byte order of this machine.
bool is_swapped(const pybind11::dtype& type);

/// The destination of rows of a result: an array of `Value` whose rows are contiguous, a Python
/// function with the arguments plane, first row and rows, or nothing.
class RowSink {
  public:
    /// Requires  an array of planes, height, width, or a callable, or None.
    RowSink(const pybind11::object& out, std::int64_t value_size);

    /// Writes whole rows, on any thread, without the GIL.
    void write(Call& call, std::int64_t plane, std::int64_t first, std::span<const std::byte> rows,
               std::int64_t width, const char* type) const;
    /// Writes whole planes of a volume. A Python function receives the first plane's index and the
    /// planes.
    void write_planes(Call& call, std::int64_t first, std::span<const std::byte> planes,
                      ImageShape shape, const char* type) const;

    /// The memory of an array of 32-bit labels, if all rows of all planes have the same stride;
    /// otherwise null.
    kernel::LabelPlane label_plane(std::int64_t height, bool is_image) const;

  private:
    pybind11::object out_;
    std::int64_t value_size_ = 0;
    std::byte* data_ = nullptr;
    std::int64_t plane_bytes_ = 0, row_bytes_ = 0;
};

void bind_frames(pybind11::module_& module);

} // namespace sextant::python
