/* The C interface of latchkey, for programs in C and for bindings of other languages. C99 and C++.
 *
 * Objects are opaque handles. Each function that can fail takes a `latchkey_error**`, which may be
 * NULL: if the function fails, it stores an error there, which the caller frees, and otherwise it
 * does not touch it. No exception leaves a function. Texts are UTF-8 and end with a NUL. A text or
 * handle that a function is given stays the caller's, unless its description says "takes".
 *
 * Times are milliseconds. latchkey_locks, latchkey_key and latchkey_policies are thread-safe. A
 * latchkey_hold may be used on any thread, by one at a time; latchkey_hold_lost also by several. A
 * latchkey_loop and its operations are for one thread at a time.
 *
 * In the child of a fork, each hold is lost and latchkey_locks own nothing. A loop of the parent
 * must not be used there: only latchkey_loop_free may be called, which does not disturb the parent.
 *
 * SPDX-License-Identifier: BSL-1.0 */
#ifndef LATCHKEY_LATCHKEY_H
#define LATCHKEY_LATCHKEY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define LATCHKEY_C_NOEXCEPT noexcept
extern "C" {
#else
#define LATCHKEY_C_NOEXCEPT
#endif
#pragma GCC visibility push(default)

typedef struct latchkey_error latchkey_error;
typedef struct latchkey_hold latchkey_hold;
typedef struct latchkey_key latchkey_key;
typedef struct latchkey_locks latchkey_locks;
typedef struct latchkey_loop latchkey_loop;
typedef struct latchkey_operation latchkey_operation;
typedef struct latchkey_policies latchkey_policies;

/* The version of the library, such as "0.9.1". */
const char* latchkey_version(void) LATCHKEY_C_NOEXCEPT;

/* --- errors --- */

typedef enum latchkey_code {
  LATCHKEY_OK = 0,
  LATCHKEY_TIMEOUT = 1,        /* the lock was busy for the whole wait */
  LATCHKEY_LOST = 2,           /* the hold ended before its holder released it */
  LATCHKEY_WOULD_DEADLOCK = 3, /* the owner holds the key so that it could never be granted */
  LATCHKEY_CLOSED = 4,         /* the latchkey_locks were closed */
  LATCHKEY_UNAVAILABLE = 5,    /* the server gave no definite reply */
  LATCHKEY_UNCONFIRMED = 6,    /* the server did not confirm a release; the work is done */
  LATCHKEY_REFUSED = 7,        /* the server rejected the request */
  LATCHKEY_BAD_KEY = 8,        /* a key, or a key template, that cannot be used */
  LATCHKEY_BAD_POLICY = 9,     /* an error in a policy file, or all errors of the file */
  LATCHKEY_BAD_ARGUMENT = 10,  /* a malformed URI, an option out of range, a wrong argument */
  LATCHKEY_NO_MEMORY = 11,     /* memory or a descriptor was not to be had */
  LATCHKEY_FAILED = 12         /* any other failure; the message says which */
} latchkey_code;

/* LATCHKEY_OK for NULL. */
latchkey_code latchkey_error_code(const latchkey_error* error) LATCHKEY_C_NOEXCEPT;
/* One sentence; "" for NULL. Valid until the error is freed. */
const char* latchkey_error_message(const latchkey_error* error) LATCHKEY_C_NOEXCEPT;
/* Does nothing for NULL, as each of the functions that free. */
void latchkey_error_free(latchkey_error* error) LATCHKEY_C_NOEXCEPT;

/* --- locks --- */

/* Stands for a setting that was not given. */
#define LATCHKEY_UNSET INT64_MIN
/* A wait without a limit; a lease that is renewed for as long as the process lives. */
#define LATCHKEY_FOREVER INT64_MAX
#define LATCHKEY_WATCHDOG INT64_MAX
/* A cache_ms that the process learns for each key: about the time until its next call. */
#define LATCHKEY_CACHE_ADAPTIVE INT32_MIN

typedef enum latchkey_type {
  LATCHKEY_TYPE_UNSET = 0, /* REENTRANT, or what a policy file says */
  LATCHKEY_REENTRANT = 1,
  LATCHKEY_FAIR = 2,
  LATCHKEY_READ = 3,
  LATCHKEY_WRITE = 4,
  LATCHKEY_FENCED = 5,
  LATCHKEY_PERMIT = 6 /* a semaphore: `total` is set */
} latchkey_type;

/* Options of latchkey_open; begin with LATCHKEY_OPTIONS_INIT. */
typedef struct latchkey_options {
  size_t size;                  /* of this struct */
  const char* prefix;           /* put before every key; NULL: none */
  int64_t watchdog_ms;          /* the lease that is renewed every third of it; default 30 000 */
  int64_t command_timeout_ms;   /* until a command without a reply is unknown; default 2 000 */
  int64_t unavailable_after_ms; /* for how long LATCHKEY_FOREVER waits without any reply: 10 000 */
  int allow_down;               /* nonzero: open although the server does not answer */
} latchkey_options;
#define LATCHKEY_OPTIONS_INIT \
  {sizeof(latchkey_options), NULL, LATCHKEY_UNSET, LATCHKEY_UNSET, LATCHKEY_UNSET, 0}

/* One acquire; begin with LATCHKEY_REQUEST_INIT. */
typedef struct latchkey_request {
  size_t size;             /* of this struct */
  const char* const* keys; /* several keys are taken together, in an order without deadlocks */
  size_t key_count;        /* at least 1 */
  uint64_t owner;          /* of latchkey_owner_new; 0: the thread, in a loop an owner of its own */
  latchkey_type type;      /* REENTRANT if it is unset */
  int64_t wait_ms;         /* 0: one attempt; 3 000 if it is unset */
  int64_t lease_ms;        /* LATCHKEY_WATCHDOG if it is unset */
  int64_t hold_for_ms;     /* the key stays locked for at least so long after the grant */
  int64_t held_at_most_ms; /* the hold ends then at the latest */
  int64_t lock_delay_ms;   /* nobody is granted the lock for so long after a loss */
  int64_t cache_ms;        /* for how long the process keeps it, released, until another waits */
  int64_t total;           /* makes it a semaphore with so many permits */
  int64_t permits;         /* how many of them are taken; 1 if it is unset */
  int fenced;              /* nonzero: the hold has a fencing token */
} latchkey_request;
#define LATCHKEY_REQUEST_INIT \
  {sizeof(latchkey_request),  \
   NULL,                      \
   0,                         \
   0,                         \
   LATCHKEY_TYPE_UNSET,       \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   LATCHKEY_UNSET,            \
   0}

/* Connects to a URI such as "redis://127.0.0.1:6379" or "memory:". `options` may be NULL. Returns
 * NULL with BAD_ARGUMENT, UNAVAILABLE or REFUSED. May block for command_timeout_ms. */
latchkey_locks* latchkey_open(const char* uri, const latchkey_options* options,
                              latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Ends waits with CLOSED, gives holders `drain_ms` to release, and releases what they still hold:
 * those holds are lost. */
void latchkey_close(latchkey_locks* locks, int64_t drain_ms) LATCHKEY_C_NOEXCEPT;
/* Holds and loops stay usable: they keep the connection. Does not close. */
void latchkey_locks_free(latchkey_locks* locks) LATCHKEY_C_NOEXCEPT;
/* An owner for work that moves between threads: what acquires a key again, with the same owner, is
 * counted once more. Never 0, and never the same number again in this process. */
uint64_t latchkey_owner_new(void) LATCHKEY_C_NOEXCEPT;

/* Waits for the lock and returns its hold; NULL with TIMEOUT, WOULD_DEADLOCK, CLOSED, UNAVAILABLE,
 * REFUSED, BAD_KEY, BAD_ARGUMENT or NO_MEMORY. */
latchkey_hold* latchkey_acquire(latchkey_locks* locks, const latchkey_request* request,
                                latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Ends every hold of the key, whoever the holders are. 1, 0: nobody held it, -1: an error. */
int latchkey_force_release(latchkey_locks* locks, const char* key,
                           latchkey_error** error) LATCHKEY_C_NOEXCEPT;

/* --- holds --- */

/* The key, or a text that lists several. Valid as long as the handle. */
const char* latchkey_hold_key(const latchkey_hold* hold) LATCHKEY_C_NOEXCEPT;
/* Nonzero from the hold's deadline on, and once it is known that the server no longer has it; never
 * 0 again. Compares clocks and does nothing else. */
int latchkey_hold_lost(const latchkey_hold* hold) LATCHKEY_C_NOEXCEPT;
/* The time until the deadline; 0 if the hold is lost. */
int64_t latchkey_hold_remaining_ms(const latchkey_hold* hold) LATCHKEY_C_NOEXCEPT;
/* The fencing token of the key that the request names at `index`; 0: it has none. */
uint64_t latchkey_hold_token(const latchkey_hold* hold, size_t index) LATCHKEY_C_NOEXCEPT;
/* Key, type and token as one text for requests, such as "order:42/FENCED/1764352651000000"; NULL:
 * it has none, or there was no memory. Valid until the next call or until the handle is freed. */
const char* latchkey_hold_fence(latchkey_hold* hold, size_t index) LATCHKEY_C_NOEXCEPT;
/* Moves the deadline to `lease_ms` from now, never to an earlier time. 1, 0: the hold is lost, or
 * held_at_most_ms allows no more, -1: an error. */
int latchkey_hold_extend(latchkey_hold* hold, int64_t lease_ms,
                         latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Takes the hold and releases it: its handle is freed in any case. 1, 0: it had been lost, -1: an
 * error: UNCONFIRMED or REFUSED. */
int latchkey_hold_release(latchkey_hold* hold, latchkey_error** error) LATCHKEY_C_NOEXCEPT;

/* --- event loops --- */

/* A loop waits until its descriptor is readable, beside everything else that it waits for, and then
 * calls latchkey_loop_dispatch until that returns NULL. No thread waits for an operation. NULL with
 * BAD_ARGUMENT if the attempts of the backend block, or NO_MEMORY. */
latchkey_loop* latchkey_loop_new(latchkey_locks* locks, latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* For poll(2) or epoll(7), the same as long as the loop lives. Never close it. */
int latchkey_loop_descriptor(const latchkey_loop* loop) LATCHKEY_C_NOEXCEPT;
/* Does what is due, without blocking. Returns an operation that has ended, which the caller gives
 * to latchkey_operation_finish; NULL: there is no more, and what the caller has started meanwhile
 * is sent. So call it until it returns NULL before you wait. */
latchkey_operation* latchkey_loop_dispatch(latchkey_loop* loop) LATCHKEY_C_NOEXCEPT;
/* Cancels and frees the operations that it still has. */
void latchkey_loop_free(latchkey_loop* loop) LATCHKEY_C_NOEXCEPT;

/* Each of these starts an operation, which latchkey_loop_dispatch returns when it has ended. NULL
 * with an error: it was not started. `data` is the caller's (latchkey_operation_data). */

/* As latchkey_acquire. */
latchkey_operation* latchkey_start_acquire(latchkey_loop* loop, const latchkey_request* request,
                                           void* data, latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* As latchkey_hold_extend. Ends as lost if the hold is released meanwhile. */
latchkey_operation* latchkey_start_extend(latchkey_loop* loop, latchkey_hold* hold,
                                          int64_t lease_ms, void* data,
                                          latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* As latchkey_hold_release: takes the hold and frees its handle. If it was not started, the hold is
 * released nevertheless, without an answer. */
latchkey_operation* latchkey_start_release(latchkey_loop* loop, latchkey_hold* hold, void* data,
                                           latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Ends when the hold is lost, and never after it was released: cancel it then. */
latchkey_operation* latchkey_start_watch(latchkey_loop* loop, const latchkey_hold* hold, void* data,
                                         latchkey_error** error) LATCHKEY_C_NOEXCEPT;

void* latchkey_operation_data(const latchkey_operation* operation) LATCHKEY_C_NOEXCEPT;
/* Withdraws a wait and frees the operation, which may have ended, but must not be finished; what it
 * is granted nevertheless is given back. A release or an extension happens all the same. */
void latchkey_operation_cancel(latchkey_operation* operation) LATCHKEY_C_NOEXCEPT;
/* Frees an operation that latchkey_loop_dispatch has returned. An acquire stores its hold in `hold`
 * and returns 1; others, for which `hold` may be NULL, return what the function of that name
 * returns, and a watch 1. -1: an error. */
int latchkey_operation_finish(latchkey_operation* operation, latchkey_hold** hold,
                              latchkey_error** error) LATCHKEY_C_NOEXCEPT;

/* --- keys --- */

/* Key templates in the language of docs/keys.md. The caller reads the values of the template's
 * paths in its own language, and latchkey makes the key of them. */

typedef enum latchkey_step_kind {
  LATCHKEY_MEMBER = 0,     /* .text */
  LATCHKEY_INDEX = 1,      /* [number] */
  LATCHKEY_TEXT_INDEX = 2, /* ['text'] */
  LATCHKEY_STAR = 3        /* [*]: one key for each element */
} latchkey_step_kind;
typedef struct latchkey_step {
  latchkey_step_kind kind;
  const char* text; /* NULL: it has none */
  uint64_t number;
} latchkey_step;

typedef enum latchkey_use {
  LATCHKEY_USE_VALUE = 0,   /* its text */
  LATCHKEY_USE_INTEGER = 1, /* a '%' follows: an integer */
  LATCHKEY_USE_SIZE = 2     /* size(path): the length of a text or of a container */
} latchkey_use;
typedef struct latchkey_path {
  const char* text;     /* the whole path as it stands in the template */
  const char* argument; /* the name of an argument; NULL: `position` counts from 0 */
  uint64_t position;
  const latchkey_step* steps;
  size_t step_count;
  latchkey_use use;
} latchkey_path;

typedef enum latchkey_value_kind {
  LATCHKEY_ABSENT = 0,     /* no value: '?:' gives a default */
  LATCHKEY_NO_ELEMENT = 1, /* an index names nothing */
  LATCHKEY_TEXT = 2,
  LATCHKEY_INTEGER = 3, /* from -2^64 to 2^64, exclusively */
} latchkey_value_kind;
typedef struct latchkey_value {
  latchkey_value_kind kind;
  const char* text; /* any bytes */
  size_t length;
  uint64_t magnitude;
  int negative;
} latchkey_value;

/* The longest key, with the prefix of its locks. */
#define LATCHKEY_MAX_KEY 1024

/* NULL with BAD_KEY, whose message has the wrong word, its column and the correction. */
latchkey_key* latchkey_key_parse(const char* text, latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* The paths of the template. Valid as long as the handle. */
const latchkey_path* latchkey_key_paths(const latchkey_key* key, size_t* count) LATCHKEY_C_NOEXCEPT;
/* Makes the key of the values of all paths, in the order of latchkey_key_paths; for a template with
 * [*], that of one element. `out` has room for LATCHKEY_MAX_KEY + 1 bytes. Returns the length; -1
 * with BAD_KEY: a value is absent, empty or of the wrong kind, or the key is too long. */
int latchkey_key_render(const latchkey_key* key, const latchkey_value* values, char* out,
                        latchkey_error** error) LATCHKEY_C_NOEXCEPT;
void latchkey_key_free(latchkey_key* key) LATCHKEY_C_NOEXCEPT;

/* --- policy files --- */

typedef enum latchkey_strategy {
  LATCHKEY_STRATEGY_UNSET = 0,
  LATCHKEY_RAISE = 1,
  LATCHKEY_SKIP = 2,         /* on_timeout, on_unavailable */
  LATCHKEY_RUN_UNLOCKED = 3, /* on_timeout */
  LATCHKEY_REPORT = 4        /* on_lost, on_unconfirmed_release */
} latchkey_strategy;

/* What a policy file, or the code, says about one method; begin with LATCHKEY_POLICY_INIT. */
typedef struct latchkey_policy {
  latchkey_request request; /* without keys and owner */
  const char* const* keys;  /* key templates; none: nothing is said about the key */
  size_t key_count;
  const char* backend; /* NULL: the default one */
  latchkey_strategy on_timeout, on_unavailable, on_lost, on_unconfirmed_release;
  int unlocked; /* nonzero: the method runs without its lock */
} latchkey_policy;
#define LATCHKEY_POLICY_INIT \
  {LATCHKEY_REQUEST_INIT,    \
   NULL,                     \
   0,                        \
   NULL,                     \
   LATCHKEY_STRATEGY_UNSET,  \
   LATCHKEY_STRATEGY_UNSET,  \
   LATCHKEY_STRATEGY_UNSET,  \
   LATCHKEY_STRATEGY_UNSET,  \
   0}

/* Reads a file in the format of docs/policies.md and checks all that the file alone shows. Connects
 * to nothing. NULL with BAD_POLICY: its message has a line for each error. */
latchkey_policies* latchkey_policies_read(const char* file,
                                          latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Connects to a backend of the file; NULL names the default one. The file's prefix has precedence.
 * As latchkey_open. */
latchkey_locks* latchkey_policies_open(const latchkey_policies* policies, const char* backend,
                                       const latchkey_options* options,
                                       latchkey_error** error) LATCHKEY_C_NOEXCEPT;
/* Merges what the file says with `code`: the rule that names `method`, then the named policy
 * `policy`, then `code`, then the defaults; the first that has a setting decides. Keys and the
 * backend are the file's alone. `method` is "Class::method", with or without outer names; `policy`
 * and `code` may be NULL. BAD_POLICY: the file has no policy of that name, or that has no key, or
 * two rules name the method and neither is the more specific. The result does not need the file. */
latchkey_policy* latchkey_policies_find(const latchkey_policies* policies, const char* method,
                                        const char* policy, const latchkey_policy* code,
                                        latchkey_error** error) LATCHKEY_C_NOEXCEPT;
void latchkey_policy_free(latchkey_policy* policy) LATCHKEY_C_NOEXCEPT;
void latchkey_policies_free(latchkey_policies* policies) LATCHKEY_C_NOEXCEPT;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
