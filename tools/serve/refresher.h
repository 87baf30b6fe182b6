/* refresher.h: a thread that opens newer views of the index, now and then or when it is told to. */
#ifndef IDX_TOOLS_SERVE_REFRESHER_H
#define IDX_TOOLS_SERVE_REFRESHER_H

#include "tools/serve/views.h"

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
