/* The snippets of docs/python.md: `docs_program [URI]`.
 * SPDX-License-Identifier: BSL-1.0 */
#include <latchkey/latchkey.h>

#include <poll.h>
#include <stdio.h>

static int balances_written;

static void write_balance(int account) { balances_written += account; }

static int fail(latchkey_error* error) {
  fprintf(stderr, "%s\n", latchkey_error_message(error));
  latchkey_error_free(error);
  return 1;
}

static int block(const char* uri) {
  latchkey_error* error = NULL;
  latchkey_locks* const locks = latchkey_open(uri, NULL, &error);
  if (locks == NULL) return fail(error);

  const char* const key = "account:7";
  latchkey_request request = LATCHKEY_REQUEST_INIT;
  request.keys = &key;
  request.key_count = 1;
  request.type = LATCHKEY_WRITE;
  request.lease_ms = 30000;
  latchkey_hold* const hold = latchkey_acquire(locks, &request, &error);
  if (hold == NULL) return fail(error);
  if (!latchkey_hold_lost(hold)) write_balance(7);
  if (latchkey_hold_release(hold, &error) < 0) return fail(error);
  latchkey_locks_free(locks);
  return balances_written == 7 ? 0 : 1;
}

static int loop(const char* uri) {
  latchkey_error* error = NULL;
  latchkey_locks* const locks = latchkey_open(uri, NULL, &error);
  if (locks == NULL) return fail(error);
  const char* const key = "account:7";
  latchkey_request request = LATCHKEY_REQUEST_INIT;
  request.keys = &key;
  request.key_count = 1;
  {
    latchkey_loop* const loop = latchkey_loop_new(locks, &error);
    if (loop == NULL) return fail(error);
    if (latchkey_start_acquire(loop, &request, NULL, &error) == NULL) return fail(error);
    latchkey_operation* ended;
    while ((ended = latchkey_loop_dispatch(loop)) == NULL) {
      struct pollfd readable = {latchkey_loop_descriptor(loop), POLLIN, 0};
      poll(&readable, 1, -1);
    }
    latchkey_hold* hold = NULL;
    if (latchkey_operation_finish(ended, &hold, &error) < 0) return fail(error);
    if (latchkey_hold_release(hold, &error) != 1) return 1;
    latchkey_loop_free(loop);
  }
  latchkey_locks_free(locks);
  return 0;
}

int main(int count, char** arguments) {
  const char* const uri = count > 1 ? arguments[1] : "memory:";
  return block(uri) + loop(uri);
}
