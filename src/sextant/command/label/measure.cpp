// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/label/label_command.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/label/label.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The options of `sextant measure`.
struct MeasureCommand {
    SourceChoice source;
    IntensityChoice intensity;
    std::string output;
    LabelOptions options;
    std::optional<std::int64_t> ranks;
    Reports reports;
};

Record record_of(MeasureCommand& command) {
    Record record =
        record_of(command.source, "labels: an image or a volume of integers; 0 is the background");
    record.without("frame");
    record.include(record_of(command.intensity,
                             "add sum, mean and extremes of an image or volume of the same shape"));
    declare_output(record, command.output, "FILE", "the table of regions (CSV)");
    record.include(record_in_measure(command.options));
    declare_ranks(record, command.ranks, "one, with a thread per core");
    Record reports = record_of(command.reports);
    reports.without("report");
    return record.include(std::move(reports));
}

Effects effects_of(MeasureCommand& command) {
    return {effect_of(command.intensity),
            effect_of_external({command.source.image, command.intensity.file})};
}

/// Runs the command on one rank. Rank 0 writes the files.
void measure(const MeasureCommand& command, const Communicator& communicator) {
    const bool is_root = communicator.rank() == 0;
    std::unique_ptr<FrameSource> labels, intensity;
    std::vector<std::string> remarks;
    Progress progress(is_root);
    LabelOptions options = command.options;
    options.threads = std::max(1, cores_of_host() / communicator.size());
    labels = open_on_ranks(communicator, [&](const ScratchPlace& copy) {
        return format::open_frames(command.source.image, command.source.options(copy));
    });
    intensity = open_on_ranks(communicator, [&](const ScratchPlace& copy) {
        return command.intensity.open(command.source, copy);
    });
    agree(communicator, [&] {
        remarks = labels->header().remarks;
        if (intensity && command.intensity.file != command.source.image) {
            for (std::string& remark : command.intensity.remarks(*intensity))
                remarks.push_back(std::move(remark));
        }
        if (!is_root)
            return;
        const auto outputs = files_named({command.output, command.reports.json});
        std::vector<std::string> inputs = files_read(command.source, "", outputs);
        for (const std::string& file : command.intensity.files(command.source, outputs))
            inputs.push_back(file);
        check_outputs(outputs, inputs);
    });
    const Labelling labelling(communicator, options,
                              RunControl{[&](std::string_view, Elements done, Elements all) {
                                  progress.say(fmt::format("measure {} %", 100 * done / all));
                              }});
    const bool is_image = labels->header().frames == 1;
    const LabelInput input = is_image ? LabelInput(*labels, 0) : LabelInput(*labels);
    std::optional<LabelInput> measured;
    agree(communicator, [&] {
        if (intensity)
            measured = command.intensity.input(*intensity, command.source, is_image);
    });
    LabelRegions result;
    naming_options(sextant::record_of(options),
                   [&] { result = labelling.measure(input, measured ? &*measured : nullptr); });
    agree(communicator, [&] {
        if (!is_root)
            return;
        const auto type = intensity ? std::optional(intensity->header().sample) : std::nullopt;
        const LabelTable columns(is_image, options, type);
        const Sample sample = labels->header().sample;
        std::string table = columns.columns();
        for (const kernel::Body& region : result.table)
            table += columns.row(sample == Sample::u64
                                     ? fmt::to_string(region.value)
                                     : fmt::to_string(signed_label(region.value, sample)),
                                 region);
        if (std::string remark =
                remark_on_sums(std::ranges::count_if(result.table, &kernel::Body::sum_is_beyond));
            !remark.empty())
            remarks.push_back(std::move(remark));
        JointCommit together;
        write_text(command.output, table);
        progress.clear();
        const std::vector<report::Phase> phases = {{"read", result.read},
                                                   {"measure", result.label}};
        Record record = results_of("measure");
        record
            .include({{"image", command.source.image},
                      {"output", command.output},
                      {"depth", is_image ? 1 : result.shape.depth},
                      {"height", is_image ? result.shape.depth : result.shape.height},
                      {"width", result.shape.width},
                      {"regions", std::ssize(result.table)},
                      {"seconds", seconds_of(phases)},
                      {"ranks", communicator.size()},
                      {"transport", transport_of(communicator)}})
            .include(provenance_of_run(remarks));
        const std::string text = fmt::format(
            "{}: {} of {}, on {}\n", command.output,
            report::counted(std::ssize(result.table), "region"), size_text(result.shape),
            ranks_text(communicator.size(), transport_of(communicator)));
        write_reports(command.reports, remarks, to_json(record), text + phases_text(phases), "");
        together.commit();
    });
}

int run_measure(const MeasureCommand& command, const Call& call) {
    launch_ranks(call, static_cast<int>(command.ranks.value_or(1)),
                 [&](const Communicator& communicator) { measure(command, communicator); });
    return 0;
}

} // namespace

Operation measure_operation() {
    return declare_command<MeasureCommand>(
        "measure", "measure the regions of a labelled image or volume",
        "  sextant measure labels.npy -o regions.csv\n"
        "  mpirun -n 2 sextant measure labels.tif --intensity volume.mrc -o regions.csv",
        run_measure);
}

} // namespace sextant::command
