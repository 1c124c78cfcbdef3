// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/memory.hpp"

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
Viewport common(const Viewport& a, const Viewport& b);

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
        std::memcpy(values.data(), bytes_.data(), std::min(bytes_.size(), count_ * sizeof(T)));
        return values;
    }

  private:
    IceTEnum type_ = ICET_NULL;
    std::size_t count_ = 0;
    std::vector<std::byte> bytes_;
};

/// The pixels of an image: colours, then depths, rows from the bottom up.
struct Pixels {
    IceTEnum color_format = ICET_IMAGE_COLOR_NONE, depth_format = ICET_IMAGE_DEPTH_NONE;
    IceTSizeType width = 0, height = 0;
    Memory color, depth;

    Elements count() const { return Elements{width} * height; }
    /// Allocates memory for these formats and this size, if it is not there.
    void shape(IceTEnum color_format, IceTEnum depth_format, IceTSizeType width,
               IceTSizeType height);
};

/// The bytes of a pixel in a plane of this format; 0 for none.
Bytes color_size(IceTEnum format);
Bytes depth_size(IceTEnum format);

/// This rank's image of a tile and its compositor, kept while frames have the same shape and
/// format.
struct TileImage {
    Viewport tile{};
    IceTEnum color_format = 0, depth_format = 0, mode = 0;
    int display = 0;
    bool collects = true;
    Operator blend;
    Memory image;     ///< colours and depths interleaved
    Viewport drawn{}; ///< the part of `image` that is not empty
    std::optional<Compositor> compositor;
};

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
    /// The same for a variable that holds one of IceT's constants.
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

    /// Copies all variables but those that concern ranks.
    void copy_state(const Context& from);

    /// Set on rank 0 if SEXTANT_REPORT names a file. The page is written when the context ends, or
    /// the process.
    std::shared_ptr<History> history;
    RankTimes times; ///< of this rank in the last frame
    /// SEXTANT_ICET_CHECK=1: every frame is blended again by a plain reference (check.hpp).
    bool checks = false;

    Pixels rendered; ///< what the draw callback fills
    Pixels result;   ///< the image of the last frame
    std::vector<std::unique_ptr<TileImage>> tiles;

  private:
    std::array<Value, ICET_STATE_SIZE> values_;
    std::optional<Communicator> communicator_;
};

std::vector<Viewport> tiles_of(const Context& context);

/// The current context: the last one that this thread made current, else the last one of the
/// process. Throws Raised if there is none.
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

/// Reports an error or a warning: prints it on stderr, as far as the diagnostic level allows, and
/// keeps its code for icetGetError() if there is no earlier one.
void report(IceTEnum code, const char* function, const std::string& text, IceTBitField level);
void debug(const char* function, const std::string& text);
IceTEnum take_error();

/// Runs the body of a function of the interface. An exception becomes an error, and the function
/// returns `otherwise`.
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

/// Makes an image of the interface from pixels, which must outlive it.
inline IceTImage handle(Pixels* pixels) {
    return {pixels};
}

double wall_time();

/// A communicator over the functions of an IceTCommunicator.
Communicator communicator_of(IceTCommunicator table);

} // namespace sextant::icet
