// SPDX-License-Identifier: BSD-3-Clause
#include "frames.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/referred_files.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "errors.hpp"
#include "options.hpp"
#include "text.hpp"
#include <fmt/format.h>
#include <pthread.h>
#include <pybind11/stl.h>
#include <sys/stat.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

std::string text_of(py::handle value) {
    return utf8_of(py::str(value));
}

/// Copies `rows` x `columns` samples with strides in bytes; the strides of `to` are multiples of
/// the sample size. Copies squares of a few cache lines, because either stride of `from` may be
/// large.
template <std::size_t Size>
void copy_samples(const std::byte* from, std::int64_t row, std::int64_t column, std::int64_t rows,
                  std::int64_t columns, std::byte* to, std::int64_t to_row) {
    constexpr std::int64_t side = 16;
    for (std::int64_t y0 = 0; y0 < rows; y0 += side) {
        const std::int64_t y1 = std::min(y0 + side, rows);
        for (std::int64_t x0 = 0; x0 < columns; x0 += side) {
            const std::int64_t x1 = std::min(x0 + side, columns);
            for (std::int64_t y = y0; y < y1; ++y) {
                for (std::int64_t x = x0; x < x1; ++x)
                    std::memcpy(to + y * to_row + x * static_cast<std::int64_t>(Size),
                                from + y * row + x * column, Size);
            }
        }
    }
}

auto copy_samples_of(std::size_t size) {
    return size == 1   ? &copy_samples<1>
           : size == 2 ? &copy_samples<2>
           : size == 4 ? &copy_samples<4>
                       : &copy_samples<8>;
}

/// Frames in the memory of arrays.
class ArrayFrames : public FrameFile {
  public:
    ArrayFrames(FrameHeader header, std::shared_ptr<const Layout> layout)
        : FrameFile("array", std::move(header)), shared_(std::move(layout)), layout_(*shared_) {}

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) const {
        const auto size = static_cast<std::size_t>(size_of(header().sample));
        const auto width = header().shape.width, channels = std::int64_t{header().channels};
        const auto row_bytes = this->row_bytes();
        const std::byte* from =
            layout_.frames[static_cast<std::size_t>(frame)] + rows.first * layout_.row;
        const bool dense_pixels =
            channels == 1 || layout_.channel == static_cast<std::int64_t>(size);
        const bool dense_rows =
            dense_pixels && layout_.column == channels * static_cast<std::int64_t>(size);
        const std::int64_t count = rows.count();
        const auto copy = copy_samples_of(size);
        if (dense_rows && layout_.row == row_bytes) {
            std::memcpy(to.data(), from, to.size());
        } else if (dense_rows) {
            for (std::int64_t y = 0; y < count; ++y)
                std::memcpy(to.data() + y * row_bytes, from + y * layout_.row,
                            static_cast<std::size_t>(row_bytes));
        } else if (channels == 1) {
            copy(from, layout_.row, layout_.column, count, width, to.data(), row_bytes);
        } else {
            for (std::int64_t y = 0; y < count; ++y)
                copy(from + y * layout_.row, layout_.column, layout_.channel, width, channels,
                     to.data() + y * row_bytes, channels * static_cast<std::int64_t>(size));
        }
        if (layout_.swapped)
            swap_bytes(header().sample, to);
    }

  private:
    const std::shared_ptr<const Layout> shared_;
    const Layout& layout_;
};

/// Frames that a Python function returns. If the function returns whole frames, the last one is
/// kept, because frames are often read in several parts.
class ReaderFrames : public FrameFile {
  public:
    ReaderFrames(FrameHeader header, py::handle read, bool whole, Call& call)
        : FrameFile("series", std::move(header)), read_(read), whole_(whole), call_(call) {}

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (!whole_)
            return fetch(frame, rows, to);
        if (frame != kept_) {
            const Rows all{0, header().shape.height};
            kept_ = -1;
            samples_.resize(static_cast<std::size_t>(all.last * row_bytes()));
            fetch(frame, all, samples_);
            kept_ = frame;
        }
        std::memcpy(to.data(), samples_.data() + rows.first * row_bytes(), to.size());
    }

  private:
    void fetch(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        call_.python([&] {
            const py::array array = read_(frame, rows.first, rows.last);
            if (array.ndim() != 2 || array.shape(0) != rows.count() ||
                array.shape(1) != header().shape.width ||
                sample_of(array.dtype()) != header().sample || is_swapped(array.dtype()) ||
                !(array.flags() & py::array::c_style))
                throw InvalidFile(
                    "series",
                    fmt::format("frame {} has shape {} and type {}, expected ({}, {}) and {}",
                                frame, text_of(array.attr("shape")), text_of(array.dtype()),
                                rows.count(), header().shape.width, name(header().sample)));
            std::memcpy(to.data(), array.data(), to.size());
        });
    }

    py::handle read_; // the Frames object keeps it alive
    const bool whole_;
    Call& call_;
    std::int64_t kept_ = -1;
    std::vector<std::byte> samples_;
};

/// The header and layout of arrays of height, width and, if any, channels.
FrameHeader header_of(const py::array& array, int first_axis, bool channels, Layout& layout) {
    FrameHeader header;
    header.sample = sample_of(array.dtype());
    header.shape = {array.shape(first_axis + 1), array.shape(first_axis)};
    header.channels = channels ? static_cast<int>(array.shape(first_axis + 2)) : 1;
    layout.row = array.strides(first_axis);
    layout.column = array.strides(first_axis + 1);
    layout.channel = channels ? array.strides(first_axis + 2) : 0;
    layout.swapped = is_swapped(array.dtype());
    return header;
}

/// Opens files. Errors name the keyword instead of the command-line option.
std::unique_ptr<FrameSource> open_files(const std::string& name,
                                        const format::SourceOptions& options) {
    try {
        return format::open_frames(name, options);
    } catch (const InvalidFile& error) {
        constexpr std::string_view option = "--allow-external";
        std::string text = error.what();
        const auto at = text.find(option);
        if (at == text.npos)
            throw;
        text.replace(at, option.size(), "allow_external=True");
        throw InvalidFile(error.path(), text.substr(error.path().size() + 2));
    }
}

/// The state of a file, used to detect later changes.
struct FileState {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified = 0, changed = 0; ///< nanoseconds

    bool operator==(const FileState&) const = default;
};

/// Returns the state of a regular file; nullopt for anything else.
std::optional<FileState> state_of(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
        return std::nullopt;
    const auto nanoseconds = [](const timespec& time) {
        constexpr std::int64_t per_second = 1000000000;
        return time.tv_sec * per_second + time.tv_nsec;
    };
    return FileState{found.st_dev, found.st_ino, found.st_size, nanoseconds(found.st_mtim),
                     nanoseconds(found.st_ctim)};
}

/// A cache of open sources for all series, most recently used first. A source is taken out while a
/// thread reads it, so threads that read the same series use different sources. A forked process
/// does not use its parent's sources, because both would share the process that reads HDF5.
class OpenSources {
  public:
    static OpenSources& all() {
        static OpenSources sources;
        return sources;
    }

    /// Takes out a source for a file in this state; null if there is none.
    std::unique_ptr<FrameSource> take(const KeptOpen* of, const FileState& state) {
        std::list<Entry> taken = extract([&](const Entry& entry) { return entry.of == of; }, 1);
        if (taken.empty() || taken.front().state != state)
            return nullptr;
        return std::move(taken.front().source);
    }

    void put(const KeptOpen* of, const FileState& state, std::unique_ptr<FrameSource> source) {
        std::list<Entry> closed; // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        entries_.push_front({of, state, std::move(source)});
        if (entries_.size() > most)
            closed.splice(closed.end(), entries_, std::prev(entries_.end()));
    }

    void close(const KeptOpen* of) {
        extract([&](const Entry& entry) { return entry.of == of; }, most);
    }

  private:
    static constexpr std::size_t most = 16; ///< limits open files, and processes that read HDF5

    struct Entry {
        const KeptOpen* of;
        FileState state;
        std::unique_ptr<FrameSource> source;
    };

    OpenSources() {
        pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                       [] { all().forget(); });
    }

    template <class Predicate>
    std::list<Entry> extract(const Predicate& matches, std::size_t count) {
        std::list<Entry> found;
        const std::lock_guard lock(mutex_);
        for (auto at = entries_.begin(); at != entries_.end() && found.size() < count;) {
            const auto next = std::next(at);
            if (matches(*at))
                found.splice(found.end(), entries_, at);
            at = next;
        }
        return found;
    }

    /// In a fork, abandons the parent's sources without ending the parent's processes.
    void forget() {
        for (Entry& entry : entries_)
            static_cast<void>(entry.source.release());
        entries_.clear();
        mutex_.unlock();
    }

    std::mutex mutex_;
    std::list<Entry> entries_; ///< most recently used first
};

void check(const FrameHeader& header) {
    if (header.shape.elements() == 0 || header.frames == 0)
        throw InvalidTask("the array is empty");
    if (header.channels < 1 || header.channels > 4)
        throw InvalidTask(
            fmt::format("{} channels, expected 1 to 4 along the last axis", header.channels));
}

} // namespace

class KeptOpen {
  public:
    explicit KeptOpen(std::string path) : path_(std::move(path)) {}
    KeptOpen(const KeptOpen&) = delete;
    KeptOpen& operator=(const KeptOpen&) = delete;
    ~KeptOpen() { close(); }

    void close() const { OpenSources::all().close(this); }

    /// Calls read(source) with the open file. Reopens the file if it has changed, and closes it if
    /// `read` throws.
    template <class Open, class Read>
    void use(const Open& open, const Read& read) const {
        const std::optional<FileState> state = state_of(path_);
        std::unique_ptr<FrameSource> source;
        if (state)
            source = OpenSources::all().take(this, *state);
        if (!source)
            source = open();
        read(*source);
        if (state)
            OpenSources::all().put(this, *state, std::move(source));
    }

  private:
    std::string path_;
};

Sample sample_of(const py::dtype& type) {
    if (type.kind() == 'b')
        return Sample::u8;
    if (const auto sample = sextant::sample_of(type.kind(), 8 * type.itemsize()))
        return *sample;
    throw WrongType(fmt::format("samples of type {}, expected integers or floating-point numbers "
                                "of up to 64 bits",
                                text_of(type)));
}

bool exceeds_floats(Sample sample) {
    return size_of(sample) >= 4 && sample != Sample::f32;
}

bool is_swapped(const py::dtype& type) {
    return !type.attr("isnative").cast<bool>();
}

py::dtype type_of(Sample sample) {
    std::optional<py::dtype> type;
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>)
            type = py::dtype::of<T>();
    });
    if (type)
        return *std::move(type);
    std::string text(name(sample)); // "f16", in NumPy "f2"
    const int bytes = std::stoi(text.substr(1)) / 8;
    return py::dtype(text.substr(0, 1) + std::to_string(bytes));
}

Frames Frames::of_arrays(const py::list& arrays, bool channels) {
    Frames frames;
    std::vector<Layout> layouts;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto array = arrays[i].cast<py::array>();
        if (array.ndim() != (channels ? 3 : 2))
            throw InvalidTask(fmt::format("frame {} has {} axes, expected {}", i, array.ndim(),
                                          channels ? 3 : 2));
        Layout& layout = layouts.emplace_back();
        const FrameHeader header = header_of(array, 0, channels, layout);
        if (i == 0)
            frames.header_ = header;
        else if (header.shape != frames.header_.shape ||
                 header.channels != frames.header_.channels ||
                 header.sample != frames.header_.sample)
            throw InvalidTask(
                fmt::format("frame {} is {}x{} of {}, expected {}x{} of {} as in frame 0", i,
                            header.shape.width, header.shape.height, name(header.sample),
                            frames.header_.shape.width, frames.header_.shape.height,
                            name(frames.header_.sample)));
        layout.frames = {static_cast<const std::byte*>(array.data())};
        frames.kept_.push_back(array);
    }
    frames.header_.frames = std::ssize(layouts);
    check(frames.header_);
    // Arrays may have different strides, so each frame has its own layout.
    const bool alike = std::all_of(layouts.begin(), layouts.end(), [&](const Layout& each) {
        return each.row == layouts[0].row && each.column == layouts[0].column &&
               each.channel == layouts[0].channel && each.swapped == layouts[0].swapped;
    });
    if (!alike)
        throw std::logic_error("the frames have different strides");
    Layout all = layouts[0];
    all.frames.clear();
    for (const Layout& each : layouts)
        all.frames.push_back(each.frames[0]);
    frames.set_layout(std::move(all));
    return frames;
}

Frames Frames::of_stack(const py::array& stack, bool channels) {
    if (stack.ndim() != (channels ? 4 : 3))
        throw std::logic_error("a stack must have three axes, or four with channels");
    Frames frames;
    Layout layout;
    frames.header_ = header_of(stack, 1, channels, layout);
    frames.header_.frames = stack.shape(0);
    check(frames.header_);
    for (std::int64_t i = 0; i < frames.header_.frames; ++i)
        layout.frames.push_back(static_cast<const std::byte*>(stack.data()) + i * stack.strides(0));
    frames.kept_.push_back(stack);
    frames.set_layout(std::move(layout));
    return frames;
}

void Frames::set_layout(Layout layout) {
    layout_ = std::make_shared<const Layout>(std::move(layout));
    open_ = [layout = layout_](const FrameHeader& header, Call&) {
        return frames_of(std::make_unique<ArrayFrames>(header, layout));
    };
}

std::optional<kernel::ValueView> Frames::view(std::optional<std::int64_t> frame) const {
    if (!layout_ || layout_->swapped || header_.channels != 1 || header_.sample == Sample::f16)
        return std::nullopt;
    const std::vector<const std::byte*>& frames = layout_->frames;
    const std::byte* const first = frames[static_cast<std::size_t>(frame.value_or(0))];
    const std::int64_t size = size_of(header_.sample);
    const std::int64_t plane = frame || frames.size() == 1 ? 0 : frames[1] - frames[0];
    const auto is_apart = [=](const std::byte* a, const std::byte* b) { return b - a != plane; };
    if (layout_->column != size || layout_->row % size != 0 || plane % size != 0 ||
        reinterpret_cast<std::uintptr_t>(first) % static_cast<std::size_t>(size) != 0 ||
        (!frame && std::ranges::adjacent_find(frames, is_apart) != frames.end()))
        return std::nullopt;
    const auto [width, height] = header_.shape;
    kernel::ValueView view(reinterpret_cast<const std::uint8_t*>(first), layout_->row / size,
                           {0, 0, width, height}, header_.shape);
    if (header_.sample == Sample::f32)
        view.first = reinterpret_cast<const float*>(first);
    else if (header_.sample == Sample::f64)
        view.first = reinterpret_cast<const double*>(first);
    else if (size == 2)
        view.first = reinterpret_cast<const std::uint16_t*>(first);
    else if (size == 4)
        view.first = reinterpret_cast<const std::uint32_t*>(first);
    else if (size == 8)
        view.first = reinterpret_cast<const std::uint64_t*>(first);
    if (!frame) {
        view.planes = header_.frames;
        view.next_plane = plane / size;
    }
    return view;
}

Frames Frames::of_reader(py::function read, std::int64_t count, std::int64_t height,
                         std::int64_t width, const py::dtype& type, bool whole) {
    Frames frames;
    frames.header_.frames = count;
    frames.header_.shape = {width, height};
    frames.header_.sample = sample_of(type);
    check(frames.header_);
    frames.open_ = [reader = py::handle(read), whole](const FrameHeader& header, Call& call) {
        return frames_of(std::make_unique<ReaderFrames>(header, reader, whole, call));
    };
    frames.kept_.push_back(std::move(read));
    return frames;
}

Frames Frames::of_files(const std::string& name, const format::SourceOptions& options) {
    Frames frames;
    frames.header_ = open_files(name, options)->header();
    frames.in_files_ = true;
    // Folders and lists are excluded, because their files may change without a change of the folder
    // or list.
    const std::vector<std::string> files = format::files_of_frames(name);
    if (files.size() == 1 && (name == files[0] || name.starts_with(files[0] + "::")))
        frames.kept_open_ = std::make_shared<KeptOpen>(files[0]);
    frames.open_ = [name, options](const FrameHeader& header, Call&) {
        std::unique_ptr<FrameSource> source = open_files(name, options);
        const FramesSummary expected = summary_of(header), found = summary_of(source->header());
        if (found != expected)
            throw InvalidFile(
                name, fmt::format("has changed: it has frames {}, but had {} when it was opened",
                                  text_of(found), text_of(expected)));
        return source;
    };
    return frames;
}

py::array Frames::read(std::int64_t frame) const {
    if (frame < 0 || frame >= header_.frames)
        throw py::index_error(fmt::format("frame {} of {}", frame, header_.frames));
    std::vector<py::ssize_t> shape = {header_.shape.height, header_.shape.width};
    if (header_.channels > 1)
        shape.push_back(header_.channels);
    py::array array(type_of(header_.sample), shape);
    read_into(std::span(&frame, 1), {static_cast<std::byte*>(array.mutable_data()),
                                     static_cast<std::size_t>(array.nbytes())});
    return array;
}

void Frames::read_into(const std::vector<std::int64_t>& frames, const py::array& out) const {
    const auto frame_bytes = header_.shape.elements() * header_.channels * size_of(header_.sample);
    if (!(out.flags() & py::array::c_style) || !out.writeable() || is_swapped(out.dtype()) ||
        sample_of(out.dtype()) != header_.sample ||
        out.nbytes() != std::ssize(frames) * frame_bytes)
        throw std::logic_error("the array does not have the shape or type of the frames");
    for (const std::int64_t frame : frames) {
        if (frame < 0 || frame >= header_.frames)
            throw py::index_error(fmt::format("frame {} of {}", frame, header_.frames));
    }
    read_into(frames, {static_cast<std::byte*>(py::array(out).mutable_data()),
                       static_cast<std::size_t>(out.nbytes())});
}

/// Reads runs of consecutive frames together.
void Frames::read_into(std::span<const std::int64_t> frames, std::span<std::byte> out) const {
    if (frames.empty())
        return;
    constexpr std::size_t bytes_between_checks = std::size_t{32} << 20; // for Ctrl-C
    const std::size_t frame_bytes = out.size() / frames.size();
    const std::size_t most = std::max<std::size_t>(1, bytes_between_checks / frame_bytes);
    Call call(py::none(), py::none(), 1);
    const RunControl control = call.control();
    call.run([&](const Communicator&) {
        const auto read = [&](FrameSource& source) {
            for (std::size_t first = 0, end = 0; first < frames.size(); first = end) {
                control.check();
                for (end = first + 1; end < frames.size() && end - first < most &&
                                      frames[end] == frames[end - 1] + 1;)
                    ++end;
                source.read_frames(frames[first], static_cast<std::int64_t>(end - first),
                                   out.subspan(first * frame_bytes, (end - first) * frame_bytes));
            }
        };
        if (kept_open_)
            kept_open_->use([&] { return open(call); }, read);
        else
            read(*open(call));
    });
}

void Frames::close() const {
    if (kept_open_)
        kept_open_->close();
}

RowSink::RowSink(const py::object& out, std::int64_t value_size)
    : out_(out), value_size_(value_size) {
    if (!py::isinstance<py::array>(out))
        return;
    auto array = py::reinterpret_borrow<py::array>(out);
    if (array.ndim() != 3 || array.itemsize() != value_size || array.strides(2) != value_size ||
        !array.writeable())
        throw std::logic_error("the rows of a sink must be contiguous");
    data_ = static_cast<std::byte*>(array.mutable_data());
    plane_bytes_ = array.strides(0);
    row_bytes_ = array.strides(1);
}

kernel::LabelPlane RowSink::label_plane(std::int64_t height, bool is_image) const {
    constexpr std::int64_t size = sizeof(kernel::Label);
    if (value_size_ != size || row_bytes_ % size != 0 ||
        (!is_image && plane_bytes_ != height * row_bytes_))
        return {};
    return {reinterpret_cast<kernel::Label*>(data_), row_bytes_ / size};
}

void RowSink::write(Call& call, std::int64_t plane, std::int64_t first,
                    std::span<const std::byte> rows, std::int64_t width, const char* type) const {
    if (out_.is_none())
        return;
    const auto count =
        static_cast<std::int64_t>(rows.size()) / (width * py::ssize_t{type[1] - '0'});
    if (data_) {
        const std::size_t line = rows.size() / static_cast<std::size_t>(count);
        std::byte* const to = data_ + plane * plane_bytes_ + first * row_bytes_;
        for (std::int64_t y = 0; y < count; ++y) {
            check_cancelled(width);
            std::memcpy(to + y * row_bytes_, rows.data() + static_cast<std::size_t>(y) * line,
                        line);
        }
        return;
    }
    call.python([&] {
        const py::array values(py::dtype(type), {count, width}, rows.data()); // a copy
        out_(plane, first, values);
    });
}

void RowSink::write_planes(Call& call, std::int64_t first, std::span<const std::byte> planes,
                           ImageShape shape, const char* type) const {
    const std::int64_t plane_bytes = shape.elements() * (type[1] - '0');
    const std::int64_t count = static_cast<std::int64_t>(planes.size()) / plane_bytes;
    if (data_) {
        for (std::int64_t k = 0; k < count; ++k)
            write(call, first + k, 0,
                  planes.subspan(static_cast<std::size_t>(k * plane_bytes),
                                 static_cast<std::size_t>(plane_bytes)),
                  shape.width, type);
    } else if (!out_.is_none()) {
        call.python([&] {
            out_(first, py::array(py::dtype(type), {count, shape.height, shape.width},
                                  planes.data())); // a copy
        });
    }
}

void bind_frames(py::module_& module) {
    py::class_<LazyRecord>(module, "LazyRecord").def("json", [](const LazyRecord& record) {
        return name_text(record.json());
    });
    py::class_<Frames>(module, "Frames")
        .def_static("of_arrays", &Frames::of_arrays)
        .def_static("of_stack", &Frames::of_stack)
        .def_static("of_reader", &Frames::of_reader)
        .def_static(
            "of_files",
            [](const py::object& path, const py::object& channel, const py::object& slice,
               const py::object& allow_external, const py::object& time, const std::string& axes) {
                const auto plane = [](const char* name, const py::object& value) {
                    constexpr std::int64_t most = std::int64_t{1} << 40;
                    return value.is_none() ? std::nullopt
                                           : std::optional(whole_number(name, value, 0, most));
                };
                return Frames::of_files(path_of("path", path),
                                        {plane("channel", channel), plane("slice", slice),
                                         truth("allow_external", allow_external),
                                         plane("time", time), axes});
            },
            py::arg("path"), py::arg("channel") = py::none(), py::arg("slice") = py::none(),
            py::arg("allow_external") = false, py::arg("time") = py::none(), py::arg("axes") = "")
        .def("read", &Frames::read)
        .def("read_into", py::overload_cast<const std::vector<std::int64_t>&, const py::array&>(
                              &Frames::read_into, py::const_))
        .def("close", &Frames::close)
        .def_property_readonly("frames", [](const Frames& all) { return all.header().frames; })
        .def_property_readonly("height",
                               [](const Frames& all) { return all.header().shape.height; })
        .def_property_readonly("width", [](const Frames& all) { return all.header().shape.width; })
        .def_property_readonly("channels", [](const Frames& all) { return all.header().channels; })
        .def_property_readonly("dtype",
                               [](const Frames& all) { return type_of(all.header().sample); })
        .def_property_readonly("pixel_size",
                               [](const Frames& all) {
                                   const PixelSize& pixel = all.header().pixel;
                                   return py::make_tuple(pixel.x, pixel.y, shown_text(pixel.unit));
                               })
        .def_property_readonly("interval",
                               [](const Frames& all) { return all.header().frame_interval; })
        .def_property_readonly("hyperstack",
                               [](const Frames& all) {
                                   const Hyperstack& stack = all.header().hyperstack;
                                   return py::make_tuple(stack.channels, stack.slices, stack.times);
                               })
        .def_property_readonly("remarks",
                               [](const Frames& all) { return shown_texts(all.header().remarks); });
    module.def("files_read", [](const py::object& path, bool allow_external) {
        const std::string name = path_of("path", path);
        format::SourceOptions options;
        options.allow_external = allow_external;
        std::vector<std::string> files;
        {
            const py::gil_scoped_release released;
            files = format::files_of_frames(name);
            for (std::string& file : format::files_referred(name, options))
                files.push_back(std::move(file));
        }
        py::list all;
        for (const std::string& file : files)
            all.append(py::bytes(file));
        return all;
    });
    module.def("format_of", [](const py::object& path) {
        return format::format_of_frames(path_of("path", path));
    });
}

} // namespace sextant::python
