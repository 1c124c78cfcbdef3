// SPDX-License-Identifier: BSD-3-Clause
// Plans: created, cached, written and read.
#include "sextant/planner/planner.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::planner {
namespace {

using testing::HasSubstr;

Work work() {
    return {.operator_name = "over", .element_name = "f32", .element_size = 16};
}

TEST(Planner, gives_the_same_plan_for_the_same_question) {
    Planner planner(machine::built_in());
    const compositing::Task task = compositing::one_image_each(12, 100'000, 0);
    const CompositingPlan first = planner.plan(task, work()), again = planner.plan(task, work());
    EXPECT_EQ(first.text(), again.text());
    EXPECT_EQ(to_json(first), to_json(again));
    EXPECT_EQ(to_json(first), to_json(Planner(machine::built_in()).plan(task, work())));
}

TEST(Planner, predicts_nothing_if_only_one_rank_has_an_image) {
    Planner planner(machine::built_in());
    for (const int images : {0, 1}) {
        compositing::Task task = compositing::one_image_each(4, 100, 0);
        task.order.resize(static_cast<std::size_t>(images));
        task.layers.resize(static_cast<std::size_t>(images));
        EXPECT_THAT(planner.plan(task, work()).reason, HasSubstr("nothing to choose"));
    }
}

TEST(Plan, is_read_back_as_it_was_written) {
    Planner planner(machine::built_in());
    const CompositingPlan plan = planner.plan(compositing::one_image_each(12, 100'000, 0), work());
    EXPECT_EQ(plan.alternatives.front().configuration, plan.configuration);
    const CompositingPlan read = parse_plan(to_json(plan), "p.json");
    EXPECT_EQ(read.configuration, plan.configuration);
    EXPECT_EQ(read.reason, plan.reason);
}

TEST(Plan, that_is_damaged_is_refused_naming_the_field) {
    const std::string good =
        to_json(Planner(machine::built_in()).plan(compositing::one_image_each(3, 9, 0), work()));
    for (std::size_t length = 0; length < good.size(); length += 7)
        EXPECT_THROW(parse_plan(good.substr(0, length), "p.json"), InvalidFile) << length;
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        return text.replace(text.find(from), from.size(), to);
    };
    const auto refused = [](const std::string& text, const std::string& why) {
        EXPECT_THAT([&] { parse_plan(text, "p.json"); },
                    testing::ThrowsMessage<InvalidFile>(HasSubstr(why)));
    };
    refused(with("\"operation\": \"composite\"", "\"operation\": \"scan\""), "\"composite\"");
    refused(with("\"algorithm\": \"", "\"algorithm\": \"x"), "unknown compositing algorithm");
    refused(with("\"window\": ", "\"window\": -1"), "window");
}

/// Work of eight processes on one node, with images in which this fraction of pixels is active.
Work moved(double density) {
    Work moved = work();
    moved.nodes = std::vector<int>(8, 0);
    moved.density = density;
    return moved;
}

TEST(Planner, skips_empty_pixels_if_that_is_predicted_to_be_faster) {
    Planner planner(machine::built_in());
    const compositing::Task task = compositing::one_image_each(8, 1'000'000);
    const CompositingPlan sparse = planner.plan(task, moved(.1));
    EXPECT_TRUE(sparse.configuration.sparse);
    EXPECT_THAT(sparse.text(), testing::EndsWith(", sparse"));
    EXPECT_THAT(sparse.reason, HasSubstr("10 % of pixels active: sparse "));
    const CompositingPlan dense = planner.plan(task, moved(1));
    EXPECT_FALSE(dense.configuration.sparse);
    EXPECT_LT(sparse.alternatives.front().expected->seconds,
              dense.alternatives.front().expected->seconds);
    EXPECT_TRUE(parse_plan(to_json(sparse), "p.json").configuration.sparse);
    EXPECT_FALSE(parse_plan(to_json(dense), "p.json").configuration.sparse);
}

TEST(Planner, skips_empty_pixels_as_requested_but_never_between_threads) {
    Planner planner(machine::built_in());
    const compositing::Task task = compositing::one_image_each(8, 1'000'000);
    Work requested = moved(.1);
    requested.sparse = Sparse::off;
    EXPECT_FALSE(planner.plan(task, requested).configuration.sparse);
    EXPECT_FALSE(sparse_by_rule(requested));
    requested = moved(1);
    requested.sparse = Sparse::on;
    EXPECT_TRUE(planner.plan(task, requested).configuration.sparse);
    EXPECT_TRUE(sparse_by_rule(requested));
    Work threads = moved(.1);
    threads.within_node = machine::Link::same_process;
    EXPECT_FALSE(planner.plan(task, threads).configuration.sparse);
    EXPECT_FALSE(sparse_by_rule(threads));
    EXPECT_TRUE(sparse_by_rule(moved(.1)));
    EXPECT_FALSE(sparse_by_rule(moved(.9)));
    EXPECT_FALSE(sparse_by_rule(moved(.5))); // all ranks are on one node
    Work apart = moved(.5);
    apart.nodes = {0, 1};
    EXPECT_TRUE(sparse_by_rule(apart));
}

TEST(Planner, charges_the_pass_that_encodes_sparse_messages) {
    const Planner planner(machine::built_in());
    const compositing::Task task = compositing::one_image_each(8, 1'000'000);
    Work coded = moved(1), plain = moved(1);
    coded.sparse = Sparse::on;
    plain.sparse = Sparse::off;
    const compositing::Configuration configuration{&compositing::find("direct-send"), {}};
    EXPECT_GT(planner.seconds(task, configuration, coded),
              planner.seconds(task, configuration, plain));
    coded.density = .1;
    EXPECT_LT(planner.seconds(task, configuration, coded),
              planner.seconds(task, configuration, plain));
}

TEST(Plan, without_a_field_for_sparse_messages_is_read_as_dense) {
    std::string text =
        to_json(Planner(machine::built_in()).plan(compositing::one_image_each(3, 9, 0), work()));
    const std::string field = "\"sparse\": false,";
    text.erase(text.find(field), field.size());
    EXPECT_FALSE(parse_plan(text, "p.json").configuration.sparse);
}

/// Sets an environment variable during its lifetime.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        const char* before = std::getenv(name);
        if (before)
            before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

  private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST(DefaultPlanner, prefers_the_named_profile_then_the_users_then_the_built_in_one) {
    const std::string das = test::source_dir() + "/machines/das.json";
    const test::TemporaryFolder folder;
    const Variable none("SEXTANT_MACHINE", ""), home("XDG_CONFIG_HOME", folder.path());
    EXPECT_EQ(default_planner("mpi").planner->machine().name, "a built-in machine");
    EXPECT_EQ(default_planner("mpi", das).planner->machine().name, "das");
    {
        const Variable named("SEXTANT_MACHINE", test::source_dir() + "/machines/delta256.json");
        EXPECT_EQ(default_planner("mpi").planner->machine().name, "delta256");
        EXPECT_EQ(default_planner("mpi", das).planner->machine().name, "das");
    }
    EXPECT_THROW(default_planner("mpi", "none.json"), InvalidFile);

    std::filesystem::create_directories(folder.path("sextant/machines"));
    std::ofstream(folder.path("sextant/machines/threads.json")) << "{";
    const DefaultPlanner damaged = default_planner("threads");
    EXPECT_EQ(damaged.planner->machine().name, "a built-in machine");
    EXPECT_THAT(damaged.warnings, testing::ElementsAre(HasSubstr("threads.json")));
}

} // namespace
} // namespace sextant::planner
