// SPDX-License-Identifier: BSD-3-Clause
// Renders and composites frames.
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

#include "check.hpp"
#include "context.hpp"
#include "planes.hpp"
#include "projection.hpp"
#include "tile_compositor.hpp"
#include <fmt/ranges.h>

namespace sextant::icet {

namespace {

/// The images passed to icetCompositeImage().
struct Rendered {
    const void *color, *depth;
    Viewport valid;
};

/// The request of a rank, which must be the same on all ranks, and the pixels that the rank draws.
struct Request {
    std::int32_t tiles = 0, color_format = 0, depth_format = 0, mode = 0, ordered = 0, collects = 0;
    std::uint64_t layout = 0, order = 0; ///< hashes of the tiles and of the visibility order
    std::int32_t failed = 0, reports = 0, checks = 0;
    Viewport drawn = {0, 0, 0, 0}; ///< in the coordinates of the global viewport
};

/// The FNV-1a hash of some numbers.
std::uint64_t hash_of(std::span<const IceTInt> numbers) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const IceTInt number : numbers)
        hash = (hash ^ static_cast<std::uint32_t>(number)) * 1099511628211ULL;
    return hash;
}

/// A view of the caller's memory, which the caller keeps alive.
Memory borrowed_memory(const void* data, Bytes size) {
    auto* const bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));
    return {bytes, size, std::shared_ptr<void>(bytes, [](void*) {})};
}

class Frame {
  public:
    Frame(Context& context, const double* projection, const double* modelview,
          const float* background, const Rendered* rendered)
        : context_(context), given_(rendered), began_(wall_time()) {
        if (projection)
            projection_ = matrix_at(projection);
        if (modelview)
            modelview_ = matrix_at(modelview);
        has_matrices_ = projection && modelview;
        if (background)
            std::copy_n(background, 4, true_background_.begin());
        has_background_ = background;
    }

    IceTImage run() {
        const std::vector<Request> all = draw_and_exchange();
        IceTImage image = icetImageNull();
        std::exception_ptr failure;
        try {
            for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
                if (composite(tile, all))
                    image = handle(&context_.result);
            }
        } catch (...) { // the other ranks may have succeeded
            failure = std::current_exception();
        }
        keep_recent_compositors();
        finish();
        if (failure)
            std::rethrow_exception(failure);
        return image;
    }

  private:
    void check() const;
    void prepare();
    std::vector<Request> draw_and_exchange();
    std::vector<Request> exchange(bool failed);
    template <class Text>
    void require_text(const char* what, const std::vector<Request>& all,
                      std::uint64_t Request::*hash, const Text& text);
    void share_with_group();
    void describe(const std::vector<Request>& all);
    bool composite(std::size_t tile, const std::vector<Request>& all);
    std::vector<int> order() const;
    void describe_plan(TileCompositor& compositor, const TileFrame& frame);
    TileCompositor& compositor_of(std::size_t tile);
    void shape_result(std::size_t tile);
    void forget_new_compositors();
    void keep_recent_compositors();
    DrawnPart draw(std::size_t tile);
    Pixels given_planes() const;
    void render(const Viewport& view, const Viewport& readback, Pixels& planes);
    DrawnPart render_part(std::size_t tile, const Viewport& part);
    void finish();
    void report_times(double composite);

    Context& context_;
    const Rendered* given_;
    double began_, render_time_ = 0, read_time_ = 0, blend_time_ = 0, wait_time_ = 0;
    bool reports_ = false; ///< true if rank 0 writes a page
    Bytes sent_ = 0;
    bool has_matrices_ = false, has_background_ = false;
    Matrix projection_{}, modelview_{};
    std::array<IceTFloat, 4> true_background_{}, background_{};
    std::vector<Viewport> tiles_;
    std::vector<IceTInt> displays_;
    Viewport whole_{};
    Viewport drawn_{}; ///< the pixels that this rank draws
    Projected projected_;
    TileTask common_; ///< the properties that all tiles share
    Composition composition_;
    bool keeps_depth_ = true;
    Pixels given_planes_; ///< the images passed by the caller
    bool floats_ = false; ///< true if one view was rendered for several tiles
    std::vector<TileCompositor*> compositors_;
    std::vector<DrawnPart> drawn_parts_;
};

/// Ranks draw before they exchange anything, so that no rank waits for another one before it draws.
std::vector<Request> Frame::draw_and_exchange() {
    std::exception_ptr failure;
    try {
        check();
        prepare();
        for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
            compositors_.push_back(&compositor_of(tile));
            drawn_parts_.push_back(draw(tile));
            const double before = wall_time();
            compositors_.back()->take(drawn_parts_.back());
            read_time_ += wall_time() - before;
            shape_result(
                tile); // allocated here, so that all ranks receive the error if memory is short
        }
    } catch (...) { // prevents other ranks from waiting for this one
        failure = std::current_exception();
    }
    try {
        std::vector<Request> all = exchange(failure != nullptr);
        if (failure)
            std::rethrow_exception(failure);
        return all;
    } catch (...) { // thrown on all ranks, so that all keep the same compositors
        forget_new_compositors();
        throw;
    }
}

void Frame::check() const {
    if (!has_background_)
        throw Raised(ICET_INVALID_VALUE, "the background color is null");
    if (context_.number(ICET_STRATEGY) == -1)
        throw Raised(ICET_INVALID_OPERATION, "no strategy is set: call icetStrategy");
    if (context_.number(ICET_NUM_TILES) < 1)
        throw Raised(ICET_INVALID_OPERATION, "no tile is defined: call icetAddTile");
    if (!given_) {
        if (!has_matrices_)
            throw Raised(ICET_INVALID_VALUE, "a matrix is null");
        if (!context_.at(ICET_DRAW_FUNCTION).as<IceTDrawCallbackType>().at(0))
            throw Raised(ICET_INVALID_OPERATION, "no drawing function: call icetDrawCallback");
        return;
    }
    const bool lacks_color =
        !given_->color && context_.choice(ICET_COLOR_FORMAT) != ICET_IMAGE_COLOR_NONE;
    const bool lacks_depth =
        !given_->depth && context_.choice(ICET_DEPTH_FORMAT) != ICET_IMAGE_DEPTH_NONE;
    if ((lacks_color || lacks_depth) && !is_empty(given_->valid))
        throw Raised(ICET_INVALID_VALUE,
                     fmt::format("the {} buffer is null", lacks_color ? "color" : "depth"));
}

void Frame::prepare() {
    tiles_ = tiles_of(context_);
    displays_ = context_.numbers(ICET_DISPLAY_NODES);
    whole_ = context_.viewport(ICET_GLOBAL_VIEWPORT);
    const auto mode = context_.choice(ICET_COMPOSITE_MODE);
    common_ = {{},
               context_.choice(ICET_COLOR_FORMAT),
               context_.choice(ICET_DEPTH_FORMAT),
               mode,
               0,
               context_.enabled(ICET_COLLECT_IMAGES) || tiles_.size() > 1};
    composition_ = composition_of(common_.color_format, common_.depth_format, mode);
    keeps_depth_ =
        has_depth(composition_.element) && (common_.color_format == ICET_IMAGE_COLOR_NONE ||
                                            !context_.enabled(ICET_COMPOSITE_ONE_BUFFER));
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        if (displays_[tile] >= context_.size()) // the state was copied from a larger context
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("tile {} is displayed by rank {}, but there are {} ranks",
                                     tile, displays_[tile], context_.size()));
    }
    // When blending, the background is added once, at the end.
    const bool blends = mode == ICET_COMPOSITE_MODE_BLEND;
    background_ = blends ? std::array<IceTFloat, 4>{0, 0, 0, 0} : true_background_;
    context_.set_floats(ICET_BACKGROUND_COLOR, background_);
    context_.set_number(ICET_BACKGROUND_COLOR_WORD, static_cast<IceTInt>(word_of(background_)));
    context_.set_floats(ICET_TRUE_BACKGROUND_COLOR, true_background_);
    context_.set_number(ICET_TRUE_BACKGROUND_COLOR_WORD,
                        static_cast<IceTInt>(word_of(true_background_)));
    context_.set_flag(ICET_NEED_BACKGROUND_CORRECTION,
                      blends && context_.enabled(ICET_CORRECT_COLORED_BACKGROUND));
    context_.set_flag(ICET_PRE_RENDERED, given_ != nullptr);
    if (has_matrices_) {
        context_.set_reals(ICET_PROJECTION_MATRIX, projection_);
        context_.set_reals(ICET_MODELVIEW_MATRIX, modelview_);
        const Value& bounds = context_.at(ICET_GEOMETRY_BOUNDS);
        projected_ = project(bounds.as<IceTDouble>(), product(projection_, modelview_), whole_);
    } else { // as in IceT, the bounds are reset afterwards
        projected_ = {whole_, -1, 1};
        context_.set_reals(ICET_GEOMETRY_BOUNDS, {});
        context_.set_number(ICET_NUM_BOUNDING_VERTS, 0);
    }
    if (given_)
        projected_.pixels =
            common(projected_.pixels, {given_->valid[0] + whole_[0], given_->valid[1] + whole_[1],
                                       given_->valid[2], given_->valid[3]});
    drawn_ = projected_.pixels;
    share_with_group();
    projected_.pixels = drawn_;
    if (given_)
        given_planes_ = given_planes();
}

/// Divides the rows that this rank draws among the ranks with the same data.
void Frame::share_with_group() {
    const std::vector<IceTInt> group = context_.numbers(ICET_DATA_REPLICATION_GROUP);
    const auto members = static_cast<std::int64_t>(group.size());
    if (members < 2 || is_empty(drawn_))
        return;
    const std::int64_t member = std::ranges::find(group, context_.rank()) - group.begin();
    const auto row = [&](std::int64_t part) {
        return static_cast<IceTInt>(drawn_[3] * part / members);
    };
    const IceTInt first = row(member), last = row(member + 1);
    drawn_[1] += first;
    drawn_[3] = last - first;
    if (is_empty(drawn_))
        drawn_ = {0, 0, 0, 0};
}

/// Gathers the requests of all ranks on all ranks, and checks that they agree. Collective.
std::vector<Request> Frame::exchange(bool failed) {
    Request own;
    own.failed = failed ? 1 : 0;
    own.reports = context_.history ? 1 : 0;
    own.checks = context_.checks ? 1 : 0;
    const double asked = wall_time();
    own.tiles = static_cast<std::int32_t>(tiles_.size());
    own.color_format = context_.number(ICET_COLOR_FORMAT);
    own.depth_format = context_.number(ICET_DEPTH_FORMAT);
    own.mode = context_.number(ICET_COMPOSITE_MODE);
    own.ordered = context_.enabled(ICET_ORDERED_COMPOSITE) ? 1 : 0;
    own.collects = context_.enabled(ICET_COLLECT_IMAGES) ? 1 : 0;
    own.layout = hash_of(context_.numbers(ICET_TILE_VIEWPORTS)) ^
                 31 * hash_of(context_.numbers(ICET_DISPLAY_NODES));
    own.order = own.ordered ? hash_of(context_.numbers(ICET_COMPOSITE_ORDER)) : 0;
    own.drawn = drawn_;
    const std::vector<Request> all = context_.communicator().all_gather(own);
    wait_time_ = wall_time() - asked;
    reports_ = all[0].reports != 0;
    if (failed)
        return all; // this rank reports its own error
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].failed)
            throw Raised(
                ICET_INVALID_OPERATION,
                fmt::format("rank {} cannot draw this frame: see the error that it reports", rank));
    }
    const auto require = [&](const char* what, auto member) {
        for (std::size_t rank = 1; rank < all.size(); ++rank) {
            if (all[rank].*member != all[0].*member)
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("{} of rank {} differs from that of rank 0: {:#x}, {:#x}",
                                         what, rank, all[rank].*member, all[0].*member));
        }
    };
    require("SEXTANT_ICET_CHECK", &Request::checks);
    require("the number of tiles", &Request::tiles);
    require("the color format", &Request::color_format);
    require("the depth format", &Request::depth_format);
    require("the composite mode", &Request::mode);
    require("ICET_ORDERED_COMPOSITE", &Request::ordered);
    require("ICET_COLLECT_IMAGES", &Request::collects);
    require_text("the layout of tiles", all, &Request::layout, [&] {
        std::vector<std::string> texts;
        for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
            const Viewport& at = tiles_[tile];
            texts.push_back(fmt::format("{}x{} at {}, {} displayed by rank {}", at[2], at[3], at[0],
                                        at[1], displays_[tile]));
        }
        return fmt::format("{}", fmt::join(texts, ", "));
    });
    require_text("the composite order", all, &Request::order, [&] {
        return fmt::format("{}", fmt::join(context_.numbers(ICET_COMPOSITE_ORDER), ","));
    });
    describe(all);
    return all;
}

/// Checks that all ranks have the same hash. If not, exchanges the texts to name the difference.
/// Collective.
template <class Text>
void Frame::require_text(const char* what, const std::vector<Request>& all,
                         std::uint64_t Request::*hash, const Text& text) {
    const auto other = std::ranges::find_if(
        all, [&](const Request& request) { return request.*hash != all[0].*hash; });
    if (other == all.end())
        return;
    const auto rank = static_cast<std::size_t>(other - all.begin());
    const std::vector<std::string> texts = all_gather_texts(context_.communicator(), text());
    throw Raised(ICET_INVALID_VALUE,
                 fmt::format("{} differs between ranks: rank 0: {}; rank {}: {}", what, texts[0],
                             rank, texts[rank]));
}

/// Sets the state variables that describe the tiles to draw.
void Frame::describe(const std::vector<Request>& all) {
    std::vector<IceTInt> list;
    std::vector<IceTBoolean> own_mask, masks;
    std::vector<IceTInt> counts(tiles_.size(), 0);
    IceTInt total = 0;
    for (const Request& request : all) {
        for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
            const bool draws = !is_empty(common(request.drawn, tiles_[tile]));
            masks.push_back(draws ? ICET_TRUE : ICET_FALSE);
            counts[tile] += draws ? 1 : 0;
            total += draws ? 1 : 0;
        }
    }
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        const bool draws = !is_empty(common(drawn_, tiles_[tile]));
        own_mask.push_back(draws ? ICET_TRUE : ICET_FALSE);
        if (draws)
            list.push_back(static_cast<IceTInt>(tile));
    }
    const auto set_flags = [&](IceTEnum name, const std::vector<IceTBoolean>& flags) {
        context_.at(name).set(ICET_BOOLEAN, std::span<const IceTBoolean>(flags));
    };
    context_.set_numbers(ICET_CONTAINED_VIEWPORT, projected_.pixels);
    context_.set_real(ICET_NEAR_DEPTH, projected_.near);
    context_.set_real(ICET_FAR_DEPTH, projected_.far);
    context_.set_number(ICET_NUM_CONTAINED_TILES, static_cast<IceTInt>(list.size()));
    context_.set_numbers(ICET_CONTAINED_TILES_LIST, list);
    set_flags(ICET_CONTAINED_TILES_MASK, own_mask);
    set_flags(ICET_ALL_CONTAINED_TILES_MASKS, masks);
    context_.set_numbers(ICET_TILE_CONTRIB_COUNTS, counts);
    context_.set_number(ICET_TOTAL_IMAGE_COUNT, total);
    std::vector<double> flat;
    for (const Viewport& tile : tiles_) {
        const Matrix matrix = product(projection_onto(tile, whole_), projection_);
        flat.insert(flat.end(), matrix.begin(), matrix.end());
    }
    context_.set_reals(ICET_TILE_PROJECTIONS, flat);
}

/// Calls the draw callback for a view of the display.
void Frame::render(const Viewport& view, const Viewport& readback, Pixels& planes) {
    const IceTInt width = context_.number(ICET_PHYSICAL_RENDER_WIDTH);
    const IceTInt height = context_.number(ICET_PHYSICAL_RENDER_HEIGHT);
    planes.shape(common_.color_format, common_.depth_format, width, height,
                 &context_.communicator());
    const auto callback = context_.at(ICET_DRAW_FUNCTION).as<IceTDrawCallbackType>().at(0);
    const Viewport physical = {view[0], view[1], width, height};
    const Matrix projection = product(projection_onto(physical, whole_), projection_);
    context_.set_numbers(ICET_RENDERED_VIEWPORT, physical);
    const double before = wall_time();
    callback(projection.data(), modelview_.data(), background_.data(), readback.data(),
             handle(&planes));
    render_time_ += wall_time() - before;
}

/// Renders this rank's part of a tile.
DrawnPart Frame::render_part(std::size_t tile, const Viewport& part) {
    const Viewport& whole = tiles_[tile];
    const IceTInt width = context_.number(ICET_PHYSICAL_RENDER_WIDTH);
    const IceTInt height = context_.number(ICET_PHYSICAL_RENDER_HEIGHT);
    if (width < whole[2] || height < whole[3])
        throw Raised(
            ICET_INVALID_VALUE,
            fmt::format("images of {}x{} pixels are rendered (icetPhysicalRenderSize), but "
                        "a tile has {}x{}",
                        width, height, whole[2], whole[3]));
    const Viewport at = {part[0] - whole[0], part[1] - whole[1], part[2], part[3]};
    const bool floats = part != drawn_ && context_.enabled(ICET_FLOATING_VIEWPORT) &&
                        drawn_[2] <= width && drawn_[3] <= height;
    if (!floats) {
        Pixels& planes = compositors_[tile]->planes;
        render(whole, at, planes);
        return {&planes, at, at};
    }
    if (!floats_) // one image serves all tiles
        render(drawn_, {0, 0, drawn_[2], drawn_[3]}, context_.floating);
    floats_ = true;
    return {&context_.floating, {part[0] - drawn_[0], part[1] - drawn_[1], part[2], part[3]}, at};
}

/// Draws this rank's part of a tile.
DrawnPart Frame::draw(std::size_t tile) {
    const Viewport& whole = tiles_[tile];
    const Viewport part = common(drawn_, whole);
    if (is_empty(part)) {
        if (!given_ && context_.enabled(ICET_RENDER_EMPTY_IMAGES))
            render(whole, {0, 0, 0, 0}, context_.unused);
        return {};
    }
    if (!given_)
        return render_part(tile, part);
    return {&given_planes_,
            {part[0] - whole_[0], part[1] - whole_[1], part[2], part[3]},
            {part[0] - whole[0], part[1] - whole[1], part[2], part[3]}};
}

/// The caller's planes (icetCompositeImage), during the call.
Pixels Frame::given_planes() const {
    Pixels planes;
    planes.color_format = common_.color_format;
    planes.depth_format = common_.depth_format;
    planes.width = whole_[2];
    planes.height = whole_[3];
    if (given_->color)
        planes.color =
            borrowed_memory(given_->color, planes.count() * color_size(planes.color_format));
    if (given_->depth)
        planes.depth =
            borrowed_memory(given_->depth, planes.count() * depth_size(planes.depth_format));
    return planes;
}

/// Returns the compositor of a tile. Reuses that of earlier frames if they match this frame.
TileCompositor& Frame::compositor_of(std::size_t tile) {
    TileTask task = common_;
    task.tile = tiles_[tile];
    task.display = displays_[tile];
    for (auto& kept : context_.tiles) {
        const bool is_used = std::ranges::find(compositors_, kept.get()) != compositors_.end();
        if (!is_used && kept->task() == task)
            return *kept;
    }
    context_.tiles.push_back(make_tile_compositor(context_.communicator(), task, context_.sharing));
    return *context_.tiles.back();
}

/// Allocates the image of a tile, on ranks that receive pixels of it.
void Frame::shape_result(std::size_t tile) {
    if (!common_.collects || displays_[tile] == context_.rank())
        context_.result.shape(common_.color_format,
                              keeps_depth_ ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE,
                              tiles_[tile][2], tiles_[tile][3], &context_.communicator());
}

void Frame::forget_new_compositors() {
    std::erase_if(context_.tiles, [](const auto& kept) { return !kept->is_set_up(); });
}

/// Drops the least recently used compositors, because resizing a window leaves many. Called only if
/// no rank has failed before compositing, so that all ranks drop the same compositors.
void Frame::keep_recent_compositors() {
    forget_new_compositors();
    const auto is_used = [this](const auto& kept) {
        return std::ranges::find(compositors_, kept.get()) != compositors_.end();
    };
    std::ranges::stable_partition(context_.tiles, std::not_fn(is_used));
    constexpr std::size_t most_kept = 8;
    const std::size_t most = most_kept + compositors_.size();
    if (context_.tiles.size() > most)
        context_.tiles.erase(context_.tiles.begin(),
                             context_.tiles.end() - static_cast<std::ptrdiff_t>(most));
}

/// All ranks, front to back.
std::vector<int> Frame::order() const {
    std::vector<int> ranks(static_cast<std::size_t>(context_.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (!context_.enabled(ICET_ORDERED_COMPOSITE))
        return ranks;
    std::vector<int> order = context_.numbers(ICET_COMPOSITE_ORDER);
    if (!std::ranges::is_permutation(order, ranks))
        throw Raised(ICET_INVALID_VALUE,
                     fmt::format("the composite order {} does not name each of {} ranks once",
                                 fmt::join(order, ","), context_.size()));
    return order;
}

/// Reports the configuration for a tile at its first frame. The prediction may probe the machine;
/// this time is not part of the frame's time.
void Frame::describe_plan(TileCompositor& compositor, const TileFrame& frame) {
    if (!compositor.is_new())
        return;
    const double before = wall_time();
    const TilePlan plan = compositor.plan();
    const Seconds predicted = reports_ ? compositor.predict(frame) : 0;
    const Viewport& tile = compositor.task().tile;
    const std::string name =
        fmt::format("{}x{} pixels of {}", tile[2], tile[3], composition_.element.name);
    debug("icetDrawFrame", fmt::format("{}: {}: {}", name, plan.text, plan.reason));
    if (context_.history)
        context_.history->add(History::Tile{name, plan.text, plan.reason, predicted});
    began_ += wall_time() - before;
}

/// Composites a tile. Returns true if this rank holds pixels of the composited tile.
bool Frame::composite(std::size_t tile, const std::vector<Request>& all) {
    TileCompositor& compositor = *compositors_[tile];
    const TileTask& task = compositor.task();
    std::vector<Viewport> parts;
    for (const Request& request : all) {
        Viewport part = common(request.drawn, task.tile);
        if (!is_empty(part)) {
            part[0] -= task.tile[0];
            part[1] -= task.tile[1];
        }
        parts.push_back(part);
    }
    const std::vector<int> ranks = order();
    const TileFrame frame{parts, ranks, true_background_, keeps_depth_, &context_.result};
    const TilePiece piece = compositor.composite(frame);
    describe_plan(compositor, frame);
    sent_ += compositor.sent();
    blend_time_ += compositor.unpack_time();
    if (context_.checks)
        check_frame(context_, task, drawn_parts_[tile], frame, piece);
    const bool has_pixels = task.collects ? displays_[tile] == context_.rank() : piece.count > 0;
    if (!has_pixels)
        return false;
    context_.set_number(ICET_VALID_PIXELS_TILE, static_cast<IceTInt>(tile));
    context_.set_number(ICET_VALID_PIXELS_OFFSET, static_cast<IceTInt>(piece.first));
    context_.set_number(ICET_VALID_PIXELS_NUM, static_cast<IceTInt>(piece.count));
    return true;
}

void Frame::finish() {
    const double total = wall_time() - began_;
    context_.set_real(ICET_RENDER_TIME, render_time_);
    context_.set_real(ICET_BUFFER_READ_TIME, read_time_);
    context_.set_real(ICET_BUFFER_WRITE_TIME, 0);
    context_.set_real(ICET_COMPRESS_TIME, 0);
    context_.set_real(ICET_INTERLACE_TIME, 0);
    context_.set_real(ICET_BLEND_TIME, blend_time_);
    context_.set_real(ICET_COLLECT_TIME, 0);
    context_.set_real(ICET_TOTAL_DRAW_TIME, total);
    context_.set_real(ICET_COMPOSITE_TIME, total - render_time_ - read_time_);
    context_.set_number(ICET_BYTES_SENT, static_cast<IceTInt>(std::min<Bytes>(sent_, 2147483647)));
    if (reports_)
        report_times(total - render_time_ - read_time_ - wait_time_);
}

/// Gathers the times of all ranks on rank 0. Collective.
void Frame::report_times(double composite) {
    const RankTimes own = {static_cast<float>(render_time_), static_cast<float>(read_time_),
                           static_cast<float>(wait_time_), static_cast<float>(composite)};
    std::vector<RankTimes> all = context_.communicator().all_gather(own);
    if (context_.history)
        context_.history->add(std::move(all));
}

/// Sets, during a frame, the state variables that show that a frame is being drawn.
class Drawing {
  public:
    Drawing(Context& context, const void* frame) : context_(context), mark_(next_mark()) {
        if (context.draws(frame))
            throw Raised(ICET_INVALID_OPERATION, "a frame is being drawn: recursive call");
        context.begin_drawing(frame, mark_);
        context.set_number(ICET_FRAME_COUNT, context.number(ICET_FRAME_COUNT) + 1);
        context.set_number(ICET_VALID_PIXELS_TILE, -1);
        context.set_number(ICET_VALID_PIXELS_OFFSET, 0);
        context.set_number(ICET_VALID_PIXELS_NUM, 0);
    }
    ~Drawing() { context_.end_drawing(); }
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;

  private:
    /// Returns a number that is unlikely to occur elsewhere on the stack.
    static std::uint64_t next_mark() {
        static std::atomic<std::uint64_t> marks{0};
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        return ++marks * odd;
    }

    Context& context_;
    const volatile std::uint64_t mark_;
};

} // namespace
} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

/// Differs: 8-bit colours are rounded to nearest after each blending, so they can differ by one
/// level per rank. At equal depths, the lower rank wins. If the ranks pass different values, or a
/// callback throws, every rank gets an error that names the rank. Images of several tiles are
/// collected even if ICET_COLLECT_IMAGES is off.
IceTImage icetDrawFrame(const IceTDouble* projection_matrix, const IceTDouble* modelview_matrix,
                        const IceTFloat* background_color) {
    const void* const frame = __builtin_frame_address(0);
    return guarded(__func__, icetImageNull(), [&] {
        Context& context = current();
        const Drawing drawing(context, frame);
        return Frame(context, projection_matrix, modelview_matrix, background_color, nullptr).run();
    });
}

/// Differs: in the same ways as icetDrawFrame.
IceTImage icetCompositeImage(const IceTVoid* color_buffer, const IceTVoid* depth_buffer,
                             const IceTInt* valid_pixels_viewport,
                             const IceTDouble* projection_matrix,
                             const IceTDouble* modelview_matrix,
                             const IceTFloat* background_color) {
    const void* const frame = __builtin_frame_address(0);
    return guarded(__func__, icetImageNull(), [&] {
        Context& context = current();
        const Viewport whole = context.viewport(ICET_GLOBAL_VIEWPORT);
        Rendered rendered{color_buffer, depth_buffer, {0, 0, whole[2], whole[3]}};
        if (valid_pixels_viewport) {
            Viewport valid;
            std::copy_n(valid_pixels_viewport, 4, valid.begin());
            if (!is_empty(valid) && common(valid, rendered.valid) != valid)
                report(ICET_INVALID_VALUE, "icetCompositeImage",
                       fmt::format(
                           "the valid pixels, {}x{} at {}, {}, are not within the image of {}x{}",
                           valid[2], valid[3], valid[0], valid[1], whole[2], whole[3]),
                       ICET_DIAG_WARNINGS);
            rendered.valid = common(valid, rendered.valid);
        }
        const Drawing drawing(context, frame);
        return Frame(context, projection_matrix, modelview_matrix, background_color, &rendered)
            .run();
    });
}

} // extern "C"
