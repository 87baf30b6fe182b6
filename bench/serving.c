/* serving.c: what bench/serve compares `idx serve` with: the HTTP library without an index, and the library without
 * HTTP.
 *
 * usage: serving empty          answer each request by an empty reply, on one thread; prints the port; until killed
 *        serving many INDEX FILE  look up the u64 fingerprints of FILE, 1000 at a time, as POST /lookup does; prints
 *                               nanoseconds of processor time per fingerprint, and the number of matches
 */
#include "bench/bench.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOGETHER = 1000, MATCHES = 16 };

static struct MHD_Response *reply;

/* Replies when the whole request has arrived, as `idx serve` does. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)context, (void)url, (void)method, (void)version, (void)upload;
    if (*state == NULL) {
        *state = reply;
        return MHD_YES;
    }
    *upload_size = 0;
    return MHD_queue_response(connection, MHD_HTTP_OK, reply);
}

static int serve_empty(void) {
    reply = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL,
                                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
    if (daemon == NULL) return 1;
    printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    for (;;) pause();
}

struct sum {
    size_t queries, matches;
    double seconds;
};

static bool look_up_all(const struct idx_index *index, unsigned distance, FILE *file, struct sum *sum) {
    static struct idx_match matches[TOGETHER * MATCHES];
    static uint64_t fingerprints[TOGETHER];
    static size_t counts[TOGETHER];
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    size_t count;
    options.distance = distance;
    *sum = (struct sum){0, 0, 0};
    rewind(file);
    while ((count = fread(fingerprints, 8, TOGETHER, file)) > 0) {
        double begun = cpu_now();
        if (idx_lookup_many(index, fingerprints, count, &options, matches, MATCHES, counts, NULL) != IDX_OK)
            return false;
        sum->seconds += cpu_now() - begun;
        for (size_t i = 0; i < count; i++) sum->matches += counts[i];
        sum->queries += count;
    }
    return sum->queries > 0;
}

/* The first turn checks pages, and its time is not printed. */
static int look_up(const char *path, const char *queries) {
    struct idx_index *index;
    struct idx_properties properties;
    struct sum sum;
    FILE *file = fopen(queries, "rb");
    if (file == NULL || idx_open(&index, path, NULL, NULL) != IDX_OK) return 1;
    idx_get_properties(index, &properties);
    bool ok = look_up_all(index, properties.k, file, &sum) && look_up_all(index, properties.k, file, &sum);
    if (ok) printf("%.1f %zu\n", sum.seconds * 1e9 / (double)sum.queries, sum.matches);
    idx_close(index);
    fclose(file);
    return ok ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "empty") == 0) return serve_empty();
    if (argc == 4 && strcmp(argv[1], "many") == 0) return look_up(argv[2], argv[3]);
    fprintf(stderr, "usage: serving empty | many INDEX FILE\n");
    return 2;
}
