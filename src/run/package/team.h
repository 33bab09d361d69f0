/* Threads in forked processes. gcc's OpenMP keeps the threads of a parallel region for the next one,
 * and the thread that forks takes them for its own in the child, where they do not exist: its next
 * region would wait for them forever. There, another thread runs the kernels, with threads of its
 * own. Only the thread that forked is affected, and only in the child. */
#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>

static __thread int teml_is_forked;
static pthread_mutex_t teml_lock;
static pthread_cond_t teml_turn;
static int teml_has_helper;
static void (*teml_task)(void *);
static void *teml_given;

static void teml_after_fork(void)
{
    teml_is_forked = 1;
    teml_has_helper = 0;
    teml_task = NULL;
    pthread_mutex_init(&teml_lock, NULL);
    pthread_cond_init(&teml_turn, NULL);
}

static __attribute__((constructor)) void teml_at_load(void)
{
    pthread_atfork(NULL, NULL, teml_after_fork);
}

static void *teml_help(void *unused)
{
    pthread_mutex_lock(&teml_lock);
    for (;;) {
        while (!teml_task)
            pthread_cond_wait(&teml_turn, &teml_lock);
        teml_task(teml_given);
        teml_task = NULL;
        pthread_cond_broadcast(&teml_turn);
    }
    return unused;
}

static __attribute__((noinline)) void teml_run_elsewhere(void (*task)(void *), void *given)
{
    pthread_t helper;
    pthread_mutex_lock(&teml_lock);
    if (!teml_has_helper) {
        if (pthread_create(&helper, NULL, teml_help, NULL)) {
            /* One thread alone waits for no other. */
            const int threads = omp_get_max_threads();
            pthread_mutex_unlock(&teml_lock);
            omp_set_num_threads(1);
            task(given);
            omp_set_num_threads(threads);
            return;
        }
        pthread_detach(helper);
        teml_has_helper = 1;
    }
    teml_task = task;
    teml_given = given;
    pthread_cond_broadcast(&teml_turn);
    while (teml_task)
        pthread_cond_wait(&teml_turn, &teml_lock);
    pthread_mutex_unlock(&teml_lock);
}

static inline void teml_run(void (*task)(void *), void *given)
{
    if (__builtin_expect(teml_is_forked, 0))
        teml_run_elsewhere(task, given);
    else
        task(given);
}
#else
#define teml_run(task, given) task(given)
#endif
