// One span for each observed call: its attributes, its events, and the context of its body.
// SPDX-License-Identifier: BSL-1.0
#include "adapters/opentelemetry_spans.hpp"

#include <opentelemetry/common/timestamp.h>
#include <opentelemetry/context/runtime_context.h>
#include <opentelemetry/nostd/string_view.h>
#include <opentelemetry/trace/context.h>
#include <opentelemetry/trace/noop.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/site.hpp>
#include <latchkey/version.hpp>

#include "adapters/event_metrics.hpp"
#include "adapters/holder_text.hpp"
#include "adapters/opentelemetry_text.hpp"

namespace latchkey::inline v1 {
namespace {

namespace context = opentelemetry::context;
namespace nostd = opentelemetry::nostd;
namespace trace = opentelemetry::trace;
using detail::telemetry_text;
using Kind = Event::Kind;
using SystemClock = std::chrono::system_clock;
using SteadyClock = std::chrono::steady_clock;

/// Whether an acquire that ended so is an error. A job that finds its lock busy and is skipped, and
/// a wait that was cancelled, are none.
bool is_error(Kind outcome) noexcept {
  return outcome != Kind::busy && outcome != Kind::cancelled && outcome != Kind::taken;
}

std::string host_of_this_process() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

/// Has the span current while a thread runs the body.
class CurrentSpan final : public CallScope {
 public:
  explicit CurrentSpan(const context::Context& its)
      : token_(context::RuntimeContext::Attach(its)) {}

 private:
  nostd::unique_ptr<context::Token> token_;
};

class CallSpan final : public CallObservation {
 public:
  CallSpan(nostd::shared_ptr<trace::Tracer> tracer, OpenTelemetryOptions options)
      : tracer_(std::move(tracer)),
        options_(options),
        context_(context::RuntimeContext::GetCurrent()),
        began_(SystemClock::now()),
        began_steady_(SteadyClock::now()) {}
  ~CallSpan() override {
    if (span_ != nullptr) span_->End();
  }

  void acquiring(const Locks& locks, std::string_view key,
                 const Attempt& attempt) noexcept override {
    const Site& site = *attempt.origin.site;
    trace::StartSpanOptions start;
    start.start_system_time = opentelemetry::common::SystemTimestamp(began_);
    start.start_steady_time = opentelemetry::common::SteadyTimestamp(began_steady_);
    start.parent = context_;
    // Without a parent it is a root, whatever is current on the thread of a coroutine.
    if (!trace::GetSpan(context_)->GetContext().IsValid()) {
      start.parent = context_.SetValue(trace::kIsRootSpanKey, true);
    }
    span_ = tracer_->StartSpan(telemetry_text(site.name()), start);
    context_ = trace::SetSpan(context_, span_);
    if (!span_->IsRecording()) return;
    if (!site.method().empty()) set("code.function.name", site.method());
    set("code.file.path", site.file());
    span_->SetAttribute("code.line.number", static_cast<std::int64_t>(site.line()));
    set("latchkey.key.template", attempt.origin.key_template);
    if (options_.records_keys && !key.empty()) set("latchkey.key", key);
    set("latchkey.lock.type", to_string(attempt.type));
    set("latchkey.backend", locks.describe());
    if (!attempt.wait.is_forever()) set_seconds("latchkey.wait.limit", attempt.wait.length());
    if (!attempt.lease.is_watchdog()) {
      set_seconds("latchkey.lease", attempt.lease.length(std::chrono::milliseconds(0)));
    }
  }

  void acquired(const Hold& hold, const AcquireReport& report) noexcept override {
    const auto now = SystemClock::now();
    describe_wait(report, now);
    span_->AddEvent("lock.acquired", opentelemetry::common::SystemTimestamp(now));
    acquired_ = now;
    if (!span_->IsRecording()) return;
    set("latchkey.outcome", to_string(Kind::granted));
    if (options_.records_keys) set("latchkey.key", hold.key());  // several keys are listed
    if (hold.permits() != 0) {
      span_->SetAttribute("latchkey.permits", static_cast<std::int64_t>(hold.permits()));
    }
    if (const auto token = hold.fencing_token()) {
      span_->SetAttribute("latchkey.fence", static_cast<std::int64_t>(*token));
    }
  }

  void not_acquired(Kind outcome, const AcquireReport& report,
                    const std::exception_ptr& error) noexcept override {
    describe_wait(report, SystemClock::now());
    if (error != nullptr && span_->IsRecording()) describe(error);
    if (outcome == Kind::attempt) return fail("_OTHER", "the lock could not be asked for");
    set("latchkey.outcome", to_string(outcome));
    if (is_error(outcome)) fail(to_string(outcome), "the lock was not acquired");
  }

  void ended(Kind outcome, std::optional<std::chrono::milliseconds> held) noexcept override {
    if (outcome == Kind::lost) {
      const auto lost = held ? acquired_ + *held : SystemClock::now();
      span_->AddEvent("lock.lost", opentelemetry::common::SystemTimestamp(lost));
    } else {
      span_->AddEvent("lock.released");
    }
    if (outcome == Kind::released) return;
    set("latchkey.outcome", to_string(outcome));
    fail(to_string(outcome), outcome == Kind::lost ? "the lock was lost before it was released"
                                                   : "the backend did not confirm the release");
  }

  void body_threw() noexcept override { fail("_OTHER", "the body threw"); }

  [[nodiscard]] std::unique_ptr<CallScope> enter_thread() noexcept override {
    if (span_ == nullptr) return nullptr;
    return std::unique_ptr<CallScope>(new (std::nothrow) CurrentSpan(context_));
  }

 private:
  void set(const char* name, std::string_view value) noexcept {
    span_->SetAttribute(name, telemetry_text(value));
  }
  void set_seconds(const char* name, std::chrono::nanoseconds time) noexcept {
    span_->SetAttribute(name, detail::metrics::seconds(time));
  }
  void fail(std::string_view type, const char* why) noexcept {
    if (span_ == nullptr) return;
    set("error.type", type);
    span_->SetStatus(trace::StatusCode::kError, why);
  }

  void describe_wait(const AcquireReport& report, SystemClock::time_point now) noexcept {
    if (!span_->IsRecording()) return;
    span_->SetAttribute("latchkey.attempts", static_cast<std::int64_t>(report.attempts));
    if (!report.contended) return;
    const auto began = now - std::chrono::duration_cast<SystemClock::duration>(*report.contended);
    span_->AddEvent("lock.wait.begin", opentelemetry::common::SystemTimestamp(began));
    span_->AddEvent("lock.wait.end", opentelemetry::common::SystemTimestamp(now));
    set_seconds("latchkey.wait.duration", *report.contended);
    describe_holder(report.holder);
  }

  /// A LockTimeout knows more of the holder than the wait began with.
  void describe(const std::exception_ptr& error) noexcept {
    try {
      std::rethrow_exception(error);
    } catch (const LockTimeout& timeout) {
      describe_holder(timeout.holder());
    } catch (...) {
      return;
    }
  }

  void describe_holder(std::string_view holder) noexcept {
    if (holder.empty()) return;
    set("latchkey.holder", holder);
    detail::HolderText known = detail::parse_holder(holder);
    std::string own_host;
    if (known.is_of_this_process) {
      own_host = host_of_this_process();
      known.host = own_host;
      known.process = ::getpid();
    }
    if (!known.method.empty()) set("latchkey.holder.method", known.method);
    if (!known.host.empty()) set("latchkey.holder.host", known.host);
    if (known.process) span_->SetAttribute("latchkey.holder.pid", *known.process);
  }

  nostd::shared_ptr<trace::Tracer> tracer_;
  OpenTelemetryOptions options_;
  context::Context context_;  ///< of the caller; from acquiring on, with the span
  SystemClock::time_point began_;
  SteadyClock::time_point began_steady_;
  SystemClock::time_point acquired_{};
  nostd::shared_ptr<trace::Span> span_{};  ///< null before acquiring
};

}  // namespace

std::unique_ptr<OpenTelemetryListener::Spans> OpenTelemetryListener::Spans::make(
    OpenTelemetryOptions options) {
  const auto provider = trace::Provider::GetTracerProvider();
  if (dynamic_cast<const trace::NoopTracerProvider*>(provider.get()) != nullptr) return nullptr;
  return std::make_unique<Spans>(provider->GetTracer("latchkey", telemetry_text(version())),
                                 options);
}

std::unique_ptr<CallObservation> OpenTelemetryListener::Spans::begin() const {
  return std::make_unique<CallSpan>(tracer_, options_);
}

}  // namespace latchkey::inline v1
