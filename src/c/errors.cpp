// From exceptions to the errors of the C interface.
// SPDX-License-Identifier: BSL-1.0
#include "c/errors.hpp"

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include <latchkey/error.hpp>
#include <latchkey/version.hpp>

namespace latchkey::inline v1::detail::c {
namespace {

/// The error that needs no memory: its text is short enough to be stored inline. It is never freed.
latchkey_error& no_memory() noexcept {
  static latchkey_error error{LATCHKEY_NO_MEMORY, "no memory"};
  return error;
}

/// The code of the exception that is being handled, and its message. The more special types first.
latchkey_error classify_current_exception() {
  try {
    throw;
  } catch (const LockTimeout& error) {
    return {LATCHKEY_TIMEOUT, error.what()};
  } catch (const LockLost& error) {
    return {LATCHKEY_LOST, error.what()};
  } catch (const WouldDeadlock& error) {
    return {LATCHKEY_WOULD_DEADLOCK, error.what()};
  } catch (const Closed& error) {
    return {LATCHKEY_CLOSED, error.what()};
  } catch (const ReleaseUnconfirmed& error) {
    return {LATCHKEY_UNCONFIRMED, error.what()};
  } catch (const BackendUnavailable& error) {
    return {LATCHKEY_UNAVAILABLE, error.what()};
  } catch (const BackendRefused& error) {
    return {LATCHKEY_REFUSED, error.what()};
  } catch (const KeyError& error) {
    return {LATCHKEY_BAD_KEY, error.what()};
  } catch (const PolicyError& error) {
    return {LATCHKEY_BAD_POLICY, error.what()};
  } catch (const std::invalid_argument& error) {
    return {LATCHKEY_BAD_ARGUMENT, error.what()};
  } catch (const std::exception& error) {
    return {LATCHKEY_FAILED, error.what()};
  } catch (...) {
    return {LATCHKEY_FAILED, "a backend threw what is no std::exception"};
  }
}

latchkey_error* make_error() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return &no_memory();
  } catch (...) {
    try {
      return std::make_unique<latchkey_error>(classify_current_exception()).release();
    } catch (...) {
      return &no_memory();
    }
  }
}

}  // namespace

void store_current_exception(latchkey_error** error) noexcept {
  if (error != nullptr) *error = make_error();
}

}  // namespace latchkey::inline v1::detail::c

using latchkey::detail::c::no_memory;

const char* latchkey_version() noexcept { return latchkey::version().data(); }

latchkey_code latchkey_error_code(const latchkey_error* error) noexcept {
  return error == nullptr ? LATCHKEY_OK : error->code;
}

const char* latchkey_error_message(const latchkey_error* error) noexcept {
  return error == nullptr ? "" : error->message.c_str();
}

void latchkey_error_free(latchkey_error* error) noexcept {
  if (error != &no_memory()) delete error;
}
