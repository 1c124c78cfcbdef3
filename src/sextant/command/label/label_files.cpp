// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/command/label/label_command.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

namespace fs = std::filesystem;

} // namespace

LabelFiles::LabelFiles(const Communicator& communicator, const LabelCommand& command,
                       const FrameHeader& header, FrameSource* shown,
                       std::optional<Sample> intensity)
    : communicator_(communicator),
      command_(command),
      shown_(shown),
      intensity_(intensity),
      columns_(command.is_image, command.label, intensity),
      folder_(command.output),
      header_(header) {
    header_.sample = Sample::u32;
    header_.channels = 1;
    header_.remarks = {};
    header_.hyperstack = {};
    if (!command.is_image)
        parts_ = format::create_frame_parts(command.output, header_, options());
}

format::SinkOptions LabelFiles::options() const {
    return {.axis = command_.is_image ? format::StackAxis::time : format::StackAxis::slices,
            .label_image = true,
            .pyramid = command_.pyramid,
            .zarr_version = command_.zarr};
}

LabelFiles::~LabelFiles() {
    if (is_root() && opened_ && !resumable_)
        remove_folder();
}

bool LabelFiles::identify() {
    InputState own;
    std::string names;
    agree(communicator_, [&] {
        for (const std::string& name : {command_.source.image, command_.intensity.file}) {
            if (name.empty())
                continue;
            names += (names.empty() ? "" : " and ") + name;
            if (!is_root()) // only one rank examines the files, of which there can be many
                continue;
            for (const std::string& file : format::files_of_frames(name))
                own.add(file, command_.output);
        }
    });
    const InputState state = communicator_.all_gather(own).front();
    identity_ = fmt::format("input: {}, {} bytes in {} files, state {:016x}\n", names, state.bytes,
                            state.files, state.digest);
    bool removed = false;
    agree(communicator_, [&] { removed = is_root() && folder_.remove_failed(identity_); });
    // The settings omit the files, which are identified above, and the permission to read external
    // files, which does not change samples.
    SourceChoice source = command_.source;
    IntensityChoice intensity = command_.intensity;
    identity_ += record_of(source, "").without("image").without("allow_external").settings();
    identity_ += record_of(intensity, "").without("intensity").settings();
    return removed;
}

/// Returns 0, so that rank 0 writes all planes, unless there is at least one part for each rank.
Elements LabelFiles::planes_per_part() const {
    if (!parts_)
        return 0;
    const Elements planes = parts_->frames_per_part();
    return (header_.frames + planes - 1) / planes >= communicator_.size() ? planes : 0;
}

std::string LabelFiles::written(int rank) const {
    return fmt::format("{}/written.{}", folder(), rank);
}

/// Opens this rank's parts. Keeps the parts of an earlier run if its list of parts has the same
/// heading as that of this run. Rank 0 removes the lists, its own last, before the parts appear at
/// the output.
void LabelFiles::open_parts(const LabelResult& result, Elements first, Elements end) {
    opened_ = true;
    resumable_ = result.resumable;
    LabelOptions options = command_.label;
    const std::string text =
        fmt::format("{}{}labels: {} bits\nplanes: {} to {}\nzarr: {}\n", identity(),
                    record_in_slabs(options).without("memory").settings(), result.label_bits, first,
                    end, command_.zarr);
    if (is_root()) {
        std::error_code unknown;
        const bool continues =
            resumable_ && fs::exists(written(0)) && Journal::open(written(0)).text() == text;
        if (!continues) {
            fs::remove_all(store(), unknown);
            for (int rank = communicator_.size() - 1; rank >= 0; --rank)
                fs::remove(written(rank), unknown);
        }
        parts_->create(store());
    }
    if (resumable_) {
        progress_.emplace(
            Journal::append_to(written(communicator_.rank()), text,
                               [&](const RecordPlace&, std::span<const std::byte> record) {
                                   if (record.size() == sizeof stored_)
                                       std::memcpy(&stored_, record.data(), sizeof stored_);
                               }));
        if (progress_->text() != text)
            throw InvalidData(fmt::format("{}: belongs to another run; remove {} to start from "
                                          "scratch",
                                          progress_->path(), folder()));
    }
    noted_ = stored_;
    if (first + stored_ < end)
        sink_ = parts_->part(store(), first + stored_, end - first - stored_);
}

Elements LabelFiles::begin(const LabelResult& result, Elements first, Elements end) {
    header_.sample = result.label_bits == 32 ? Sample::u32 : Sample::u64;
    const bool by_rank = planes_per_part() > 0;
    agree(communicator_, [&] {
        if (!is_root())
            return;
        folder_.hold(by_rank || result.resumable);
        folder_.remove_mark(); // the checkpoint has been continued
    });
    if (result.label_bits != 32 || !by_rank)
        parts_ =
            by_rank ? format::create_frame_parts(command_.output, header_, options()) : nullptr;
    if (by_rank) {
        agree(communicator_, [&] { // in two steps, because other ranks write to rank 0's folder
            if (is_root())
                open_parts(result, first, end);
        });
        agree(communicator_, [&] {
            if (!is_root())
                open_parts(result, first, end);
        });
    } else {
        agree(communicator_, [&] {
            if (!is_root())
                return;
            check_frames_name(command_.output, header_.sample);
            sink_ = format::create_frames(command_.output, header_, options());
        });
    }
    if (command_.reports.report.empty())
        return stored_;
    if (command_.is_image) {
        agree(communicator_, [&] {
            if (is_root())
                overview_.emplace(overview_of(*open_image(command_.source, ReadAs::scaled)));
        });
        return stored_;
    }
    slices_.emplace(communicator_, result, sizes_, *shown_);
    agree(communicator_, [&] { show_stored(first); });
    return stored_;
}

/// Adds the planes that an earlier run stored to the slices.
void LabelFiles::show_stored(Elements first) {
    if (stored_ == 0)
        return;
    const auto stored = format::open_frames(store());
    std::vector<std::byte> plane(
        static_cast<std::size_t>(header_.shape.elements() * size_of(header_.sample)));
    for (Elements z = first; z < first + stored_; ++z) {
        if (!slices_->wants(z))
            continue;
        stored->read_samples(z, {0, header_.shape.height}, plane);
        const auto count = static_cast<std::size_t>(header_.shape.elements());
        if (header_.sample == Sample::u32)
            slices_->add(z, std::span(reinterpret_cast<const std::uint32_t*>(plane.data()), count));
        else
            slices_->add(z, std::span(reinterpret_cast<const std::uint64_t*>(plane.data()), count));
    }
}

void LabelFiles::rows(ComponentNumber first, std::span<const kernel::Body> bodies) {
    sizes_.add(first, bodies);
    if (command_.table.empty())
        return;
    std::string text;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        text += columns_.row(fmt::to_string(first + i), bodies[i]);
        sums_beyond_ += bodies[i].sum_is_beyond() ? 1 : 0;
    }
    write_table(text);
}

/// Writes rows to the table; the first call also writes the names of the columns.
void LabelFiles::write_table(const std::string& rows) {
    const std::string text = std::exchange(has_columns_, true) ? rows : columns_.columns() + rows;
    if (command_.table == standard_output)
        return write_text(command_.table, text);
    if (!table_)
        table_.emplace(command_.table);
    table_->write(text);
}

/// Adds labels to the overview and the slices of the page.
void LabelFiles::show(Elements first, const LabelPlanes& labels) {
    std::visit(
        [&](const auto& values) {
            if (overview_)
                overview_->add(first, std::vector<ComponentNumber>(values.begin(), values.end()),
                               header_.shape.width);
            const auto size = static_cast<std::size_t>(header_.shape.elements());
            for (std::size_t at = 0; slices_ && at < values.size(); at += size, ++first)
                slices_->add(first, values.subspan(at, size));
        },
        labels);
}

void LabelFiles::planes(Elements plane, const LabelPlanes& labels) {
    show(plane, labels);
    std::visit(
        [&](const auto& values) {
            if (command_.is_image)
                return sink_->write_samples(std::as_bytes(values));
            const auto size = static_cast<std::size_t>(header_.shape.elements());
            for (std::size_t at = 0; at < values.size(); at += size, ++passed_)
                sink_->write_samples(std::as_bytes(values.subspan(at, size)));
        },
        labels);
    if (!progress_)
        return;
    const Elements unit = parts_->frames_per_part();
    const Elements stored =
        stored_ + (passed_ == sink_->header().frames ? passed_ : passed_ / unit * unit);
    if (stored > noted_)
        progress_->append(std::as_bytes(std::span(&stored, 1)));
    noted_ = stored;
}

void LabelFiles::commit() {
    JointCommit together;
    agree(communicator_, [&] {
        if (sink_)
            sink_->commit();
        progress_.reset();
    });
    agree(communicator_, [&] {
        if (!is_root())
            return;
        if (parts_)
            parts_->commit(store());
        if (!command_.table.empty())
            write_table("");
        if (table_)
            table_->commit();
        for (int rank = communicator_.size() - 1; parts_ && rank >= 0; --rank) {
            std::error_code missing;
            fs::remove(written(rank), missing);
        }
        together.commit();
    });
    if (slices_)
        slices_->gather(communicator_);
}

void LabelFiles::remove_folder() {
    folder_.remove();
}

} // namespace sextant::command
