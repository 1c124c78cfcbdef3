// SPDX-License-Identifier: BSD-3-Clause
#include "context.hpp"

#include "sextant/comm/node_sharing.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <string_view>

#include "tile_compositor.hpp"

namespace sextant::icet {

namespace {

/// IceT has one current context per process. Ranks that are threads each have their own current
/// context.
thread_local Context* context_of_thread = nullptr;
std::atomic<Context*> context_of_process{nullptr};
thread_local IceTEnum first_error = ICET_NO_ERROR;

/// All existing contexts, to recognise destroyed ones.
struct Contexts {
    std::mutex mutex;
    std::set<const void*> all;
};
Contexts& contexts() {
    static Contexts existing;
    return existing;
}

bool exists(const void* context) {
    const std::lock_guard lock(contexts().mutex);
    return contexts().all.contains(context);
}

void make_current(Context* context) {
    context_of_thread = context;
    context_of_process = context;
}

Context& existing(const void* context) {
    if (!exists(context))
        throw Raised(ICET_INVALID_VALUE, "the context does not exist, or was destroyed");
    return *static_cast<Context*>(const_cast<void*>(context));
}

/// The history of this process's frames, in all contexts; null unless SEXTANT_REPORT names a file.
std::shared_ptr<History> history_of_process() {
    static const std::shared_ptr<History> history = [] {
        const char* const path = std::getenv("SEXTANT_REPORT");
        return path && *path ? std::make_shared<History>(path) : nullptr;
    }();
    return history;
}

/// The number in an environment variable; nullopt if the variable is not set, or is not a number of
/// at least `least`.
std::optional<IceTInt> number_in_environment(const char* name, IceTInt least) {
    const char* const text = std::getenv(name);
    const auto number = text ? parsed_number<IceTInt>(text) : std::nullopt;
    return number && *number >= least ? number : std::nullopt;
}

/// Reports an environment variable that is set to an invalid number.
void check_environment(const char* name, IceTInt least) {
    const char* const text = std::getenv(name);
    if (text && !number_in_environment(name, least))
        report(ICET_INVALID_VALUE, "icetCreateContext",
               fmt::format("the environment variable {} is '{}', expected an integer of {} or more",
                           name, printable(text), least),
               ICET_DIAG_ERRORS);
}

/// True if a variable describes ranks of a communicator.
bool concerns_ranks(IceTEnum name) {
    return name == ICET_RANK || name == ICET_NUM_PROCESSES || name == ICET_DATA_REPLICATION_GROUP ||
           name == ICET_DATA_REPLICATION_GROUP_SIZE || name == ICET_COMPOSITE_ORDER ||
           name == ICET_PROCESS_ORDERS;
}

} // namespace

Bytes color_size(IceTEnum format) {
    switch (format) {
    case ICET_IMAGE_COLOR_RGBA_UBYTE:
        return 4;
    case ICET_IMAGE_COLOR_RGBA_FLOAT:
        return 16;
    case ICET_IMAGE_COLOR_RGB_FLOAT:
        return 12;
    default:
        return 0;
    }
}

Bytes depth_size(IceTEnum format) {
    return format == ICET_IMAGE_DEPTH_FLOAT ? 4 : 0;
}

void Pixels::shape(IceTEnum with_color, IceTEnum with_depth, IceTSizeType columns,
                   IceTSizeType rows, const Communicator* communicator) {
    color_format = with_color;
    depth_format = with_depth;
    width = columns;
    height = rows;
    constexpr Elements most = Elements{1} << 36; // so that sizes in bytes do not overflow
    if (columns < 0 || rows < 0 || count() > most)
        throw std::bad_alloc();
    const Planes planes = planes_of(color_format, depth_format != ICET_IMAGE_DEPTH_NONE);
    const Bytes size = 4 * planes.words(count()), before = 4 * planes.depth_offset(count());
    if (!both_ || both_->size() < size) {
        color = {};
        depth = {};
        both_ = nullptr; // free the old memory first
        both_ = std::make_shared<Memory>(communicator ? communicator->memory(size) : Memory(size));
    }
    color = {both_->data(), count() * color_size(color_format), both_};
    depth = {both_->data() + before, count() * depth_size(depth_format), both_};
}

IceTInt Context::number(IceTEnum name) const {
    const std::vector<IceTInt> all = numbers(name);
    if (all.empty())
        throw Raised(ICET_INVALID_OPERATION,
                     fmt::format("the state variable {:#x} is not set", name));
    return all.front();
}

std::vector<IceTInt> Context::numbers(IceTEnum name) const {
    const Value& value = values_[name];
    if (value.type() == ICET_BOOLEAN || value.type() == ICET_BYTE) {
        const auto flags = value.as<IceTBoolean>();
        return {flags.begin(), flags.end()};
    }
    return value.as<IceTInt>();
}

IceTDouble Context::real(IceTEnum name) const {
    return values_[name].as<IceTDouble>().at(0);
}

Viewport Context::viewport(IceTEnum name) const {
    const std::vector<IceTInt> all = numbers(name);
    return {all.at(0), all.at(1), all.at(2), all.at(3)};
}

Context::Context(IceTCommunicator table) : communicator_(communicator_of(table)) {
    {
        const std::lock_guard lock(contexts().mutex);
        contexts().all.insert(this);
    }
    if (rank() == 0)
        history = history_of_process();
    if (size() == 1 ||
        (communicator().shares_nodes() && reads_all(communicator(), nodes_of(communicator()))))
        sharing = Sharing::in_place;
    else if (!is_native(table))
        sharing = Sharing::table;
    const char* const check = std::getenv("SEXTANT_ICET_CHECK");
    checks = check && std::string_view(check) == "1";
    set_number(ICET_DIAGNOSTIC_LEVEL,
               static_cast<IceTInt>(ICET_DIAG_ALL_NODES | ICET_DIAG_WARNINGS));
    set_number(ICET_RANK, rank());
    set_number(ICET_NUM_PROCESSES, size());
    const IceTFloat black[4] = {0, 0, 0, 0};
    set_floats(ICET_BACKGROUND_COLOR, black);
    set_number(ICET_BACKGROUND_COLOR_WORD, 0);
    set_number(ICET_PHYSICAL_RENDER_WIDTH, 0);
    set_number(ICET_PHYSICAL_RENDER_HEIGHT, 0);
    set_number(ICET_COLOR_FORMAT, static_cast<IceTInt>(ICET_IMAGE_COLOR_RGBA_UBYTE));
    set_number(ICET_DEPTH_FORMAT, static_cast<IceTInt>(ICET_IMAGE_DEPTH_FLOAT));
    set_number(ICET_NUM_TILES, 0);
    set_numbers(ICET_TILE_VIEWPORTS, {});
    set_numbers(ICET_GLOBAL_VIEWPORT, Viewport{0, 0, 0, 0});
    set_number(ICET_TILE_MAX_WIDTH, 0);
    set_number(ICET_TILE_MAX_HEIGHT, 0);
    set_numbers(ICET_DISPLAY_NODES, {});
    set_number(ICET_TILE_DISPLAYED, -1);
    set_reals(ICET_GEOMETRY_BOUNDS, {});
    set_number(ICET_NUM_BOUNDING_VERTS, 0);
    set_number(ICET_STRATEGY, -1);
    set_number(ICET_SINGLE_IMAGE_STRATEGY,
               static_cast<IceTInt>(ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC));
    set_number(ICET_COMPOSITE_MODE, static_cast<IceTInt>(ICET_COMPOSITE_MODE_Z_BUFFER));
    std::vector<IceTInt> order(static_cast<std::size_t>(size()));
    std::iota(order.begin(), order.end(), 0);
    set_numbers(ICET_COMPOSITE_ORDER, order);
    set_numbers(ICET_PROCESS_ORDERS, order);
    set_number(ICET_DATA_REPLICATION_GROUP, rank());
    set_number(ICET_DATA_REPLICATION_GROUP_SIZE, 1);
    set_number(ICET_FRAME_COUNT, 0);
    set_number(ICET_MAGIC_K,
               number_in_environment("ICET_MAGIC_K", 2).value_or(ICET_MAGIC_K_DEFAULT));
    set_number(
        ICET_MAX_IMAGE_SPLIT,
        number_in_environment("ICET_MAX_IMAGE_SPLIT", 1).value_or(ICET_MAX_IMAGE_SPLIT_DEFAULT));
    set_pointer(ICET_DRAW_FUNCTION, nullptr);
    set_pointer(ICET_RENDER_LAYER_DESTRUCTOR, nullptr);
    set_flag(ICET_IS_DRAWING_FRAME, false);
    set_number(ICET_VALID_PIXELS_TILE, -1);
    set_number(ICET_VALID_PIXELS_OFFSET, 0);
    set_number(ICET_VALID_PIXELS_NUM, 0);
    for (IceTEnum time = ICET_RENDER_TIME; time <= ICET_TOTAL_DRAW_TIME; ++time)
        set_real(time, 0);
    set_number(ICET_BYTES_SENT, 0);
    set_number(ICET_DRAW_TIME_ID, 0);
    set_number(ICET_SUBFUNC_TIME_ID, 0);
    for (const IceTEnum on : {ICET_FLOATING_VIEWPORT, ICET_COMPOSITE_ONE_BUFFER,
                              ICET_INTERLACE_IMAGES, ICET_COLLECT_IMAGES})
        set_flag(on, true);
    for (const IceTEnum off :
         {ICET_ORDERED_COMPOSITE, ICET_CORRECT_COLORED_BACKGROUND, ICET_RENDER_EMPTY_IMAGES})
        set_flag(off, false);
}

void Context::begin_drawing(const void* frame, const volatile std::uint64_t& mark) {
    set_flag(ICET_IS_DRAWING_FRAME, true);
    drawn_in_ = frame;
    mark_ = &mark;
    marked_ = mark;
    drawer_ = std::this_thread::get_id();
}

void Context::end_drawing() {
    set_flag(ICET_IS_DRAWING_FRAME, false);
    drawn_in_ = nullptr;
}

/// The stack grows downwards, so the stack frame of a callback is below that of the function that
/// draws.
bool Context::draws(const void* frame) {
    if (!drawn_in_)
        return false;
    const bool within = std::less<>()(frame, drawn_in_) && *mark_ == marked_;
    if (drawer_ == std::this_thread::get_id() && !within)
        end_drawing();
    return drawn_in_ != nullptr;
}

Context::~Context() {
    // The render layer, such as that of OpenGL, frees its data.
    const auto destructor = values_[ICET_RENDER_LAYER_DESTRUCTOR].as<void (*)()>();
    if (!destructor.empty() && destructor[0]) {
        Context* const outer = context_of_thread;
        context_of_thread = this;
        destructor[0]();
        context_of_thread = outer == this ? nullptr : outer;
    }
    const std::lock_guard lock(contexts().mutex);
    contexts().all.erase(this);
}

void Context::copy_state(const Context& from) {
    for (IceTEnum name = 0; name < ICET_STATE_SIZE; ++name) {
        if (!concerns_ranks(name))
            values_[name] = from.values_[name];
    }
}

Context* current_or_null() {
    if (context_of_thread && exists(context_of_thread))
        return context_of_thread;
    Context* const last = context_of_process;
    return last && exists(last) ? last : nullptr;
}

Context& current() {
    Context* const context = current_or_null();
    if (!context)
        throw Raised(ICET_INVALID_OPERATION, "no context is current: call icetCreateContext");
    return *context;
}

void report(IceTEnum code, const char* function, const std::string& text, IceTBitField level) {
    IceTBitField allowed = ICET_DIAG_ALL_NODES | ICET_DIAG_WARNINGS;
    int rank = 0;
    if (const Context* context = current_or_null()) {
        allowed = static_cast<IceTBitField>(context->number(ICET_DIAGNOSTIC_LEVEL));
        rank = context->rank();
    }
    if (code != ICET_NO_ERROR && first_error == ICET_NO_ERROR)
        first_error = code;
    const bool is_wanted = (allowed & level & 0xff) == level;
    const bool prints = is_wanted && ((allowed & ICET_DIAG_ALL_NODES) != 0 || rank == 0);
    if (!prints)
        return;
    const char* kind = level == ICET_DIAG_ERRORS     ? "error: "
                       : level == ICET_DIAG_WARNINGS ? "warning: "
                                                     : "";
    const std::string line =
        fmt::format("sextant: {}: rank {}: {}{}\n", function, rank, kind, text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void debug(const char* function, const std::string& text) {
    report(ICET_NO_ERROR, function, text, ICET_DIAG_DEBUG);
}

IceTEnum take_error() {
    return std::exchange(first_error, ICET_NO_ERROR);
}

double wall_time() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

IceTDouble icetWallTime(void) {
    return wall_time();
}

/// Differs: a value of the environment variable ICET_MAGIC_K or ICET_MAX_IMAGE_SPLIT that is not a
/// number is an error; IceT reads the digits at its beginning.
IceTContext icetCreateContext(IceTCommunicator comm) {
    return guarded(__func__, IceTContext{}, [&] {
        if (!comm)
            throw Raised(ICET_INVALID_VALUE, "the communicator is null");
        auto made = std::make_unique<Context>(comm);
        make_current(made.get());
        check_environment("ICET_MAGIC_K", 2);
        check_environment("ICET_MAX_IMAGE_SPLIT", 1);
        return reinterpret_cast<IceTContext>(made.release());
    });
}

/// Differs: a destroyed context is an error; in IceT, the behaviour is undefined.
void icetDestroyContext(IceTContext context) {
    const void* const frame = __builtin_frame_address(0);
    guarded(__func__, [&] {
        if (!context)
            return;
        Context& ended = existing(context);
        if (ended.draws(frame))
            throw Raised(ICET_INVALID_OPERATION, "the context is drawing a frame");
        delete &ended;
    });
}

/// Differs: each thread that sets a context has its own current context; other threads use the last
/// context that the process set.
IceTContext icetGetContext(void) {
    return reinterpret_cast<IceTContext>(current_or_null());
}

/// Differs: each thread that sets a context has its own current context. A destroyed context is an
/// error.
void icetSetContext(IceTContext context) {
    guarded(__func__, [&] { make_current(context ? &existing(context) : nullptr); });
}

/// Differs: a destroyed context is an error; in IceT, the behaviour is undefined.
void icetCopyState(IceTContext dest, const IceTContext src) {
    guarded(__func__, [&] { existing(dest).copy_state(existing(src)); });
}

void icetDiagnostics(IceTBitField mask) {
    guarded(__func__,
            [&] { current().set_number(ICET_DIAGNOSTIC_LEVEL, static_cast<IceTInt>(mask)); });
}

IceTEnum icetGetError(void) {
    return take_error();
}

} // extern "C"
