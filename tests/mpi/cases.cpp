// SPDX-License-Identifier: BSD-3-Clause
// The tests that run on any communicator, over MPI, in groups of up to 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/canny_runs.hpp"
#include "tests/support/collective_operations.hpp"
#include "tests/support/collective_runs.hpp"
#include "tests/support/component_runs.hpp"
#include "tests/support/conformance_cases.hpp"
#include "tests/support/contour_runs.hpp"
#include "tests/support/deep_cases.hpp"
#include "tests/support/failing_objects.hpp"
#include "tests/support/filter_runs.hpp"
#include "tests/support/node_runs.hpp"
#include "tests/support/scan_runs.hpp"
#include "tests/support/series_runs.hpp"
#include "tests/support/short_runs.hpp"
#include "tests/support/sparse_frames.hpp"
#include "tests/support/sparse_runs.hpp"
#include "tests/support/stitch_runs.hpp"
#include "tests/support/tracing_runs.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

/// Operations, with inputs that suit few ranks.
std::vector<GroupCase> operations() {
    return {
        {"edges_equal_those_of_the_whole_image",
         [](const Communicator& group) {
             every_pattern_gives_the_serial_edges(group, {37, 29}, 13);
         }},
        {"components_equal_those_of_the_whole_image",
         [](const Communicator& group) {
             every_pattern_gives_the_serial_labels(group, {17, 13}, 61);
             labelling_gives_the_serial_labels(group, blobs({19, 13}, 3, 4));
         }},
        {"contours_equal_the_serial_traversal",
         [](const Communicator& group) {
             every_pattern_gives_the_serial_contours(group, {37, 29}, 9);
             every_map_gives_the_serial_lines(group, {13, 11}, 15);
             tracing_gives_the_serial_contours(group, {23, 31}, "./", 7);
         }},
        {"stitching_equals_the_definition",
         [](const Communicator& group) { stitching_equals_the_definition(group, 6); }},
        {"every_scan_equals_the_serial_scan",
         [](const Communicator& group) {
             for (const Elements elements : {1, 997})
                 every_scan_gives_the_serial_one<Matrix>(group, elements);
             every_scan_gives_the_serial_one<Digits>(group, 5);
         }},
        GROUP_CASE(filters_to_the_same_bits_on_every_grid),
        GROUP_CASE(filtering_gives_the_same_bits),
        GROUP_CASE(every_collective_gives_the_claimed_result),
        {"every_collective_follows_the_mpi_standard",
         [](const Communicator& group) {
             every_collective_follows_the_mpi_standard(group, {"mpi"});
         }},
        GROUP_CASE(short_elements_are_sent_without_padding, {2, 3, 4, 7}),
        GROUP_CASE(frames_are_the_same_sparse_and_dense, {2, 3, 7}),
        {"a_failure_does_not_affect_completed_calls",
         [](const Communicator& group) { a_failure_does_not_affect_completed_calls(group, 20); }},
        {"ranks_that_request_different_frames_all_name_them",
         [](const Communicator& group) {
             for (const bool all_change : {false, true})
                 ranks_that_request_different_frames_all_name_them(group, all_change);
         }},
    };
}

const bool cases_added = add_cases("OverMpi", operations(), on_group) &&
                         add_cases("Mpi", conformance_cases(), on_group) &&
                         add_cases("DeepCompositorOverMpi", deep_cases(), on_group) &&
                         add_cases("TileWallOverMpi", wall_cases(), on_group) &&
                         add_cases("FailingObjectsOverMpi", failing_object_cases(), on_group) &&
                         add_cases("SparseMpi", sparse_cases(), on_group) &&
                         add_cases("SeriesOverMpi", series_cases(), on_group) &&
                         add_cases("NodesOverMpi", node_cases(), on_group);

TEST(NodesOverMpi, messages_are_used_if_shared_memory_is_unavailable) {
    on_group(3, [](const Communicator& communicator) {
        const Bytes most = communicator.rank() == 1 ? Bytes{8} << 20 : 100000;
        const Communicator shared = share_nodes(communicator, {0, most}).communicator;
        expect_bits_of_messages(communicator, shared, compositing::one_image_each(3, 20011, 1));
        EXPECT_EQ(shared.shortage().empty(), communicator.rank() == 1);
    });
}

/// Processes that share memory: after a failure, their communicator is not used again.
TEST(FailingObjectsOverMpi, a_failure_stops_processes_that_share_memory) {
    const auto body = [](const Communicator& communicator) {
        const SharedNodes nodes = share_nodes(communicator, {0, Bytes{8} << 20});
        const int failed = communicator.size() / 2;
        if (communicator.rank() == failed) {
            EXPECT_THROW(
                {
                    const auto object = object_kinds()[0].make(nodes.communicator);
                    object->call();
                    throw std::runtime_error("no memory for textures");
                },
                std::runtime_error);
        } else {
            const auto object = object_kinds()[0].make(nodes.communicator);
            EXPECT_THAT(told_by_calls(*object, failed),
                        testing::HasSubstr("an exception destroyed its "));
        }
        communicator.barrier();
    };
    for (const int size : {2, 3, 4, 7})
        on_group(size, body);
}

} // namespace
} // namespace sextant::test
