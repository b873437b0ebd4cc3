/* tuner/profile/profile_result: where a profile goes. */
#include "tuner/profile/profile_result.h"

#include "models/profile/summary.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/publish.h"
#include "tuner/base/text.h"
#include "tuner/profile/profile_document.h"
#include "tuner/profile/record.h"

#include <errno.h>
#include <jansson.h>

static int print_document(FILE *out, const void *what, struct err *err)
{
    const json_t *document = what;
    /* Printing releases what it prints. */
    return json_print(out, json_deep_copy(document), err);
}

int profile_result_deliver(const struct recording *recording, const struct settings *settings,
                           struct err *err)
{
    static struct summary summary;
    summary_make(&summary, recording->store);
    json_t *document = profile_document_make(recording, &summary);
    int code = document == NULL ? err_set(err, -ENOMEM, "no memory") : 0;
    /* A recording that a signal ended is whole; an import is not. */
    const bool is_import = recording->command == NULL && recording->pid == 0;
    if (code == 0 && settings->output[0] != '\0')
        code = (is_import ? publish_print : publish_print_ended)(settings->output, print_document, document,
                                                                 err);
    if (code == 0 && settings->json)
        code = print_document(stdout, document, err);
    if (code == 0 && !settings->json) {
        profile_text_print(stdout, recording, &summary, settings->output);
        code = text_finish(stdout, err);
    }
    json_decref(document);
    return code < 0 ? code : summary.is_enough ? EXIT_DONE : EXIT_NOTHING;
}
