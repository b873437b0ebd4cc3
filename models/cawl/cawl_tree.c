/* An ordered set in a B+ tree. Every entry of an inner node stands for the keys up to its own, the last one
 * for whatever is left. Nodes are split on the way down, and given back only when they are empty: merging
 * half-empty ones would cost more than it saves, because blocks come and go alike. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8
/* A split on each level, a new root, and the first node. */
#define NODES_PER_ADD(tree) ((tree)->height + 3)

static bool is_before(const struct cawl_entry *entry, uint32_t file, uint64_t offset)
{
    return entry->file < file || (entry->file == file && entry->end <= offset);
}

/* How many of the first n entries end at or before offset. */
static uint32_t n_before(const struct cawl_node *node, uint32_t n, uint32_t file, uint64_t offset)
{
    const struct cawl_entry *first = node->entries;

    while (n > 0) {
        uint32_t half = n / 2;
        /* Written without a branch: the processor would guess half of the turns wrong. */
        bool right = is_before(&first[half], file, offset);

        first += right ? half + 1 : 0;
        n = right ? n - half - 1 : half;
    }
    return (uint32_t)(first - node->entries);
}

/* The entry of an inner node whose child is searched next. */
static uint32_t place_of_child(const struct cawl_node *node, uint32_t file, uint64_t offset)
{
    return n_before(node, node->n - 1, file, offset);
}

static uint32_t new_node(struct cawl_tree *tree)
{
    uint32_t node = tree->free;

    if (node == CAWL_NONE)
        node = tree->n_used++;
    else
        tree->free = tree->nodes[node].entries[0].below;
    tree->nodes[node].n = 0;
    return node;
}

static void free_node(struct cawl_tree *tree, uint32_t node)
{
    tree->nodes[node].entries[0].below = tree->free;
    tree->free = node;
}

static void insert(struct cawl_node *node, uint32_t at, struct cawl_entry entry)
{
    memmove(&node->entries[at + 1], &node->entries[at], (node->n - at) * sizeof(entry));
    node->entries[at] = entry;
    node->n++;
}

static void erase(struct cawl_node *node, uint32_t at)
{
    node->n--;
    memmove(&node->entries[at], &node->entries[at + 1], (node->n - at) * sizeof(node->entries[0]));
}

int cawl_tree_reserve(struct cawl_tree *tree, uint32_t n)
{
    uint32_t need = n * NODES_PER_ADD(tree);

    /* Free nodes are not counted: they are only chained. */
    if (tree->n_used + need < tree->capacity)
        return 0;

    uint32_t capacity = tree->capacity + tree->capacity / 2 + need + FIRST_CAPACITY;

    if (capacity <= tree->capacity)
        return -ENOMEM;

    struct cawl_node *nodes = realloc(tree->nodes, capacity * sizeof(*nodes));

    if (nodes == NULL)
        return -ENOMEM;
    tree->nodes = nodes;
    tree->capacity = capacity;
    if (tree->n_used == 0)
        tree->n_used = 1; /* node 0 is CAWL_NONE */
    return 0;
}

/* All of a leaf comes from memory at once, instead of line by line as the search goes. */
static void fetch(const struct cawl_node *leaf)
{
    const size_t line_bytes = 64;

    for (size_t at = 0; at < sizeof(*leaf); at += line_bytes)
        __builtin_prefetch((const char *)leaf + at);
}

uint32_t cawl_tree_behind(const struct cawl_tree *tree, uint32_t file, uint64_t offset)
{
    while (tree->root != CAWL_NONE) {
        const struct cawl_entry *border = NULL;
        const struct cawl_node *node = &tree->nodes[tree->root];

        for (uint32_t level = tree->height; level > 0; level--) {
            uint32_t place = place_of_child(node, file, offset);

            border = place + 1 < node->n ? &node->entries[place] : border;
            node = &tree->nodes[node->entries[place].below];
            if (level == 1)
                fetch(node);
        }

        uint32_t place = n_before(node, node->n, file, offset);

        if (place < node->n)
            return node->entries[place].below;
        if (border == NULL)
            return CAWL_NONE;
        /* The entry that the border stood for may be gone: then the first of the next leaf is meant. */
        file = border->file;
        offset = border->end;
    }
    return CAWL_NONE;
}

/* The node in this place is full; what comes behind half of it goes to a new one. Entries that come in
 * order leave full nodes behind. */
static void split(struct cawl_tree *tree, uint32_t parent, uint32_t place, bool at_end)
{
    uint32_t right = new_node(tree);
    struct cawl_node *above = &tree->nodes[parent], *new = &tree->nodes[right],
                     *old = &tree->nodes[above->entries[place].below];
    uint32_t n_left = at_end ? old->n - 1 : old->n / 2;
    struct cawl_entry entry = old->entries[n_left - 1];

    new->n = old->n - n_left;
    memcpy(new->entries, &old->entries[n_left], new->n * sizeof(entry));
    old->n = n_left;
    entry.below = above->entries[place].below;
    above->entries[place].below = right;
    insert(above, place, entry);
}

static void raise_root(struct cawl_tree *tree)
{
    uint32_t root = new_node(tree);

    tree->nodes[root].n = 1;
    tree->nodes[root].entries[0] = (struct cawl_entry){.below = tree->root};
    tree->root = root;
    tree->height++;
}

void cawl_tree_add(struct cawl_tree *tree, uint32_t file, uint64_t end, uint32_t value)
{
    if (tree->root == CAWL_NONE)
        tree->root = new_node(tree);
    if (tree->nodes[tree->root].n == CAWL_WIDTH)
        raise_root(tree);

    uint64_t before_end = end - 1; /* an entry of an inner node may be left of a key like this one */
    uint32_t at = tree->root;

    for (uint32_t level = tree->height; level > 0; level--) {
        uint32_t place = place_of_child(&tree->nodes[at], file, before_end);
        const struct cawl_node *below = &tree->nodes[tree->nodes[at].entries[place].below];

        if (below->n == CAWL_WIDTH) {
            bool at_end = is_before(&below->entries[CAWL_WIDTH - (level > 1 ? 2 : 1)], file, before_end);

            split(tree, at, place, at_end);
            place += is_before(&tree->nodes[at].entries[place], file, before_end);
        }
        at = tree->nodes[at].entries[place].below;
    }

    struct cawl_node *leaf = &tree->nodes[at];

    insert(leaf, n_before(leaf, leaf->n, file, before_end),
           (struct cawl_entry){.end = end, .file = file, .below = value});
}

/* The node on this level and what hangs on it, which is one node a level. */
static void free_chain(struct cawl_tree *tree, uint32_t node, uint32_t level)
{
    for (; level > 0; level--) {
        uint32_t below = tree->nodes[node].entries[0].below;

        free_node(tree, node);
        node = below;
    }
    free_node(tree, node);
}

/* Its last leaf entry goes: everything below the last node that has others is empty then. */
static void remove_leaf(struct cawl_tree *tree, uint32_t file, uint64_t before_end)
{
    uint32_t at = tree->root, keeper = CAWL_NONE, keeper_place = 0, keeper_level = tree->height + 1;

    for (uint32_t level = tree->height; level > 0; level--) {
        struct cawl_node *node = &tree->nodes[at];
        uint32_t place = place_of_child(node, file, before_end);

        if (node->n > 1) {
            keeper = at;
            keeper_place = place;
            keeper_level = level;
        }
        at = node->entries[place].below;
    }
    if (keeper == CAWL_NONE) {
        free_chain(tree, tree->root, tree->height);
        tree->root = CAWL_NONE;
        tree->height = 0;
        return;
    }
    free_chain(tree, tree->nodes[keeper].entries[keeper_place].below, keeper_level - 1);
    erase(&tree->nodes[keeper], keeper_place);
    while (tree->height > 0 && tree->nodes[tree->root].n == 1) {
        uint32_t root = tree->root;

        tree->root = tree->nodes[root].entries[0].below;
        free_node(tree, root);
        tree->height--;
    }
}

void cawl_tree_remove(struct cawl_tree *tree, uint32_t file, uint64_t end)
{
    uint64_t before_end = end - 1; /* blocks are not empty, so end is above 0 */
    struct cawl_node *node = &tree->nodes[tree->root];

    for (uint32_t level = tree->height; level > 0; level--)
        node = &tree->nodes[node->entries[place_of_child(node, file, before_end)].below];
    if (node->n > 1)
        erase(node, n_before(node, node->n, file, before_end));
    else
        remove_leaf(tree, file, before_end);
}

void cawl_tree_done(struct cawl_tree *tree)
{
    free(tree->nodes);
    *tree = (struct cawl_tree){0};
}
