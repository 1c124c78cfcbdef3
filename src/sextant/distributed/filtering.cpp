// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/filtering.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/distributed/filter_configurations.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

using distributed::Filter;
using distributed::FilterPlan;
using distributed::Filters;

std::string text_of(const kernel::Scales& scales) {
    return scales == kernel::Scales(scales.x)
               ? fmt::format("{}", scales.x)
               : fmt::format("{},{},{}", scales.z, scales.y, scales.x);
}

namespace {

/// The largest number of voxels of a volume: sizes computed from it cannot overflow.
constexpr Elements most_voxels = Elements{1} << 44;

/// Formats of samples that are filtered without conversion.
const ElementFormat filtered_elements[] = {gray_f32, gray_u8, gray_u16};

kernel::GaussianKernel kernel_of(const FilterOptions& options) {
    using Weights = kernel::GaussianKernel::Weights;
    if (!options.truncate) {
        if (options.kernel == Weights::truncated)
            throw InvalidTask(
                "kernel truncated: expected the kernel gaussian with the option truncate");
        return {options.kernel, 0};
    }
    if (options.kernel == Weights::p3pc)
        throw InvalidTask(
            fmt::format("truncate {}: the kernel p3pc has a fixed size", *options.truncate));
    return {Weights::truncated, *options.truncate};
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

/// Converts feature names to and from text such as "x,y,xx".
Codec codec_of(std::vector<std::string>& names) {
    return {[&names] { return fmt::format("{}", fmt::join(names, ",")); },
            [&names](const Field&, std::string_view text) {
                names = split(text);
                return "";
            }};
}

/// True for a number that may be a scale in some unit.
bool is_scale(double number) {
    constexpr double most = 1e30;
    return number >= 1 / most && number <= most;
}

/// Converts filters to and from text such as "smooth@2.5,x@1".
Codec codec_of(std::vector<EarlierFilter>& filters) {
    return {
        [&filters] {
            std::string text;
            for (const EarlierFilter& filter : filters)
                text +=
                    fmt::format("{}{}@{}", text.empty() ? "" : ",", filter.feature, filter.sigma);
            return text;
        },
        [&filters](const Field&, std::string_view text) {
            filters.clear();
            for (const std::string& each : split(text)) {
                const auto at = std::min(each.find('@'), each.size());
                const auto sigma = parsed_number<double>(
                    std::string_view(each).substr(std::min(at + 1, each.size())));
                if (!sigma || !is_scale(*sigma)) // the range of pixels is checked later
                    return fmt::format(
                        "a derivative or feature, @ and a sigma from {} to {}, such as smooth@2",
                        kernel::smallest_sigma, kernel::largest_sigma);
                filters.push_back({each.substr(0, at), *sigma});
            }
            return std::string();
        }};
}

/// The end of a text after its last number, without spaces: "um" of "4,2,2 um".
std::string_view unit_after_number(std::string_view text) {
    std::string_view last = text.substr(text.find_last_of(',') + 1);
    std::size_t end = last.size();
    while (end > 0 && !parsed_number<double>(last.substr(0, end)))
        --end;
    if (end == 0) // no number
        return "";
    last.remove_prefix(end);
    last.remove_prefix(std::min(last.find_first_not_of(' '), last.size()));
    return last;
}

} // namespace

Codec codec_of(kernel::Scales& scales, std::string* unit) {
    return {[&scales, unit] { return text_of(scales) + (unit ? *unit : ""); },
            [&scales, unit](const Field& field, std::string_view text) {
                const std::string stated(unit ? unit_after_number(text) : "");
                text.remove_suffix(stated.size());
                while (!stated.empty() && text.ends_with(' '))
                    text.remove_suffix(1);
                std::vector<double> numbers;
                for (const std::string& each : split(text)) {
                    const auto number = parsed_number<double>(each);
                    const bool fits =
                        number && (stated.empty() ? *number >= field.least && *number <= field.most
                                                  : is_scale(*number));
                    if (!fits)
                        break;
                    numbers.push_back(*number);
                }
                const std::size_t count = split(text).size();
                if (numbers.size() != count || (count != 1 && count != 3))
                    return fmt::format("a number from {} to {}; of a volume, also one each for "
                                       "z,y,x{}",
                                       field.least, field.most,
                                       unit ? "; or with a unit, such as 2um" : "");
                scales = count == 1 ? kernel::Scales(numbers[0])
                                    : kernel::Scales(numbers[2], numbers[1], numbers[0]);
                if (unit)
                    *unit = stated;
                return std::string();
            }};
}

namespace {

/// Counts the NaNs in `count` samples.
Elements count_not_a_number(const ElementFormat& element, const std::byte* samples,
                            Elements count) {
    if (element != gray_f32)
        return 0;
    const auto* const first = reinterpret_cast<const float*>(samples);
    return std::count_if(first, first + count, [](float f) { return std::isnan(f); });
}

/// True if the filter's output contains the offset of its input.
bool keeps_offset(const Filter& filter) {
    return filter.features == std::vector<std::string>{"smooth"};
}

/// Adapts filters to samples from which the offset was subtracted: subtracts it from the border
/// value.
Filters filters_less_offset(Filters filters, double border_value, double offset) {
    for (Filter& filter : filters) {
        filter.border.constant = static_cast<float>(border_value - offset);
        if (!keeps_offset(filter))
            break;
    }
    return filters;
}

/// Returns the predicted time of reading and filtering, on rank 0; none without a prediction.
std::optional<Seconds> expected(const FilterPlan& plan) {
    if (!plan.predicted)
        return std::nullopt;
    return plan.predicted->seconds + plan.predicted->read.value_or(0);
}

/// A short text: "640x480", or "640x480x100" with the planes of a volume.
std::string shape_text(ImageShape image, Elements planes) {
    const std::string text = fmt::format("{}x{}", image.width, image.height);
    return planes > 1 ? fmt::format("{}x{}", text, planes) : text;
}

Elements sum_over_ranks(const Communicator& communicator, Elements count) {
    const std::vector<Elements> all = communicator.all_gather(count);
    return std::accumulate(all.begin(), all.end(), Elements{0});
}

/// One rank's part in filtering one image.
class FilterRun {
  public:
    FilterRun(const Communicator& communicator, const FilterOptions& options,
              const RunControl& control, const OfferedSharing& sharing, RowSource* source,
              kernel::Dimensions dimensions)
        : communicator_(communicator),
          options_(options),
          dimensions_(dimensions),
          control_(control),
          source_(source),
          shared_(sharing.shared) {
        result_.sharing = sharing.choice;
        warn({sharing.warning});
    }

    FilterResult run(const Filters& filters, const FilterSink& write);

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    /// The communicator with shared memory on nodes if it is used, otherwise the original one.
    const Communicator& ranks() const { return shared_ ? *shared_ : communicator_; }
    void examine_sources();
    void describe(const Filters& filters);
    void plan();
    void plan_on(const Communicator& communicator, const std::vector<int>& nodes);
    FilterPlan planned(const std::vector<int>& nodes, const planner::DefaultPlanner& usual);
    void broadcast_plan();
    void filter_windows(const FilterSink& write);
    void check_source() const;
    void read_window(distributed::WindowFilter& filter, Elements first, Elements rows);
    void warn(const std::vector<std::string>& warnings);
    void warn_of_idle_ranks();

    const Communicator& communicator_;
    const FilterOptions& options_;
    const kernel::Dimensions dimensions_;
    const RunControl& control_;
    RowSource* const source_;
    std::optional<Communicator> shared_; // set if processes of a node share memory
    distributed::FilterTask task_;
    FilterResult result_;
    double offset_ = 0; // offset of rank 0's image
};

FilterResult FilterRun::run(const Filters& filters, const FilterSink& write) {
    examine_sources();
    describe(filters);
    plan();
    filter_windows(write);
    result_.image = task_.image;
    result_.depth = task_.depth;
    result_.element = task_.element;
    warn_of_idle_ranks();
    return std::move(result_);
}

/// Finds out which ranks can read the image.
void FilterRun::examine_sources() {
    const std::vector<char> have = communicator_.all_gather(static_cast<char>(source_ != nullptr));
    const bool everyone = std::all_of(have.begin(), have.end(), [](char has) { return has != 0; });
    agree(communicator_, [&] {
        if (have[0] == 0)
            throw InvalidTask("rank 0 has no image");
        if (options_.distribute == "read" && !source_)
            throw InvalidTask("distribute read: every rank needs an image, but this rank has none");
    });
    task_.distribute = options_.distribute;
    if (options_.distribute == "any" && !everyone) {
        task_.distribute = "scatter";
        if (is_root())
            warn({source_->path() + " is available on rank 0 only, which distributes it"});
    }
    offset_ = communicator_.all_gather(source_ ? source_->offset() : 0.)[0];
}

/// Broadcasts the image's shape and format.
void FilterRun::describe(const Filters& filters) {
    struct Described {
        ImageShape image;
        Elements planes;
        int element;
    };
    Described described{};
    if (is_root()) {
        const auto* const kind = std::find(std::begin(filtered_elements),
                                           std::end(filtered_elements), source_->element());
        described = {source_->shape(), source_->planes(),
                     static_cast<int>(kind - filtered_elements)};
    }
    described = communicator_.all_gather(described)[0];
    agree(communicator_, [&] {
        if (is_root() && described.element == std::ssize(filtered_elements))
            throw InvalidTask(fmt::format("{}: samples of {}, expected f32, u8 or u16",
                                          source_->path(), source_->element().name));
        if (dimensions_ == kernel::Dimensions::two && described.planes != 1)
            throw InvalidTask("a volume is filtered with the options of an image");
        if (described.planes > most_voxels / std::max<Elements>(1, described.image.elements()))
            throw InvalidTask(fmt::format(
                "{}: {} voxels, expected at most {}", is_root() ? source_->path() : "the volume",
                shape_text(described.image, described.planes), most_voxels));
    });
    task_.filters = filters_less_offset(filters, options_.border_value, offset_);
    task_.image = described.image;
    task_.depth = dimensions_ == kernel::Dimensions::three ? described.planes : 0;
    task_.element = filtered_elements[described.element];
    task_.ranks = communicator_.size();
    task_.grid = options_.grid;
}

/// Rank 0 plans and broadcasts the plan. If the use of shared memory on nodes was left open, the
/// faster choice is made by prediction.
void FilterRun::plan() {
    if (is_root())
        control_.report("plan", 0, 1);
    const std::vector<int> nodes = nodes_of(communicator_);
    plan_on(ranks(), nodes);
    if (shared_ && !result_.sharing.settled) {
        const FilterPlan in_memory = result_.plan;
        const bool shares_all = task_.shares_memory;
        plan_on(communicator_, nodes);
        result_.sharing =
            choose_sharing(communicator_, expected(in_memory), expected(result_.plan));
        if (result_.sharing.shares) {
            result_.plan = in_memory;
            task_.shares_memory = shares_all;
        } else {
            shared_.reset();
        }
    }
    broadcast_plan();
}

void FilterRun::plan_on(const Communicator& communicator, const std::vector<int>& nodes) {
    task_.shares_memory = reads_all(communicator, nodes);
    const planner::DefaultPlanner usual =
        calibrate::planner_here(communicator, nodes, options_.machine, options_.probing);
    agree(communicator_, [&] {
        control_.check();
        if (is_root())
            result_.plan = planned(nodes, usual);
    });
}

FilterPlan FilterRun::planned(const std::vector<int>& nodes, const planner::DefaultPlanner& usual) {
    warn(usual.warnings);
    const planner::Setting setting{.machine = usual.planner->machine(),
                                   .element_size = gray_f32.size,
                                   .nodes = nodes,
                                   .within_node = task_.shares_memory ? machine::Link::same_process
                                                                      : machine::Link::same_node};
    FilterPlan plan;
    if (options_.plan) {
        plan = *options_.plan;
        distributed::check(plan, task_);
        plan.memory = distributed::memory_of(plan.configuration, task_, plan.window);
        distributed::predict_windows(plan, task_, setting);
        return plan;
    }
    return distributed::plan_windows(task_, setting, options_.memory);
}

void FilterRun::broadcast_plan() {
    FilterPlan bare = result_.plan;
    bare.alternatives.clear();
    const std::string plan =
        all_gather_texts(communicator_, is_root() ? to_json(bare) : "").front();
    if (!is_root())
        result_.plan = distributed::parse_filter_plan(plan, "the plan of rank 0", task_);
}

/// Filters all windows on the ranks that the plan uses; failures are reported to all ranks.
void FilterRun::filter_windows(const FilterSink& write) {
    const FilterPlan& plan = result_.plan;
    const ImageShape image = task_.image;
    const bool takes_part = communicator_.rank() < plan.configuration.ranks();
    const Communicator group = ranks().split(takes_part ? 0 : -1, 0);
    std::optional<distributed::WindowFilter> filter;
    agree(communicator_, [&] {
        if (!takes_part)
            return;
        check_source();
        filter.emplace(group, task_.filters, task_.element, true, dimensions_);
    });
    for (Elements first = 0; first < task_.length(); first += plan.window) {
        if (is_root())
            control_.report("filter", first, task_.length());
        const Elements rows = std::min(plan.window, task_.length() - first);
        timed(result_.read, [&] {
            agree(communicator_, [&] {
                control_.check();
                if (!takes_part)
                    return;
                filter->prepare({image, first, rows, plan.configuration, task_.depth});
                read_window(*filter, first, rows);
            });
        });
        timed(result_.filter, [&] {
            agree(communicator_, [&] {
                if (takes_part)
                    filter->run();
            });
        });
        timed(result_.write, [&] {
            agree(communicator_, [&] {
                for (int k = 0; is_root() && k < std::ssize(task_.features()); ++k)
                    write(k, first, filter->plane(k));
            });
        });
        ++result_.windows;
    }
    if (takes_part)
        warn({shortage_of(group)});
    result_.not_a_number = sum_over_ranks(communicator_, result_.not_a_number);
}

/// Checks that this rank has the same image as rank 0: another node may have a different file of
/// that name.
void FilterRun::check_source() const {
    if (result_.plan.configuration.distribute || is_root())
        return;
    if (!source_) // the user's plan may require every rank to read
        throw InvalidTask(
            "the plan requires every rank to read its tile, but this rank has no image");
    const ImageShape here = source_->shape();
    if (here.width != task_.image.width || here.height != task_.image.height ||
        source_->planes() != std::max<Elements>(1, task_.depth) ||
        source_->element() != task_.element)
        throw InvalidFile(source_->path(),
                          fmt::format("is {} {} on this rank, expected {} {} as on rank 0",
                                      shape_text(here, source_->planes()), source_->element().name,
                                      shape_text(task_.image, task_.depth), task_.element.name));
    if (source_->offset() != offset_)
        throw InvalidFile(
            source_->path(),
            fmt::format("has samples relative to {} on this rank, expected {} as on rank 0",
                        source_->offset(), offset_));
}

/// Fills the window. Counts NaNs in this rank's own rows or planes, not in those read for the
/// margin.
void FilterRun::read_window(distributed::WindowFilter& filter, Elements first, Elements rows) {
    filter.fill([&](const Tile& part, std::span<std::byte> to) {
        distributed::read_part(*source_, part, to);
        if (task_.is_volume()) { // one plane
            if (part.z >= first && part.z < first + rows)
                result_.not_a_number +=
                    count_not_a_number(task_.element, to.data(), part.elements());
            return;
        }
        const Elements above = std::clamp<Elements>(first - part.y, 0, part.height);
        const Elements end = std::clamp<Elements>(first + rows - part.y, above, part.height);
        result_.not_a_number +=
            count_not_a_number(task_.element, to.data() + above * part.width * task_.element.size,
                               (end - above) * part.width);
    });
}

/// Adds warnings that are new and not empty.
void FilterRun::warn(const std::vector<std::string>& warnings) {
    std::vector<std::string>& all = result_.warnings;
    for (const std::string& warning : warnings) {
        if (!warning.empty() && std::find(all.begin(), all.end(), warning) == all.end())
            all.push_back(warning);
    }
}

void FilterRun::warn_of_idle_ranks() {
    const FilterPlan& plan = result_.plan;
    for (const filtering::Retiling& tiles : plan.configuration.all_tiles()) {
        const Elements height = task_.is_volume() ? task_.image.height : plan.window;
        const Elements depth = task_.is_volume() ? plan.window : 1;
        if (tiles.rows > height || tiles.columns > task_.image.width || tiles.layers > depth)
            warn({fmt::format("{} tiles in windows of {} pixels: some ranks are idle because "
                              "they have no pixels",
                              tiles.text(), shape_text({task_.image.width, height}, depth))});
    }
}

} // namespace

Record record_of(FilterOptions& options) {
    using kernel::Border;
    using Weights = kernel::GaussianKernel::Weights;
    constexpr double most_sample = 1e30; // largest border_value
    Record record;
    Field& sigma =
        record.add("sigma", codec_of(options.sigma, &options.unit), "SCALE",
                   "scale in pixels, 0.5 to 1000, or units (2um); of volumes also z,y,x");
    sigma.kind = options.unit.empty() ? Field::Kind::number : Field::Kind::text;
    sigma.between(kernel::smallest_sigma, kernel::largest_sigma);
    record.add("derivatives", codec_of(options.derivatives), "D,D,...",
               "derivatives or other features (docs/filters.md)");
    record.add("kernel", options.kernel, {{"gaussian", Weights::gaussian}, {"p3pc", Weights::p3pc}},
               "NAME", "filter weights, as in SciPy or in P-3PC");
    record
        .add("truncate", options.truncate, "SIGMAS",
             "truncation radius in sigmas; default: where weights become negligible")
        .between(0, kernel::largest_truncation);
    record.add("before", codec_of(options.before), "D@PIXELS,...",
               "filters to apply first, one after the other, such as smooth@2");
    record.add("border", options.border,
               {{"replicate", Border::replicate},
                {"mirror", Border::mirror},
                {"constant", Border::constant}},
               "HOW", "values outside the image");
    record
        .add("border_value", options.border_value, "V",
             "value of samples outside the image, for border constant")
        .between(-most_sample, most_sample);
    record.add_memory("memory", options.memory,
                      "memory limit for image and results; larger images are streamed");
    record.add("grid", options.grid,
               "columns x rows (x layers) of tiles; default: predicted to be fastest");
    record.add("distribute", options.distribute, "HOW",
               "how ranks get tiles: read (each its own), scatter, broadcast, any");
    record
        .add("shared_memory", options.shared_memory, "WHEN",
             "share memory between processes of a node")
        .one_of({"auto", "on", "off"});
    planner::declare_planning(record, options.machine, options.probing);
    return record;
}

Record record_of(const FilterResult& result) {
    Record record = {{"width", result.image.width, "width of the image in pixels"},
                     {"height", result.image.height, "height of the image in pixels"}};
    if (result.depth > 0)
        record.add_result("depth", result.depth, "planes of the volume; absent for an image");
    record.include({{"element", result.element.name, "the format of the samples"}});
    if (!result.sharing.reason.empty())
        record.add_result("shared_memory", record_of(result.sharing), "absent for threads");
    return record.include(
        {{"windows", result.windows,
          "windows of rows or planes that were filtered one after another"},
         {"memory", result.plan.memory,
          "memory for the image and all planes, on all ranks together, in bytes"},
         {"not_a_number", result.not_a_number, "number of NaN samples"},
         {"plan", json_of(result.plan), "the chosen tiles and collectives, with the reason"},
         {"seconds",
          {{"read", result.read}, {"filter", result.filter}, {"write", result.write}},
          "on this rank"}});
}

namespace {

/// The scales of options, converted to pixels. Throws InvalidTask, naming the option.
class ScalesInPixels {
  public:
    ScalesInPixels(const FilterOptions& options, kernel::Dimensions dimensions)
        : options_(options), dimensions_(dimensions) {
        const std::string text = text_of(options.sigma) + options.unit;
        if (dimensions == kernel::Dimensions::two &&
            options.sigma != kernel::Scales(options.sigma.x))
            throw InvalidTask(fmt::format("sigma {}: expected one number for an image", text));
        if (!options.unit.empty() && !options.pixel)
            throw InvalidTask(fmt::format(
                "sigma {}: the size of a pixel is unknown, expected a scale in pixels", text));
        if (!options.unit.empty())
            pixel_ = *options.pixel;
        sigma_ = {options.sigma.x / pixel_.x, options.sigma.y / pixel_.y,
                  options.sigma.z / pixel_.z};
        if (dimensions == kernel::Dimensions::two)
            sigma_.z = sigma_.x;
        if (const std::string wrong = wrong_scale(sigma_, dimensions); !wrong.empty())
            throw InvalidTask(fmt::format("sigma {}: {}", text, wrong));
    }

    const kernel::Scales& pixel() const { return pixel_; }
    const kernel::Scales& sigma() const { return sigma_; }

    kernel::Scales before(const EarlierFilter& earlier) const {
        return in_pixels("before", earlier.feature, earlier.sigma);
    }

    /// The features, with integration scales in pixels.
    std::vector<std::string> features() const {
        std::vector<std::string> all = options_.derivatives;
        for (std::string& feature : all) {
            const std::size_t at = feature.find('@');
            if (at == std::string::npos)
                continue;
            const auto scale = parsed_number<double>(std::string_view(feature).substr(at + 1));
            if (!scale || !is_scale(*scale))
                continue; // the kernel refuses the name
            const double pixels = in_pixels("derivatives", feature.substr(0, at), *scale).x;
            if (!options_.unit.empty())
                feature = fmt::format("{}@{}", feature.substr(0, at), pixels);
        }
        return all;
    }

  private:
    kernel::Scales in_pixels(const char* option, const std::string& feature, double scale) const {
        const kernel::Scales scales = kernel::in_proportion(sigma_, scale / pixel_.x);
        const std::string wrong = wrong_scale(scales, dimensions_);
        if (!wrong.empty())
            throw InvalidTask(fmt::format("{} {}@{}{}: {}{}", option, feature, scale, options_.unit,
                                          wrong, proportions()));
        return scales;
    }

    /// States how scales after @ differ between axes; empty if they do not.
    std::string proportions() const {
        if (sigma_ == kernel::Scales(sigma_.x))
            return "";
        return fmt::format(
            " (scales after @ have the ratios of sigma, {:.6g},{:.6g},{:.6g} pixels)", sigma_.z,
            sigma_.y, sigma_.x);
    }

    const FilterOptions& options_;
    const kernel::Dimensions dimensions_;
    kernel::Scales pixel_ = 1, sigma_ = 1;
};

} // namespace

Filters filters_of(const FilterOptions& options, kernel::Dimensions dimensions) {
    constexpr std::size_t most_before = 16, most_derivatives = 64;
    FilterOptions declared = options;
    record_of(declared).check();
    const auto check = [](const char* option, std::size_t names, std::size_t most) {
        if (names > most)
            throw InvalidTask(
                fmt::format("{} lists {} names, expected {} or fewer", option, names, most));
    };
    check("before", options.before.size(), most_before);
    check("derivatives", options.derivatives.size(), most_derivatives);
    const ScalesInPixels scales(options, dimensions);
    Filters filters;
    for (const EarlierFilter& earlier : options.before)
        filters.push_back({scales.before(earlier), {earlier.feature}, {}, {}});
    filters.push_back({scales.sigma(), scales.features(), {}, {}});
    for (Filter& filter : filters) {
        filter.border = {options.border, static_cast<float>(options.border_value)};
        filter.kernel = kernel_of(options);
        filter.pixel = scales.pixel();
        distributed::bank_of(filter, dimensions); // throws if the filter is not valid
    }
    return filters;
}

Filtering::Filtering(Communicator communicator, FilterOptions options, RunControl control,
                     kernel::Dimensions dimensions)
    : communicator_(std::move(communicator)),
      options_(std::move(options)),
      dimensions_(dimensions),
      filters_(filters_of(options_, dimensions)),
      control_(std::move(control)) {
    if (options_.grid && dimensions_ == kernel::Dimensions::two)
        grid_of(options_.grid, communicator_.size(), 1, 1);
    else if (options_.grid && options_.grid->count() != communicator_.size())
        throw InvalidTask(fmt::format("grid {}: {} tiles, expected one for each of the {} ranks",
                                      options_.grid->text(), options_.grid->count(),
                                      communicator_.size()));
    if (options_.distribute != "any")
        distributed::distributions_of({.distribute = options_.distribute});
    if (options_.memory < 1)
        throw InvalidTask(fmt::format("memory {}: expected at least 1", options_.memory));
}

FilterResult Filtering::run(RowSource* image, const FilterSink& write) {
    require_same(communicator_, options_);
    if (!sharing_)
        agree(communicator_,
              [&] { sharing_ = offer_sharing(options_.shared_memory, communicator_); });
    return FilterRun(communicator_, options_, control_, *sharing_, image, dimensions_)
        .run(filters_, write);
}

FilterResult Filtering::run(const distributed::Image& image) const {
    agree(communicator_, [&] { control_.check(); });
    FilterResult result{.image = image.shape(), .element = image.element(), .windows = 1};
    timed(result.filter, [&] { distributed::filter_tiles(image, filters_, result.planes); });
    result.not_a_number =
        sum_over_ranks(communicator_, count_not_a_number(image.element(), image.bytes().data(),
                                                         image.tile().elements()));
    return result;
}

std::vector<double> Filtering::offsets(double offset) const {
    const bool kept = std::all_of(filters_.begin(), filters_.end() - 1, keeps_offset);
    std::vector<double> offsets;
    for (const std::string& feature : filters_.back().features)
        offsets.push_back(kept && feature == "smooth" ? offset : 0);
    return offsets;
}

} // namespace sextant
