/* models/cawl/cawl_map and the tree under it: ranges against a sorted array, through splits, emptied nodes
 * and many files. */
#include "models/cawl/cawl_internal.h"

#include "tests/models/rng.h"

/* Enough for a tree of three levels. */
#define MOST 6000

struct plain_range {
    uint32_t file, block;
    uint64_t offset, size;
};

struct plain {
    struct plain_range ranges[MOST];
    size_t n;
};

static struct plain plain;
static struct cawl_map map;

FIXTURE(enter)
{
    plain.n = 0;
    memset(&map, 0, sizeof map);
    return 0;
}

FIXTURE(leave)
{
    cawl_map_done(&map);
    return 0;
}

EACH_TEST(enter, leave);

/* The first range that ends behind the place. */
static size_t plain_behind(uint32_t file, uint64_t offset)
{
    size_t low = 0, high = plain.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct plain_range *range = &plain.ranges[middle];

        if (range->file < file || (range->file == file && range->offset + range->size <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_behind(uint32_t file, uint64_t offset)
{
    const struct plain_range *range = &plain.ranges[plain_behind(file, offset)];
    uint32_t block = cawl_map_behind(&map, file, offset);

    if (range == &plain.ranges[plain.n] || range->file != file) {
        assert_int_equal(block, CAWL_NONE);
        return;
    }
    assert_int_equal(block, range->block);
    assert_int_equal(map.blocks[block].file, range->file);
    assert_int_equal(map.blocks[block].offset, range->offset);
    assert_int_equal(map.blocks[block].size, range->size);
}

static void add(uint32_t file, uint64_t offset, uint64_t size)
{
    size_t at = plain_behind(file, offset);

    assert_true(plain.n < MOST);
    assert_int_equal(cawl_map_reserve(&map, 1), 0);
    memmove(&plain.ranges[at + 1], &plain.ranges[at], (plain.n - at) * sizeof plain.ranges[0]);
    plain.ranges[at] = (struct plain_range){file, cawl_map_add(&map, file, offset, size), offset, size};
    plain.n++;
}

static void remove_at(size_t at)
{
    cawl_map_remove(&map, plain.ranges[at].block);
    plain.n--;
    memmove(&plain.ranges[at], &plain.ranges[at + 1], (plain.n - at) * sizeof plain.ranges[0]);
}

/* Adds what fits between the ranges that are there. */
static void add_where_it_is_free(uint32_t file, uint64_t offset, uint64_t size)
{
    const struct plain_range *next = &plain.ranges[plain_behind(file, offset)];
    bool has_next = next != &plain.ranges[plain.n] && next->file == file;

    if (has_next && next->offset <= offset)
        return;
    add(file, offset, has_next && next->offset - offset < size ? next->offset - offset : size);
}

#define MOST_LEVELS 8

/* A node that is still to be checked: its keys lie above low and end at high, where these are not NULL. */
struct todo {
    uint32_t node, level;
    const struct cawl_entry *low, *high;
};

static struct todo todos[MOST_LEVELS * CAWL_WIDTH];
static size_t n_todos;

static void check_order(const struct cawl_entry *low, const struct cawl_entry *end,
                        const struct cawl_entry *high)
{
    if (low != NULL && end != NULL)
        assert_true(low->file < end->file || (low->file == end->file && low->end < end->end));
    if (end != NULL && high != NULL)
        assert_true(end->file < high->file || (end->file == high->file && end->end <= high->end));
}

/* Returns how many entries a leaf holds, and 0 for a node above, whose children are put down as to do. */
static size_t check_node(const struct todo *todo)
{
    const struct cawl_node *node = &map.tree.nodes[todo->node];
    const struct cawl_entry *low = todo->low;

    assert_true(node->n > 0 && node->n <= CAWL_WIDTH);
    for (uint32_t i = 0; i < node->n; i++) {
        const struct cawl_entry *entry = &node->entries[i];
        const struct cawl_entry *end = todo->level > 0 && i + 1 == node->n ? todo->high : entry;

        check_order(low, end, todo->high);
        if (todo->level > 0) {
            assert_true(n_todos < sizeof todos / sizeof todos[0]);
            todos[n_todos++] = (struct todo){entry->below, todo->level - 1, low, end};
        }
        low = end;
    }
    return todo->level > 0 ? 0 : node->n;
}

/* Keys of nodes ascend, are within what the nodes above say, and no node is empty. Returns how many entries
 * the leaves hold. */
static size_t check_tree(void)
{
    size_t n = 0;

    n_todos = 1;
    todos[0] = (struct todo){map.tree.root, map.tree.height, NULL, NULL};
    while (n_todos > 0) {
        const struct todo todo = todos[--n_todos];
        n += check_node(&todo);
    }
    return n;
}

static void check_all(void)
{
    if (map.tree.root == CAWL_NONE)
        assert_int_equal(plain.n, 0);
    else
        assert_int_equal(check_tree(), plain.n);
    for (size_t i = 0; i < plain.n; i++)
        check_behind(plain.ranges[i].file, plain.ranges[i].offset);
}

TEST(ranges_in_order_fill_their_nodes)
{
    for (uint64_t i = 0; i < MOST; i++)
        add(0, 10 * i, 5);
    check_all();
    /* Each but the last of a level is full, or one short of it. */
    assert_true(map.tree.n_used < MOST / (CAWL_WIDTH - 2) + 20);
    assert_int_equal(map.tree.height, 2);
}

TEST(ranges_in_falling_order_are_found)
{
    for (uint64_t i = MOST; i-- > 0;)
        add(0, 10 * i, 5);
    check_all();
    check_behind(0, 10 * MOST);
    check_behind(1, 0);
}

TEST(what_is_emptied_is_used_again)
{
    uint32_t n_nodes = 0, n_blocks = 0;

    for (int round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 3000; i++)
            add(7, i * 10 + (uint64_t)round, 3);
        while (plain.n > 0)
            remove_at(round % 2 == 0 ? 0 : plain.n - 1);
        assert_int_equal(map.tree.root, CAWL_NONE);
        assert_int_equal(map.tree.height, 0);
        check_behind(7, 0);
        assert_true(round == 0 || map.tree.n_used == n_nodes);
        assert_true(round == 0 || map.n_used == n_blocks);
        n_nodes = map.tree.n_used;
        n_blocks = map.n_used;
    }
}

/* The border that a leaf had is no longer a key, and becomes one again. */
TEST(a_range_that_ends_where_a_removed_one_did_is_found_and_removed)
{
    for (uint64_t i = 0; i < 1000; i++)
        add(0, 10 * i, 5);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            remove_at(plain_behind(0, 10 * i));
            check_behind(0, 10 * i);
            add(0, 10 * i + 2, 3);
            check_behind(0, 10 * i);
        }
        check_all();
    }
    while (plain.n > 0)
        remove_at(plain.n / 2);
    check_all();
}

TEST(files_are_apart_at_their_ends)
{
    static const uint32_t files[] = {0, 1, 7, UINT32_MAX - 1, UINT32_MAX};
    const uint64_t far = INT64_MAX - 5;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (uint64_t k = 0; k < 40; k++)
            add(files[i], 2 * k, 1);
        add(files[i], far, 5);
    }
    check_all();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        check_behind(files[i], 79);
        check_behind(files[i], far + 4);
        check_behind(files[i], far + 5);
    }
    check_behind(2, 0);
}

TEST(random_ranges_are_those_of_a_sorted_array)
{
    gsl_rng_set(rng, 0);

    for (int load = 0; load < 12; load++) {
        unsigned long n_files = load % 3 == 0 ? 1 : load % 3 == 1 ? 3 : 500, span = 200000 / n_files;

        for (int step = 0; step < 20000; step++) {
            uint32_t file = (uint32_t)gsl_rng_uniform_int(rng, n_files);
            uint64_t offset = gsl_rng_uniform_int(rng, span);
            /* Grows to thousands, shrinks to few, and grows again. */
            bool grows = step % 10000 < 5000;

            if (gsl_rng_uniform_int(rng, 10) < (grows ? 9 : 1))
                add_where_it_is_free(file, offset, 1 + gsl_rng_uniform_int(rng, 40));
            else if (plain.n > 0)
                remove_at(gsl_rng_uniform_int(rng, plain.n));
            check_behind(file, offset);
            if (step % 2000 == 1999)
                check_all();
        }
        cawl_map_done(&map);
        plain.n = 0;
    }
}

TEST(cut_off_fronts_leave_the_order_as_it_is)
{
    for (uint64_t i = 0; i < 2000; i++)
        add(0, 10 * i, 10);
    for (size_t i = 0; i < plain.n; i += 2) {
        struct cawl_block *block = &map.blocks[plain.ranges[i].block];

        block->offset += 6;
        block->size -= 6;
        plain.ranges[i].offset += 6;
        plain.ranges[i].size -= 6;
    }
    for (uint64_t i = 0; i < 2000; i += 2)
        add_where_it_is_free(0, 10 * i, 6);
    assert_int_equal(plain.n, 3000);
    check_all();
}

TEST(random_covers_count_what_an_array_of_bytes_counts)
{
    static bool bytes[3][20000];
    gsl_rng_set(rng, 0);

    memset(bytes, 0, sizeof bytes);
    for (int step = 0; step < 20000; step++) {
        unsigned long file = gsl_rng_uniform_int(rng, 3),
                      size = 1 + gsl_rng_uniform_int(rng, step % 100 == 0 ? 400 : 2),
                      offset = gsl_rng_uniform_int(rng, sizeof bytes[0] - size);
        uint64_t n_new = 0, expected = 0;

        assert_int_equal(cawl_map_cover(&map, (uint32_t)file, offset, size, &n_new), 0);
        for (unsigned long i = offset; i < offset + size; i++) {
            expected += !bytes[file][i];
            bytes[file][i] = true;
        }
        assert_int_equal(n_new, expected);
    }
    /* Neighbours are joined: every range has a gap behind it. */
    for (uint32_t file = 0; file < 3; file++) {
        for (uint64_t at = 0; at < sizeof bytes[0];) {
            uint32_t block = cawl_map_behind(&map, file, at);
            uint64_t from = at;

            while (from < sizeof bytes[0] && !bytes[file][from])
                from++;
            if (from == sizeof bytes[0]) {
                assert_int_equal(block, CAWL_NONE);
                break;
            }
            for (at = from; at < sizeof bytes[0] && bytes[file][at];)
                at++;
            assert_int_equal(map.blocks[block].offset, from);
            assert_int_equal(map.blocks[block].size, at - from);
        }
    }
}
