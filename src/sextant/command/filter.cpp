// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/filter.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

/// The options of `sextant filter`.
struct FilterCommand {
    SourceChoice source;
    std::string output;
    FilterOptions filter = {.probing = planner::Probing::now};
    std::optional<std::int64_t> ranks;
    std::string plan;
    Reports reports;
};

Record record_of(FilterCommand& command) {
    Record record =
        record_of(command.source, "a grey image, or a series with --frame (docs/frames.md)");
    record
        .add("output", command.output, "OUT",
             "one float32 plane per derivative: .npy, .tif, .mrc or .zarr")
        .file()
        .letter('o')
        .required();
    Record filter = record_of(command.filter);
    offer_no_probe(filter, command.filter.probing);
    record.include(std::move(filter));
    declare_ranks(record, command.ranks, "one per tile of --grid, or one per core");
    record.add("plan", command.plan, "FILE", "use this plan; if the file does not exist, write it")
        .file();
    return record.include(record_of(command.reports));
}

/// One rank's part of `sextant filter`: rank 0 writes the planes, the page and the texts. All ranks
/// agree on the result of each phase, so that no output is left if any rank fails.
class FilterRun {
  public:
    FilterRun(const FilterCommand& command, const Communicator& communicator)
        : command_(command), communicator_(communicator), progress_(communicator.rank() == 0) {}

    void run() {
        open_source();
        std::optional<Filtering> filtering;
        agree(communicator_, [&] {
            FilterOptions options = command_.filter;
            summary_.filters = filters_of(options);
            saves_plan_ = !command_.plan.empty() && !std::filesystem::exists(command_.plan);
            if (is_root() && !command_.plan.empty() && !saves_plan_)
                options.plan = read_plan(options);
            filtering.emplace(communicator_, std::move(options),
                              RunControl{[&](auto part, auto done, auto all) {
                                  progress_.say(part, done, all);
                              }});
            if (is_root())
                create_outputs(*filtering);
        });
        summary_.result = filtering->run(
            source_.get(), [&](int derivative, Elements first, std::span<const float> rows) {
                sink_->write(derivative, first, rows);
                if (shown_ && derivative == 0)
                    shown_->add(first, rows);
            });
        timed(summary_.result.write, [&] {
            agree(communicator_, [&] {
                if (is_root())
                    sink_->commit();
            });
        });
        agree(communicator_, [&] {
            if (is_root())
                report();
        });
    }

  private:
    bool is_root() const { return communicator_.rank() == 0; }

    /// Opens the image. Rank 0 must be able to read it; other ranks need not, except with
    /// --distribute read.
    void open_source() {
        try {
            source_ = open_image(command_.source);
        } catch (const Error&) { // thrown again below if this rank needs the image
        }
        const bool root_has = communicator_.all_gather(static_cast<char>(source_ != nullptr))[0];
        agree(communicator_, [&] {
            if (!source_ && (!root_has || command_.filter.distribute == "read"))
                source_ = open_image(command_.source);
        });
    }

    distributed::FilterPlan read_plan(const FilterOptions& options) const {
        const std::string& path = command_.plan;
        distributed::FilterPlan plan =
            distributed::read_filter_plan(path, {.filters = summary_.filters,
                                                 .image = source_->shape(),
                                                 .element = source_->element(),
                                                 .ranks = communicator_.size()});
        if (options.grid &&
            *options.grid != Tiles{plan.configuration.columns, plan.configuration.rows})
            throw InvalidTask(
                fmt::format("grid {}x{}: the plan {} has {}x{} tiles; omit the grid or the plan",
                            options.grid->columns, options.grid->rows, path,
                            plan.configuration.columns, plan.configuration.rows));
        return plan;
    }

    /// Checks all files before filtering, and opens the output.
    void create_outputs(const Filtering& filtering) {
        summary_.image = command_.source.image;
        summary_.output = command_.output;
        summary_.ranks = communicator_.size();
        summary_.transport = transport_of(communicator_);
        warn(source_->header().remarks);
        std::vector<std::string> outputs =
            files_named({command_.output, command_.reports.json, command_.reports.report});
        std::vector<std::string> read = files_read(command_.source, command_.filter.machine);
        if (!command_.plan.empty())
            (saves_plan_ ? outputs : read).push_back(command_.plan);
        check_frames_name(summary_.output, Sample::f32);
        keep_inputs(read, outputs);
        check_outputs(outputs);
        const std::vector<double> offsets = filtering.offsets(source_->offset());
        const bool has_offset =
            std::any_of(offsets.begin(), offsets.end(), [](double offset) { return offset != 0; });
        const double offset = has_offset ? source_->offset() : 0;
        warn({offset_remark(offset, summary_.output)});
        const FrameHeader header{.frames = std::ssize(offsets),
                                 .shape = source_->shape(),
                                 .sample = sample_with_offset(summary_.output, offset),
                                 .pixel = source_->header().pixel};
        sink_ = std::make_unique<PlaneSink>(
            format::create_frames(summary_.output, header, {format::StackAxis::slices}), offsets);
        if (!command_.reports.report.empty())
            shown_.emplace(source_->shape());
    }

    void warn(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            if (!warning.empty())
                summary_.warnings.push_back(warning);
        }
    }

    void report() {
        progress_.clear();
        warn(summary_.result.warnings);
        if (summary_.result.not_a_number > 0)
            warn({fmt::format(
                "{}: {} samples are not numbers (NaN); results computed from them are NaN too",
                summary_.image, summary_.result.not_a_number)});
        if (shown_)
            summary_.picture = shown_->png();
        if (saves_plan_)
            write_text(command_.plan, to_json(summary_.result.plan) + "\n");
        write_reports(command_.reports, summary_.warnings, to_json(summary_), to_text(summary_),
                      command_.reports.report.empty() ? "" : to_page(summary_));
    }

    const FilterCommand& command_;
    const Communicator& communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<PlaneSink> sink_;
    std::optional<Overview> shown_; // overview of the first derivative
    FilterSummary summary_;
    bool saves_plan_ = false;
};

int run_filter(const FilterCommand& command, const Call& call) {
    if (command.filter.border != kernel::Border::constant)
        call.refuse({"border_value"}, "expected --border constant");
    if (command.filter.kernel != kernel::GaussianKernel::Weights::gaussian)
        call.refuse({"truncate"}, "the kernel p3pc has a fixed size");
    launch_tiles(call, command.filter.grid, [&](Communicator communicator) {
        naming_options(call.options, [&] { FilterRun(command, communicator).run(); });
    });
    return 0;
}

} // namespace

Operation filter_operation() {
    return declare_command<FilterCommand>(
        "filter", "smooth a grey image, and compute its derivatives and features",
        "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
        "  mpirun -n 2 sextant filter scan.npy -o edges.tif --derivatives gradient-magnitude",
        run_filter);
}

std::string text_of(const kernel::GaussianKernel& kernel) {
    using Weights = kernel::GaussianKernel::Weights;
    return kernel.weights == Weights::p3pc ? "p3pc"
           : kernel.weights == Weights::gaussian
               ? "gaussian"
               : fmt::format("gaussian, truncated at {} sigmas", kernel.truncation);
}

std::string text_of(const distributed::Filters& filters) {
    std::string text;
    for (const distributed::Filter& filter : filters)
        text += fmt::format("{}{} at sigma {}", text.empty() ? "" : ", then ",
                            fmt::join(filter.features, ", "), filter.sigma);
    const kernel::GaussianKernel& kernel = filters.back().kernel;
    return kernel == kernel::GaussianKernel{} ? text : text + ", kernel " + text_of(kernel);
}

} // namespace sextant::command
