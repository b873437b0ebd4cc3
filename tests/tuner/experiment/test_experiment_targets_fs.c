/* Tests of tuner/experiment/experiment_targets: a run works on the target of its number of files. */
#include "tests/tuner/experiment/experiment_rig.h"

#include <errno.h>

EXPERIMENTS(enter);

#define MIB   ((uint64_t)1 << 20)
#define FILES (FACTOR_N + CONDITION_FILES)

static int prepare(const char *words)
{
    if (plan(words) != 0 || session_prepare(session, &err) != 0)
        fail_msg("%s", err.text);
    return experiment_targets_make(&experiment, &err);
}

static const char layouts[] =
    "--pattern randread --direct 0 --files 1,3,16 --file-size 128m,144m --alignment 512,4k "
    "--request-size 64k --no-lock --quiet";

TEST(every_cell_has_its_number_of_files_and_their_size)
{
    assert_int_equal(prepare(layouts), 0);
    assert_int_equal(experiment_check(&experiment, &err), 0);
    assert_int_equal(experiment.n_targets, 3);
    assert_int_equal(experiment.n_cells, 12);
    for (size_t i = 0; i < experiment.n_cells; i++) {
        const struct experiment_cell *cell = &experiment.cells[i];
        bool small = cell->level[FACTOR_N + CONDITION_FILE_SIZE] == 128 * MIB;
        experiment_enter(&experiment, cell);
        assert_int_equal(target_n_files(&session->target), cell->level[FILES]);
        assert_int_equal(session->target.size_bytes, (small ? 128 : 144) * MIB);
        assert_int_equal(session->target_facts.file_bytes, session->target.size_bytes);
        assert_int_equal(session->env.alignment_bytes, cell->level[FACTOR_N + CONDITION_ALIGNMENT]);
    }
    experiment_leave(&experiment);
    assert_int_equal(target_n_files(&session->target), 16);
}

TEST(parts_of_whole_mebibytes_are_not_read_beyond)
{
    assert_int_equal(prepare("--pattern randread --direct 0 --files 1,3 --file-size 128m --no-lock --quiet"),
                     0);
    /* The session's own has three files of 42 MiB, and the other one is as large. */
    assert_int_equal(experiment.targets == NULL, 0);
    assert_int_equal(session->target.size_bytes, 126 * MIB);
    experiment_targets_enter(&experiment, 1, 1024 * MIB);
    assert_int_equal(session->target.size_bytes, 126 * MIB);
    experiment_targets_enter(&experiment, 3, 1024 * MIB);
    assert_int_equal(session->target.size_bytes, 126 * MIB);
    assert_int_equal(target_n_files(&session->target), 3);
}

TEST(a_design_without_the_most_files_is_measured_on_what_it_has)
{
    uint64_t seen = 0;
    for (int seed = 1; seed <= 4; seed++) {
        char words[256];
        snprintf(words, sizeof words,
                 "--pattern randread --direct 0 --files 1,2,4 --file-size 128m --no-lock --quiet "
                 "--design random:1 --seed %d",
                 seed);
        assert_int_equal(prepare(words), 0);
        assert_int_equal(experiment.n_cells, 1);
        uint64_t asked = experiment.cells[0].level[FILES];
        assert_int_equal(session->n_targets, asked == 4 ? 1 : 2);
        experiment_enter(&experiment, &experiment.cells[0]);
        assert_int_equal(target_n_files(&session->target), asked);
        seen |= asked;
    }
    assert_true((seen & 3) != 0);
}

TEST(one_number_of_files_needs_no_other_target)
{
    assert_int_equal(prepare("--pattern randread --direct 0 --files 4 --file-size 128m --no-lock --quiet"),
                     0);
    assert_int_equal(experiment.n_targets, 0);
    assert_int_equal(target_n_files(&session->target), 4);
    assert_in_range(session->bytes_written, 128 * MIB, 128 * MIB + TARGET_PROOF_MOST_BYTES);
}

TEST(a_target_that_cannot_be_made_is_named)
{
    assert_int_equal(prepare("--pattern randread --direct 0 --files 1,2,4 --file-size 128m --no-lock --quiet "
                             "--max-write 300m"),
                     -EFBIG);
    assert_contains(err.text, "--files 2: ");
    assert_contains(err.text, "--max-write");
}
