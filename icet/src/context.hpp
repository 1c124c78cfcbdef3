// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "history.hpp"
#include <IceT.h>
#include <fmt/format.h>

// The state machine of IceT. All functions of the interface act on the current context.
namespace sextant::icet {

/// A rectangle of pixels: x, y, width, height, with y upward, as in OpenGL.
using Viewport = std::array<IceTInt, 4>;

inline bool is_empty(const Viewport& v) {
    return v[2] <= 0 || v[3] <= 0;
}
/// The intersection of two rectangles.
inline Viewport common(const Viewport& a, const Viewport& b) {
    const IceTInt x0 = std::max(a[0], b[0]), y0 = std::max(a[1], b[1]);
    const IceTInt x1 = std::min(a[0] + a[2], b[0] + b[2]), y1 = std::min(a[1] + a[3], b[1] + b[3]);
    if (x1 <= x0 || y1 <= y0)
        return {0, 0, 0, 0};
    return {x0, y0, x1 - x0, y1 - y0};
}

/// The value of a state variable: an array of one of IceT's types.
class Value {
  public:
    IceTEnum type() const { return type_; }
    std::size_t count() const { return count_; }

    template <class T>
    void set(IceTEnum type, std::span<const T> values) {
        type_ = type;
        count_ = values.size();
        const auto bytes = std::as_bytes(values);
        bytes_.assign(bytes.begin(), bytes.end());
    }
    template <class T>
    std::vector<T> as() const {
        std::vector<T> values(count_);
        if (values.empty())
            return values;
        std::memcpy(values.data(), bytes_.data(), std::min(bytes_.size(), count_ * sizeof(T)));
        return values;
    }

  private:
    IceTEnum type_ = ICET_NULL;
    std::size_t count_ = 0;
    std::vector<std::byte> bytes_;
};

/// The bytes of a pixel in a plane of this format; 0 if there is no plane.
Bytes color_size(IceTEnum format);
Bytes depth_size(IceTEnum format);

/// The planes of an image, in words of four bytes: colours, then depths.
struct Planes {
    int color_words = 0; ///< words of a colour; 0 without colours
    bool depth = false;

    int count() const { return (color_words > 0 ? 1 : 0) + (depth ? 1 : 0); }
    /// The position of the depths in the memory of an image: aligned to 64 bytes.
    Elements depth_offset(Elements pixels) const { return (pixels * color_words + 15) / 16 * 16; }
    /// The number of words of an image.
    Elements words(Elements pixels) const {
        return depth ? depth_offset(pixels) + pixels : pixels * color_words;
    }
    bool operator==(const Planes&) const = default;
};
inline Planes planes_of(IceTEnum color_format, bool depth) {
    return {static_cast<int>(color_size(color_format) / 4), depth};
}

/// The pixels of an image: colours and depths in separate planes, rows from the bottom up.
struct Pixels {
    IceTEnum color_format = ICET_IMAGE_COLOR_NONE, depth_format = ICET_IMAGE_DEPTH_NONE;
    IceTSizeType width = 0, height = 0;
    Memory color, depth;

    Elements count() const { return Elements{width} * height; }
    /// Sets formats and size. If the memory is too small, allocates new memory in one piece, with
    /// the layout of Planes. The memory comes from `communicator`, if given, so that its ranks can
    /// access it.
    void shape(IceTEnum color_format, IceTEnum depth_format, IceTSizeType width,
               IceTSizeType height, const Communicator* communicator = nullptr);

  private:
    std::shared_ptr<Memory> both_;
};

class TileCompositor;

/// The transport of pixels: in-place reads, MPI messages, or the communication functions of the
/// program.
enum class Sharing { in_place, messages, table };

class Context {
  public:
    explicit Context(IceTCommunicator table);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Communicator& communicator() const { return *communicator_; }
    int rank() const { return communicator_->rank(); }
    int size() const { return communicator_->size(); }

    Value& at(IceTEnum name) { return values_[name]; }
    /// The value of a variable of type int, boolean or enum; the variable must be set.
    IceTInt number(IceTEnum name) const;
    /// The same for a variable that holds an IceT constant.
    IceTEnum choice(IceTEnum name) const { return static_cast<IceTEnum>(number(name)); }
    IceTDouble real(IceTEnum name) const;
    Viewport viewport(IceTEnum name) const;
    std::vector<IceTInt> numbers(IceTEnum name) const;

    void set_numbers(IceTEnum name, std::span<const IceTInt> values) {
        at(name).set(ICET_INT, values);
    }
    void set_number(IceTEnum name, IceTInt value) { set_numbers(name, {&value, 1}); }
    void set_real(IceTEnum name, IceTDouble value) {
        at(name).set(ICET_DOUBLE, std::span<const IceTDouble>(&value, 1));
    }
    void set_reals(IceTEnum name, std::span<const IceTDouble> values) {
        at(name).set(ICET_DOUBLE, values);
    }
    void set_floats(IceTEnum name, std::span<const IceTFloat> values) {
        at(name).set(ICET_FLOAT, values);
    }
    void set_flag(IceTEnum name, bool value) {
        const IceTBoolean flag = value ? ICET_TRUE : ICET_FALSE;
        at(name).set(ICET_BOOLEAN, std::span<const IceTBoolean>(&flag, 1));
    }
    void set_pointer(IceTEnum name, const void* value) {
        at(name).set(ICET_POINTER, std::span<const void* const>(&value, 1));
    }
    bool enabled(IceTEnum name) const { return number(name) != 0; }

    /// Marks that a frame is being drawn. `frame`: the address of the stack frame of the API
    /// function; `mark`: a number on that stack frame or on one within it, valid while that frame
    /// exists.
    void begin_drawing(const void* frame, const volatile std::uint64_t& mark);
    void end_drawing();
    /// Given the stack frame of an API function, returns true if a frame is being drawn: in a
    /// callback of the frame, or in another thread. Returns false after longjmp() has left the
    /// callback, because the stack frame is then not within that of the drawing, or has overwritten
    /// its mark.
    bool draws(const void* frame);

    /// Copies all variables except those that describe ranks.
    void copy_state(const Context& from);

    /// Set on rank 0 if SEXTANT_REPORT names a file. The page is written when the context or the
    /// process ends.
    std::shared_ptr<History> history;
    /// SEXTANT_ICET_CHECK=1: every frame is compared with a plain reference (check.hpp).
    bool checks = false;

    Sharing sharing = Sharing::messages;
    Pixels floating; ///< one image rendered for several tiles (ICET_FLOATING_VIEWPORT)
    Pixels unused;   ///< rendered for tiles without content (ICET_RENDER_EMPTY_IMAGES)
    Pixels result;   ///< the image of the last frame
    std::vector<std::unique_ptr<TileCompositor>> tiles;

  private:
    std::array<Value, ICET_STATE_SIZE> values_;
    std::optional<Communicator> communicator_;
    /// The stack frame (begin_drawing) of the frame that is being drawn.
    const void* drawn_in_ = nullptr;
    const volatile std::uint64_t* mark_ = nullptr;
    std::uint64_t marked_ = 0; ///< value of the mark
    std::thread::id drawer_;
};

std::vector<Viewport> tiles_of(const Context& context);

/// The current context: the last one that this thread made current, otherwise the last one that the
/// process made current. Throws Raised if there is none.
Context& current();
Context* current_or_null();

/// An error as IceT reports it.
class Raised : public std::exception {
  public:
    Raised(IceTEnum code, std::string text) : code_(code), text_(std::move(text)) {}
    IceTEnum code() const { return code_; }
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    IceTEnum code_;
    std::string text_;
};

/// Reports an error or a warning: prints it on stderr, if the diagnostic level allows, and stores
/// its code for icetGetError() unless an earlier code is stored.
void report(IceTEnum code, const char* function, const std::string& text, IceTBitField level);
void debug(const char* function, const std::string& text);
IceTEnum take_error();

/// Runs the body of an API function. An exception is reported as an error, and the function returns
/// `otherwise`.
template <class Body, class Result>
Result guarded(const char* function, Result otherwise, Body&& body) noexcept {
    try {
        return body();
    } catch (const Raised& error) {
        report(error.code(), function, error.what(), ICET_DIAG_ERRORS);
    } catch (const std::bad_alloc&) {
        report(ICET_OUT_OF_MEMORY, function, "out of memory", ICET_DIAG_ERRORS);
    } catch (const InvalidTask& error) {
        report(ICET_INVALID_VALUE, function, error.what(), ICET_DIAG_ERRORS);
    } catch (const std::exception& error) {
        report(ICET_INVALID_OPERATION, function, error.what(), ICET_DIAG_ERRORS);
    } catch (...) { // an exception from a callback
        report(ICET_INVALID_OPERATION, function, "an exception that is not a std::exception",
               ICET_DIAG_ERRORS);
    }
    return otherwise;
}
template <class Body>
void guarded(const char* function, Body&& body) noexcept {
    guarded(function, 0, [&] {
        body();
        return 0;
    });
}

/// Makes an IceTImage from pixels, which must outlive the IceTImage.
inline IceTImage handle(Pixels* pixels) {
    return {pixels};
}

double wall_time();

/// A communicator over the functions of an IceTCommunicator.
Communicator communicator_of(IceTCommunicator table);
/// True if this library created the communicator's functions.
bool is_native(IceTCommunicator table);

} // namespace sextant::icet
