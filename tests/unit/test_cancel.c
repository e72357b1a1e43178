/* The cancel token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cancel.h"

static void a_token_is_raised_and_reset(void **state)
{
    ingot_cancel *cancel = NULL;
    assert_int_equal(ingot_cancel_create(&cancel, NULL), INGOT_OK);
    assert_false(ingot_cancelled(cancel));
    ingot_cancel_raise(cancel);
    assert_true(ingot_cancelled(cancel));
    ingot_cancel_reset(cancel);
    assert_false(ingot_cancelled(cancel));
    ingot_cancel_release(cancel);
}

static void a_token_lives_until_its_last_owner_lets_go(void **state)
{
    ingot_cancel *cancel = NULL;
    assert_int_equal(ingot_cancel_create(&cancel, NULL), INGOT_OK);
    assert_ptr_equal(ingot_cancel_retain(cancel), cancel);
    ingot_cancel_release(cancel);
    ingot_cancel_raise(cancel);
    assert_true(ingot_cancelled(cancel));
    ingot_cancel_release(cancel);
}

static void no_token_never_cancels(void **state)
{
    ingot_error error = {0};
    assert_false(ingot_cancelled(NULL));
    assert_null(ingot_cancel_retain(NULL));
    ingot_cancel_raise(NULL);
    ingot_cancel_reset(NULL);
    ingot_cancel_release(NULL);
    assert_int_equal(ingot_cancel_create(NULL, &error), INGOT_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_raised_and_reset),
        cmocka_unit_test(a_token_lives_until_its_last_owner_lets_go),
        cmocka_unit_test(no_token_never_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
