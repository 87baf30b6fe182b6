/* views.h: the open index, which a newer view replaces while requests go on: each request keeps the view that it began
 * with, which is closed when the last of them has ended. The refresher is a thread that opens newer views. */
#ifndef IDX_TOOLS_SERVE_VIEWS_H
#define IDX_TOOLS_SERVE_VIEWS_H

#include <idx.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { VIEW_CURSORS = 16 };

struct view {
    struct idx_index *index;
    struct idx_properties properties;

    /* Under the mutex of the views. */
    unsigned references;
    struct idx_documents *cursors[VIEW_CURSORS]; /* at rest */
    unsigned cursor_count;
    struct view *next; /* retired */
};

struct views {
    pthread_mutex_t mutex;
    pthread_mutex_t refreshing; /* held by the one thread that refreshes */
    struct view *current;
    struct view *retired; /* replaced, and perhaps still in use */
    atomic_ullong refreshes, failures;
    bool failing; /* the last refresh failed, and that was said; under `refreshing` */
};

/* Opens the index. False after a complaint. */
bool views_open(struct views *views, const char *path, const struct idx_open_options *options);

/* Replaces the current view if the index has news, and closes those that nobody uses any more. False after a complaint,
 * which repeated failures don't repeat; the view stays as it is then. */
bool views_refresh(struct views *views);

/* Whether some are replaced, and not yet closed. */
bool views_wait_to_close(struct views *views);

/* The current view, for one request, which releases it. */
struct view *views_acquire(struct views *views);
void views_release(struct views *views, struct view *view);

/* A document cursor of a view, which is to be given back while the view is still held; NULL after an error. */
struct idx_documents *view_take_cursor(struct views *views, struct view *view, struct idx_error *error);
void view_return_cursor(struct views *views, struct view *view, struct idx_documents *cursor);

/* Once no view is held. */
void views_close(struct views *views);

struct refresher {
    struct views *views;
    unsigned seconds; /* 0: only when it is told to */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool started, told, ended;
};

/* False after a complaint; refresher_end is to be called all the same. */
bool refresher_start(struct refresher *refresher, struct views *views, unsigned seconds);

void refresher_tell(struct refresher *refresher);

void refresher_end(struct refresher *refresher);

#endif
