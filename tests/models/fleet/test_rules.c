/* Tests of the list of rules. */
#include "models/fleet/rules.h"
#include "tests/test.h"

#define N 40

static signed char within[N][3];
static uint32_t values[N][2];
static struct rule rules[RULES_MOST];

static struct rules_data data_of(size_t n)
{
    return (struct rules_data){n, 3, 2, &within[0][0], &values[0][0]};
}

/* Hosts of kind 1 want setting 0, and the last n_others, of kind 2, want setting 1; none wants setting 2. */
static void fill(size_t n_others)
{
    for (size_t host = 0; host < N; host++) {
        bool other = host >= N - n_others;
        within[host][0] = !other;
        within[host][1] = other;
        within[host][2] = 0;
        values[host][0] = other ? 2 : 1;
        values[host][1] = (uint32_t)(host % 3) + 1;
    }
}

TEST(one_setting_for_all_where_hosts_agree)
{
    struct rules_data data = data_of(N);
    fill(0);
    assert_int_equal(rules_make(&data, 0.95, rules), 1);
    assert_int_equal(rules[0].feature, RULES_REST);
    assert_int_equal(rules[0].setting, 0);
    assert_int_equal(rules[0].n, N);
    assert_int_equal(rules[0].n_within, N);
}

TEST(a_kind_that_wants_another_setting_is_an_exception)
{
    struct rules_data data = data_of(N);
    fill(12);
    assert_int_equal(rules_make(&data, 0.95, rules), 2);
    assert_int_equal(rules[0].feature, 0);
    assert_int_equal(rules[0].setting, rules[0].value == 2 ? 1 : 0);
    assert_int_equal(rules[0].n_within, rules[0].n);
    assert_int_equal(rules[1].feature, RULES_REST);
    assert_int_equal(rules[0].n + rules[1].n, N);
    for (size_t host = 0; host < N; host++)
        assert_int_equal(within[host][rules_find(rules, 2, values[host])->setting], 1);
}

TEST(a_kind_of_few_hosts_is_no_exception)
{
    struct rules_data data = data_of(N);
    fill(RULES_LEAST_HOSTS - 1);
    assert_int_equal(rules_make(&data, 0.95, rules), 1);
    assert_int_equal(rules[0].n_within, N - RULES_LEAST_HOSTS + 1);
}

TEST(hosts_that_did_not_measure_a_setting_do_not_count)
{
    struct rules_data data = data_of(N);
    fill(0);
    for (size_t host = 10; host < N; host++)
        within[host][0] = -1;
    assert_int_equal(rules_make(&data, 0.95, rules), 1);
    assert_int_equal(rules[0].n, 10);
    memset(within, -1, sizeof within);
    assert_int_equal(rules_make(&data, 0.95, rules), 0);
    data.n_hosts = 0;
    assert_int_equal(rules_make(&data, 0.95, rules), 0);
}

TEST(a_feature_that_means_nothing_gives_no_exception)
{
    struct rules_data data = data_of(N);
    fill(0);
    for (size_t host = 0; host < N; host++)
        within[host][0] = host % 5 != 0;
    assert_int_equal(rules_make(&data, 0.95, rules), 1);
}

TEST(a_host_is_asked_about_a_list_made_without_it)
{
    struct rules_judgement judgement;
    struct rules_data data = data_of(N);
    fill(12);
    assert_int_equal(rules_judge(&data, 0.95, &judgement), 0);
    assert_int_equal(judgement.n, N);
    assert_int_equal(judgement.n_within, N);
    assert_int_equal(judgement.n_one, N);
    assert_int_equal(judgement.n_one_within, N - 12);
}

/* Every host is asked once, however many lists are made. */
TEST(many_hosts_are_left_out_by_folds)
{
    static signed char many[251][2];
    static uint32_t kinds[251][1];
    const struct rules_data data = {N_OF(many), 2, 1, &many[0][0], &kinds[0][0]};
    struct rules_judgement judgement;
    for (size_t host = 0; host < N_OF(many); host++) {
        many[host][0] = host % 5 != 0;
        many[host][1] = host % 5 == 0;
        kinds[host][0] = host % 5 == 0 ? 2 : 1;
    }
    assert_int_equal(rules_judge(&data, 0.95, &judgement), 0);
    assert_int_equal(judgement.n, 251);
    assert_int_equal(judgement.n_within, 251);
    assert_int_equal(judgement.n_one, 251);
    assert_int_equal(judgement.n_one_within, 200);
    const struct rule kind = {.feature = 0, .value = 2}, rest = {.feature = RULES_REST};
    const struct rule list[] = {kind, rest};
    assert_int_equal(rules_judge_kind(&data, list, 2, &list[0], 0.95, &judgement), 0);
    assert_int_equal(judgement.n, 51);
    assert_int_equal(judgement.n_within, 51);
}
