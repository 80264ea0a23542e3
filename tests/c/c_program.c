/* The C interface as a program in C sees it: `c_program URI` for a server of its own.
 * SPDX-License-Identifier: BSL-1.0 */
#include <latchkey/latchkey.h>

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* Checks and frees an error. */
static void expect_error(latchkey_error* error, latchkey_code code, const char* part) {
  CHECK(error != NULL);
  if (latchkey_error_code(error) != code || strstr(latchkey_error_message(error), part) == NULL) {
    fprintf(stderr, "error %d: %s; expected %d with '%s'\n", (int)latchkey_error_code(error),
            latchkey_error_message(error), (int)code, part);
    exit(1);
  }
  latchkey_error_free(error);
}

static latchkey_request request_of(const char* const* key, latchkey_type type, int64_t wait_ms) {
  latchkey_request request = LATCHKEY_REQUEST_INIT;
  request.keys = key;
  request.key_count = 1;
  request.type = type;
  request.wait_ms = wait_ms;
  return request;
}

/* Waits for the next operation of the loop. */
static latchkey_operation* next_of(latchkey_loop* loop) {
  for (;;) {
    struct pollfd wanted;
    latchkey_operation* const ended = latchkey_loop_dispatch(loop);
    if (ended != NULL) return ended;
    wanted.fd = latchkey_loop_descriptor(loop);
    wanted.events = POLLIN;
    CHECK(poll(&wanted, 1, 30000) == 1);
  }
}

static void test_holds(latchkey_locks* locks) {
  static const char* const key = "c:hold";
  latchkey_error* error = NULL;
  latchkey_request request = request_of(&key, LATCHKEY_FENCED, 3000);
  latchkey_hold* hold;
  request.lease_ms = 30000;
  hold = latchkey_acquire(locks, &request, &error);
  CHECK(hold != NULL && error == NULL);
  CHECK(strcmp(latchkey_hold_key(hold), key) == 0);
  CHECK(latchkey_hold_lost(hold) == 0);
  CHECK(latchkey_hold_remaining_ms(hold) > 20000);
  CHECK(latchkey_hold_token(hold, 0) > 0);
  CHECK(latchkey_hold_token(hold, 1) == 0);
  CHECK(strncmp(latchkey_hold_fence(hold, 0), "c:hold/FENCED/", 14) == 0);
  CHECK(latchkey_hold_extend(hold, 60000, &error) == 1);
  CHECK(latchkey_hold_remaining_ms(hold) > 40000);
  CHECK(latchkey_hold_release(hold, &error) == 1);

  request.cache_ms = -1;
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "cache takes a time from 0");
  error = NULL;
  request.cache_ms = LATCHKEY_CACHE_ADAPTIVE;
  hold = latchkey_acquire(locks, &request, NULL);
  CHECK(latchkey_force_release(locks, key, &error) == 1);
  CHECK(latchkey_hold_release(hold, &error) == 0);
  CHECK(latchkey_force_release(locks, key, &error) == 0);
}

static void test_owners(latchkey_locks* locks) {
  static const char* const key = "c:owner";
  latchkey_error* error = NULL;
  latchkey_request request = request_of(&key, LATCHKEY_TYPE_UNSET, 0);
  latchkey_hold *outer, *inner;
  request.owner = latchkey_owner_new();
  outer = latchkey_acquire(locks, &request, NULL);
  inner = latchkey_acquire(locks, &request, NULL);
  CHECK(outer != NULL && inner != NULL);
  request.owner = latchkey_owner_new();
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_TIMEOUT, "'from C:c:owner'");
  CHECK(latchkey_acquire(locks, &request, NULL) == NULL);
  CHECK(latchkey_hold_release(inner, NULL) == 1);
  CHECK(latchkey_hold_release(outer, NULL) == 1);
}

static void test_several_and_semaphores(latchkey_locks* locks) {
  static const char* const keys[] = {"c:2", "c:1"};
  latchkey_error* error = NULL;
  latchkey_request request = request_of(keys, LATCHKEY_WRITE, 0);
  latchkey_hold *hold, *other;
  request.key_count = 2;
  hold = latchkey_acquire(locks, &request, NULL);
  CHECK(hold != NULL && latchkey_hold_release(hold, NULL) == 1);

  {
    static const char* const jobs = "c:jobs";
    request = request_of(&jobs, LATCHKEY_TYPE_UNSET, 0);
    request.total = 2;
    hold = latchkey_acquire(locks, &request, NULL);
    other = latchkey_acquire(locks, &request, NULL);
    CHECK(hold != NULL && other != NULL);
    CHECK(latchkey_acquire(locks, &request, &error) == NULL);
    expect_error(error, LATCHKEY_TIMEOUT, "c:jobs");
    CHECK(latchkey_hold_release(hold, NULL) == 1);
    CHECK(latchkey_hold_release(other, NULL) == 1);
  }
}

static void test_loop(latchkey_locks* locks) {
  static const char* const key = "c:loop";
  latchkey_error* error = NULL;
  latchkey_loop* const loop = latchkey_loop_new(locks, &error);
  latchkey_request request = request_of(&key, LATCHKEY_TYPE_UNSET, 30000);
  latchkey_operation *acquire, *watch, *next;
  latchkey_hold *hold = NULL, *second = NULL;
  CHECK(loop != NULL && latchkey_loop_descriptor(loop) >= 0);
  CHECK(latchkey_loop_dispatch(loop) == NULL);

  acquire = latchkey_start_acquire(loop, &request, &error, &error);
  CHECK(acquire != NULL && latchkey_operation_data(acquire) == &error);
  CHECK(next_of(loop) == acquire);
  CHECK(latchkey_operation_finish(acquire, &hold, &error) == 1 && hold != NULL);

  /* A wait ends with the release, and another one that is cancelled never does. */
  acquire = latchkey_start_acquire(loop, &request, NULL, &error);
  latchkey_operation_cancel(acquire);
  acquire = latchkey_start_acquire(loop, &request, NULL, &error);
  next = latchkey_start_release(loop, hold, NULL, &error);
  CHECK(next != NULL);
  {
    int seen_acquire = 0, seen_release = 0;
    while (seen_acquire == 0 || seen_release == 0) {
      latchkey_operation* const ended = next_of(loop);
      CHECK(ended == acquire || ended == next);
      if (ended == acquire) {
        seen_acquire = latchkey_operation_finish(ended, &second, &error);
        CHECK(seen_acquire == 1);
      } else {
        seen_release = latchkey_operation_finish(ended, NULL, &error);
        CHECK(seen_release == 1);
      }
    }
  }

  next = latchkey_start_extend(loop, second, 60000, NULL, &error);
  CHECK(next_of(loop) == next && latchkey_operation_finish(next, NULL, &error) == 1);

  /* A loss ends the watch. */
  watch = latchkey_start_watch(loop, second, NULL, &error);
  CHECK(latchkey_loop_dispatch(loop) == NULL);
  CHECK(latchkey_force_release(locks, key, &error) == 1);
  CHECK(next_of(loop) == watch && latchkey_operation_finish(watch, NULL, &error) == 1);
  CHECK(latchkey_hold_lost(second) == 1);
  next = latchkey_start_release(loop, second, NULL, &error);
  CHECK(next_of(loop) == next && latchkey_operation_finish(next, NULL, &error) == 0);

  /* The error of an acquire comes with its end. */
  hold = latchkey_acquire(locks, &request, NULL);
  request.wait_ms = 0;
  next = latchkey_start_acquire(loop, &request, NULL, &error);
  CHECK(next_of(loop) == next && latchkey_operation_finish(next, &second, &error) == -1);
  expect_error(error, LATCHKEY_TIMEOUT, "was busy");
  error = NULL;
  request.lease_ms = 1;
  CHECK(latchkey_start_acquire(loop, &request, NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "a lease is at least 10 ms");

  /* A loop that is freed cancels its waits; the watch of a hold that stays, too. */
  request.wait_ms = LATCHKEY_FOREVER;
  request.lease_ms = LATCHKEY_WATCHDOG;
  error = NULL;
  CHECK(latchkey_start_acquire(loop, &request, NULL, &error) != NULL);
  CHECK(latchkey_start_watch(loop, hold, NULL, &error) != NULL);
  latchkey_loop_free(loop);
  CHECK(latchkey_hold_release(hold, &error) == 1);
  request.wait_ms = 20000;
  hold = latchkey_acquire(locks, &request, &error);
  CHECK(hold != NULL && latchkey_hold_release(hold, NULL) == 1);
}

static void test_keys(void) {
  latchkey_error* error = NULL;
  latchkey_key* const key = latchkey_key_parse("account:{account.ids[3]['x'] ?: 0}", &error);
  latchkey_value values[2];
  char out[LATCHKEY_MAX_KEY + 1];
  size_t count = 0;
  const latchkey_path* const paths = latchkey_key_paths(key, &count);
  CHECK(count == 2);
  CHECK(strcmp(paths[0].text, "account.ids[3]['x']") == 0);
  CHECK(strcmp(paths[0].argument, "account") == 0 && paths[0].step_count == 3);
  CHECK(paths[0].steps[0].kind == LATCHKEY_MEMBER && strcmp(paths[0].steps[0].text, "ids") == 0);
  CHECK(paths[0].steps[1].kind == LATCHKEY_INDEX && paths[0].steps[1].number == 3);
  CHECK(paths[0].steps[2].kind == LATCHKEY_TEXT_INDEX);
  CHECK(paths[1].argument == NULL && paths[1].position == 0);
  memset(values, 0, sizeof values);
  values[1].kind = LATCHKEY_INTEGER;
  values[1].magnitude = 7;
  values[1].negative = 1;
  CHECK(latchkey_key_render(key, values, out, &error) == 10 && strcmp(out, "account:-7") == 0);
  values[0].kind = LATCHKEY_TEXT;
  values[0].text = "a/b";
  values[0].length = 3;
  CHECK(latchkey_key_render(key, values, out, &error) == 13 && strcmp(out, "account:a%2Fb") == 0);
  values[0].kind = LATCHKEY_ABSENT;
  values[1].kind = LATCHKEY_ABSENT;
  CHECK(latchkey_key_render(key, values, out, &error) == -1);
  expect_error(error, LATCHKEY_BAD_KEY, "has no value");
  latchkey_key_free(key);
  error = NULL;
  CHECK(latchkey_key_parse("account:{", &error) == NULL);
  expect_error(error, LATCHKEY_BAD_KEY, "account:{");
}

static void test_policies(const char* file) {
  latchkey_error* error = NULL;
  latchkey_policies* const policies = latchkey_policies_read(file, &error);
  latchkey_policy code = LATCHKEY_POLICY_INIT;
  latchkey_policy* policy;
  latchkey_locks* locks;
  CHECK(policies != NULL);
  code.request.wait_ms = 77;
  code.request.lease_ms = 66;
  policy = latchkey_policies_find(policies, "shop::Bank::deposit", "money", &code, &error);
  CHECK(policy != NULL && policy->key_count == 1);
  CHECK(strcmp(policy->keys[0], "account:{account.id}") == 0);
  CHECK(policy->request.type == LATCHKEY_WRITE);
  CHECK(policy->request.lease_ms == LATCHKEY_WATCHDOG); /* the policy before the code */
  CHECK(policy->request.wait_ms == 250);                /* the rule before the code */
  CHECK(policy->request.cache_ms == LATCHKEY_CACHE_ADAPTIVE);
  CHECK(policy->backend == NULL && policy->on_timeout == LATCHKEY_STRATEGY_UNSET);
  latchkey_policy_free(policy);
  policy = latchkey_policies_find(policies, "Other::method", NULL, &code, &error);
  CHECK(policy->key_count == 0 && policy->request.wait_ms == 77); /* the code before the defaults */
  latchkey_policy_free(policy);
  policy = latchkey_policies_find(policies, "Other::method", NULL, NULL, &error);
  CHECK(policy->request.wait_ms == 1000 && policy->request.lease_ms == 10000);
  latchkey_policy_free(policy);
  CHECK(latchkey_policies_find(policies, "m", "mony", NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_POLICY, "did you mean 'money'");
  locks = latchkey_policies_open(policies, "local", NULL, &error);
  CHECK(locks != NULL);
  latchkey_locks_free(locks);
  error = NULL;
  CHECK(latchkey_policies_open(policies, "locl", NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_POLICY, "did you mean 'local'");
  latchkey_policies_free(policies);
  error = NULL;
  CHECK(latchkey_policies_read("/nowhere", &error) == NULL);
  expect_error(error, LATCHKEY_BAD_POLICY, "cannot be read");
}

static void test_wrong_arguments(latchkey_locks* locks) {
  static const char* const key = "k";
  latchkey_error* error = NULL;
  latchkey_request request = request_of(&key, LATCHKEY_TYPE_UNSET, 0);
  latchkey_options options = LATCHKEY_OPTIONS_INIT;
  CHECK(latchkey_open("rediz://h", NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "unknown scheme 'rediz:'");
  CHECK(latchkey_open(NULL, NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "the URI is NULL");
  options.watchdog_ms = 1;
  CHECK(latchkey_open("memory:", &options, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "watchdog");
  CHECK(latchkey_acquire(locks, NULL, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "the request is NULL");
  request.size = 8;
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "begin with its _INIT macro");
  request = request_of(&key, LATCHKEY_PERMIT, 0);
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_ARGUMENT, "LATCHKEY_PERMIT needs a total");
  request.key_count = 0;
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_BAD_KEY, "names no key");
  CHECK(latchkey_error_code(NULL) == LATCHKEY_OK && *latchkey_error_message(NULL) == '\0');
  latchkey_error_free(NULL);
  latchkey_locks_free(NULL);
}

int main(int count, char** arguments) {
  latchkey_error* error = NULL;
  latchkey_options options = LATCHKEY_OPTIONS_INIT;
  latchkey_locks* locks;
  static const char* const key = "c:closed";
  latchkey_request request = request_of(&key, LATCHKEY_TYPE_UNSET, 0);
  CHECK(count == 3);
  CHECK(strlen(latchkey_version()) >= 5);
  options.prefix = "from C:";
  options.watchdog_ms = 1500; /* so a loss is noticed within half a second */
  locks = latchkey_open(arguments[1], &options, &error);
  if (locks == NULL) fprintf(stderr, "%s\n", latchkey_error_message(error));
  CHECK(locks != NULL);
  test_holds(locks);
  test_owners(locks);
  test_several_and_semaphores(locks);
  test_loop(locks);
  test_keys();
  test_policies(arguments[2]);
  test_wrong_arguments(locks);
  latchkey_close(locks, 0);
  CHECK(latchkey_acquire(locks, &request, &error) == NULL);
  expect_error(error, LATCHKEY_CLOSED, "closed");
  latchkey_locks_free(locks);
  return 0;
}
