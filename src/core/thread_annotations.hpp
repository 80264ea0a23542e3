// Annotations of what a mutex guards, for clang's -Wthread-safety.
// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Clang's Thread Safety Analysis, https://clang.llvm.org/docs/ThreadSafetyAnalysis.html. Empty for
/// other compilers. The macros are private and carry the names of that page.
#ifdef __clang__
#define LATCHKEY_DETAIL_ANNOTATE(text) __attribute__((text))
#else
#define LATCHKEY_DETAIL_ANNOTATE(text)
#endif

#define LATCHKEY_CAPABILITY(name) LATCHKEY_DETAIL_ANNOTATE(capability(name))
#define LATCHKEY_SCOPED_CAPABILITY LATCHKEY_DETAIL_ANNOTATE(scoped_lockable)
#define LATCHKEY_GUARDED_BY(mutex) LATCHKEY_DETAIL_ANNOTATE(guarded_by(mutex))
#define LATCHKEY_REQUIRES(...) LATCHKEY_DETAIL_ANNOTATE(requires_capability(__VA_ARGS__))
#define LATCHKEY_EXCLUDES(...) LATCHKEY_DETAIL_ANNOTATE(locks_excluded(__VA_ARGS__))
#define LATCHKEY_ACQUIRE(...) LATCHKEY_DETAIL_ANNOTATE(acquire_capability(__VA_ARGS__))
#define LATCHKEY_TRY_ACQUIRE(...) LATCHKEY_DETAIL_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define LATCHKEY_RELEASE(...) LATCHKEY_DETAIL_ANNOTATE(release_capability(__VA_ARGS__))
#define LATCHKEY_RETURN_CAPABILITY(mutex) LATCHKEY_DETAIL_ANNOTATE(lock_returned(mutex))
#define LATCHKEY_ASSERT_CAPABILITY(mutex) LATCHKEY_DETAIL_ANNOTATE(assert_capability(mutex))
/// For a function whose locking the analysis cannot follow; a comment at the function says why it
/// is correct.
#define LATCHKEY_NO_THREAD_SAFETY_ANALYSIS LATCHKEY_DETAIL_ANNOTATE(no_thread_safety_analysis)
/// Around a fork, one function locks and two others unlock (core/at_fork.hpp).
#define LATCHKEY_FORK_HANDLER LATCHKEY_NO_THREAD_SAFETY_ANALYSIS
