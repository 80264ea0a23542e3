// The module latchkey: everything of the library that is no macro.
// SPDX-License-Identifier: BSL-1.0
//
// `import latchkey;` makes these names known; latchkey/macros.hpp has the macros. The library is the
// same binary for programs that include and programs that import: the names belong to the headers, and
// this file only exports them. tests/annotations/module_names_test.cpp requires that it exports every
// public name.
module;

#if defined(__cpp_impl_reflection) && defined(__cpp_expansion_statements)
#include <latchkey/annotations.hpp>
#endif

#include <latchkey/call_observer.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/listeners.hpp>
#include <latchkey/policy.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/simple_backend.hpp>

export module latchkey;

export namespace latchkey {

using latchkey::AcquireReport;
using latchkey::adaptive_cache;
using latchkey::AfterReturn;
using latchkey::argument_pointers;
using latchkey::Aspect;
using latchkey::assert_held;
using latchkey::Attempt;
using latchkey::Backend;
using latchkey::backend_schemes;
using latchkey::BackendFactory;
using latchkey::BackendRefused;
using latchkey::BackendUnavailable;
using latchkey::bind_key;
using latchkey::BoundKey;
using latchkey::BoundKeys;
using latchkey::CallObservation;
using latchkey::CallObserver;
using latchkey::CallScope;
using latchkey::Cancelled;
using latchkey::Capabilities;
using latchkey::check_fence;
using latchkey::check_policy_file;
using latchkey::Clock;
using latchkey::Closed;
using latchkey::completes_at_return;
using latchkey::Connection;
using latchkey::CountDownLatch;
using latchkey::Cron;
using latchkey::current_hold;
using latchkey::decorate;
using latchkey::default_lease;
using latchkey::default_wait;
using latchkey::dump_sites;
using latchkey::Error;
using latchkey::Event;
using latchkey::fair_grant_lease;
using latchkey::Fence;
using latchkey::FenceError;
using latchkey::FenceGuard;
using latchkey::FenceRejected;
using latchkey::FixedString;
using latchkey::for_scope;
using latchkey::Forever;
using latchkey::forever;
using latchkey::grant_lease;
using latchkey::Hold;
using latchkey::HolderInfo;
using latchkey::HoldId;
using latchkey::install;
using latchkey::install_from;
using latchkey::is_shared;
using latchkey::JoinPoint;
using latchkey::Key;
using latchkey::key_hash;
using latchkey::KeyBuffer;
using latchkey::KeyError;
using latchkey::later;
using latchkey::Leader;
using latchkey::LeaderHealth;
using latchkey::LeaderOptions;
using latchkey::LeaderState;
using latchkey::Lease;
using latchkey::ListCursor;
using latchkey::Listener;
using latchkey::Listeners;
using latchkey::ListPage;
using latchkey::ListPart;
using latchkey::Lock;
using latchkey::Locked;
using latchkey::locked;
using latchkey::locked_by;
using latchkey::LockedOncePer;
using latchkey::LockError;
using latchkey::LockInfo;
using latchkey::LockLost;
using latchkey::LockOptions;
using latchkey::Locks;
using latchkey::LockSite;
using latchkey::LockTimeout;
using latchkey::LockType;
using latchkey::LoopDriver;
using latchkey::make_quorum;
using latchkey::max_key_size;
using latchkey::Member;
using latchkey::most_permits;
using latchkey::most_permits_at_once;
using latchkey::NotConfigured;
using latchkey::NotHeld;
using latchkey::Notification;
using latchkey::NotOwner;
using latchkey::NotRun;
using latchkey::once_terms;
using latchkey::OnceOutcome;
using latchkey::OncePer;
using latchkey::OncePerOptions;
using latchkey::OnceReport;
using latchkey::OnceResult;
using latchkey::OnceRun;
using latchkey::OnceTerms;
using latchkey::OnFailure;
using latchkey::operator|;
using latchkey::Options;
using latchkey::Origin;
using latchkey::Outcome;
using latchkey::Owner;
using latchkey::Parker;
using latchkey::parse_key;
using latchkey::parse_lock_type;
using latchkey::ParsedKey;
using latchkey::PermitInfo;
using latchkey::Permits;
using latchkey::Policy;
using latchkey::PolicyError;
using latchkey::ReadWriteLock;
using latchkey::Reentry;
using latchkey::register_backend;
using latchkey::register_site;
using latchkey::ReleaseUnconfirmed;
using latchkey::reload_policies;
using latchkey::Request;
using latchkey::Schema;
using latchkey::schema_of;
using latchkey::SchemaArgument;
using latchkey::Semaphore;
using latchkey::SharedOrBorrowed;
using latchkey::SimpleBackend;
using latchkey::Sink;
using latchkey::Site;
using latchkey::SiteIterator;
using latchkey::SiteList;
using latchkey::SiteName;
using latchkey::SiteNote;
using latchkey::sites;
using latchkey::Startup;
using latchkey::terms;
using latchkey::to_string;
using latchkey::Verb;
using latchkey::version;
using latchkey::Wait;
using latchkey::Watchdog;
using latchkey::watchdog;
using latchkey::with_arguments;
using latchkey::WouldDeadlock;

#if defined(__cpp_impl_reflection) && defined(__cpp_expansion_statements)
using latchkey::Annotated;
using latchkey::check_annotations;
using latchkey::LockAnnotation;
using latchkey::once_per;
using latchkey::OnceAnnotation;
using latchkey::unbound_annotations;
#endif

}  // namespace latchkey

/// What on_timeout and its siblings take.
export namespace latchkey::strategy {

using latchkey::strategy::Fallback;
using latchkey::strategy::fallback;
using latchkey::strategy::Raise;
using latchkey::strategy::raise;
using latchkey::strategy::Report;
using latchkey::strategy::report;
using latchkey::strategy::run_unlocked_dangerously;
using latchkey::strategy::RunUnlocked;
using latchkey::strategy::Skip;
using latchkey::strategy::skip;
using latchkey::strategy::skip_with;
using latchkey::strategy::SkipWith;

}  // namespace latchkey::strategy

/// How keys read types.
export namespace latchkey::reflect {

using latchkey::reflect::Aggregate;
using latchkey::reflect::aggregate_fault;
using latchkey::reflect::AggregateFault;
using latchkey::reflect::AggregateFields;
using latchkey::reflect::Declared;
using latchkey::reflect::duration_text;
using latchkey::reflect::element_of;
using latchkey::reflect::element_type;
using latchkey::reflect::Field;
using latchkey::reflect::field_index;
using latchkey::reflect::field_names;
using latchkey::reflect::field_type;
using latchkey::reflect::FieldInfo;
using latchkey::reflect::FieldList;
using latchkey::reflect::fields_fault;
using latchkey::reflect::fields_t;
using latchkey::reflect::find_in;
using latchkey::reflect::has_field;
using latchkey::reflect::hook_t;
using latchkey::reflect::index_of_field;
using latchkey::reflect::instant_text;
using latchkey::reflect::is_integer;
using latchkey::reflect::is_leaf;
using latchkey::reflect::is_looked_through;
using latchkey::reflect::Leaf;
using latchkey::reflect::MapWithIntegerKeys;
using latchkey::reflect::MapWithTextKeys;
using latchkey::reflect::no_field;
using latchkey::reflect::Receiver;
using latchkey::reflect::Shape;
using latchkey::reflect::shape_of;
using latchkey::reflect::size_of;
using latchkey::reflect::tag;
using latchkey::reflect::target_of;
using latchkey::reflect::target_type;
using latchkey::reflect::text_from;
using latchkey::reflect::text_of;
using latchkey::reflect::TextFrom;
using latchkey::reflect::TextReceiver;
using latchkey::reflect::Ticks;
using latchkey::reflect::TimeText;
using latchkey::reflect::type_info;
using latchkey::reflect::type_name;
using latchkey::reflect::TypeInfo;
using latchkey::reflect::with_made_text;

#if defined(__cpp_impl_reflection) && defined(__cpp_expansion_statements)
using latchkey::reflect::enumerator_name;
#endif

}  // namespace latchkey::reflect

// The operators that LOCKED and AROUND stand for are found through their operands, in templates that
// the importing program instantiates. Without an export the compilers drop them. The other names are
// those that the macros write.
export namespace latchkey::detail {

using latchkey::detail::operator&&;
using latchkey::detail::Addresses;
using latchkey::detail::Checked;
using latchkey::detail::Given;
using latchkey::detail::GivenForScope;
using latchkey::detail::gives_awaitable;
using latchkey::detail::has_default;
using latchkey::detail::has_word;
using latchkey::detail::is_key;
using latchkey::detail::is_policy;
using latchkey::detail::KeyAt;
using latchkey::detail::keys;
using latchkey::detail::named_type;
using latchkey::detail::OnceKeyAt;
using latchkey::detail::placed;
using latchkey::detail::placed_key;
using latchkey::detail::placed_policy;
using latchkey::detail::PolicyAt;
using latchkey::detail::ScopeFunction;

}  // namespace latchkey::detail
export namespace latchkey::key_error {

using latchkey::key_error::operator|;

}  // namespace latchkey::key_error
