/* Tests of tuner/base/notes. */
#include "tests/test.h"
#include "tuner/base/notes.h"

TEST(a_note_is_formatted)
{
    struct notes notes = {0};
    notes_add(&notes, "depth", "%d of %s", 3, "8");
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.note[0].code, "depth");
    assert_string_equal(notes.note[0].text, "3 of 8");
}

TEST(the_first_note_of_a_code_stays)
{
    struct notes notes = {0};
    notes_add(&notes, "a", "first");
    notes_add(&notes, "b", "other");
    notes_add(&notes, "a", "second");
    assert_int_equal(notes.n, 2);
    assert_string_equal(notes.note[0].text, "first");
    assert_string_equal(notes.note[1].code, "b");
}

TEST(notes_beyond_the_limit_are_left_out)
{
    static struct notes notes;
    char code[16];
    for (int i = 0; i < NOTES_MAX + 3; i++) {
        snprintf(code, sizeof code, "code %d", i);
        notes_add(&notes, code, "%d", i);
    }
    assert_int_equal(notes.n, NOTES_MAX);
    assert_string_equal(notes.note[NOTES_MAX - 1].text, "47");
}

TEST(long_texts_are_cut_and_terminated)
{
    struct notes notes = {0};
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    notes_add(&notes, text, "%s", text);
    assert_int_equal(strlen(notes.note[0].code), sizeof notes.note[0].code - 1);
    assert_int_equal(strlen(notes.note[0].text), sizeof notes.note[0].text - 1);
}

TEST(a_cut_code_is_still_recognised)
{
    struct notes notes = {0};
    char code[200];
    memset(code, 'c', sizeof code);
    code[sizeof code - 1] = '\0';
    notes_add(&notes, code, "first");
    notes_add(&notes, code, "second");
    assert_int_equal(notes.n, 1);
}

TEST(a_note_that_disqualifies_replaces_one_that_informs)
{
    struct notes notes = {0};
    notes_add(&notes, "a", "informs");
    notes_disqualify(&notes, "a", "disqualifies %d", 1);
    notes_disqualify(&notes, "a", "once more");
    notes_add(&notes, "a", "informs again");
    notes_disqualify(&notes, "b", "too");
    assert_int_equal(notes.n, 2);
    assert_string_equal(notes.note[0].text, "disqualifies 1");
    assert_true(notes.note[0].disqualifying && notes.note[1].disqualifying);
}
