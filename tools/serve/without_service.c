/* without_service.c: replaces the service in a build without libmicrohttpd. */
#include "tools/connections/options.h"
#include "tools/shared/wording.h"

int serve_run(const struct serve_options *options) {
    (void)options;
    complain("this idx was built without its service, which needs libmicrohttpd (on Debian and Ubuntu: "
             "libmicrohttpd-dev); install that, and build idx again");
    return ENDS_BADLY;
}
