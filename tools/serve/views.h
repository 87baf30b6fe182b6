/* views.h: the open index, which a newer view replaces while requests go on: each request keeps the view that it began
 * with, which is closed when the last of them has ended. A thread opens newer views. */
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

    /* The mutex of the views protects these. */
    unsigned references;
    struct idx_documents *cursors[VIEW_CURSORS]; /* These cursors are idle. */
    unsigned cursor_count;
    struct view *next; /* It is the next retired view. */
};

struct views {
    pthread_mutex_t mutex;
    pthread_mutex_t refreshing; /* The thread that refreshes holds it. */
    struct view *current;
    struct view *retired; /* These were replaced, and may still be in use. */
    atomic_ullong refreshes, failures;
    bool started, asked, ended; /* The mutex protects the last two. */
    pthread_t thread;
    pthread_cond_t changed; /* A refresh was asked for, or the service ends. */
    unsigned seconds;       /* 0: only views_ask causes a refresh. */
    bool failing;           /* The last refresh failed, and a message said so. `refreshing` protects it. */
};

/* Opens the index. Returns false after a complaint. */
bool views_open(struct views *views, const char *path, const struct idx_open_options *options);

/* Opens a newer view if the index has changed, and closes the views that nobody uses any more. Returns false after an
 * error. Then the view stays as it is, and a message says so, but only once if errors repeat. */
bool views_refresh(struct views *views);

/* Acquires the current view for a request, which releases it. */
struct view *views_acquire(struct views *views);
void views_release(struct views *views, struct view *view);

/* Takes a document cursor of a view, and returns it while the view is still held. It is NULL after an error. */
struct idx_documents *view_take_cursor(struct views *views, struct view *view, struct idx_error *error);
void view_return_cursor(struct views *views, struct view *view, struct idx_documents *cursor);

/* Starts the thread that refreshes every so many seconds, and when views_ask is called. Returns false after a
 * complaint. */
bool views_start(struct views *views, unsigned seconds);
void views_ask(struct views *views);

/* Ends the thread if it was started. */
void views_stop(struct views *views);

/* Closes all views, once no view is held. */
void views_close(struct views *views);

#endif
