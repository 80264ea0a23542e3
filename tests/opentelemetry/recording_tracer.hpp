// A tracer that keeps its spans, for tests without an SDK.
#pragma once

#include <opentelemetry/context/runtime_context.h>
#include <opentelemetry/trace/context.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>
#include <opentelemetry/trace/tracer_provider.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace latchkey::tests {

namespace otel = opentelemetry;

inline std::string own(otel::nostd::string_view text) { return {text.data(), text.size()}; }

struct SpanRecord {
  std::string name;
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  ///< 0: a root
  std::map<std::string, std::string> texts;
  std::map<std::string, double> numbers;
  std::vector<std::pair<std::string, std::chrono::system_clock::time_point>> events;
  bool failed = false;
  std::string status;
  bool ended = false;

  [[nodiscard]] std::vector<std::string> event_names() const {
    std::vector<std::string> names;
    for (const auto& event : events) names.push_back(event.first);
    return names;
  }
};

/// The spans of one test. Thread-safe.
class SpanRecords {
 public:
  std::shared_ptr<SpanRecord> add(std::string name, std::uint64_t parent) {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<SpanRecord>();
    made->name = std::move(name);
    made->id = ++last_;
    made->parent = parent;
    records_.push_back(made);
    return made;
  }
  template <class Change>
  void change(SpanRecord& record, const Change& change) {
    const std::lock_guard lock(mutex_);
    change(record);
  }
  /// The spans with this name, in the order in which they began.
  [[nodiscard]] std::vector<SpanRecord> named(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    std::vector<SpanRecord> found;
    for (const auto& each : records_) {
      if (each->name == name) found.push_back(*each);
    }
    return found;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return records_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::vector<std::shared_ptr<SpanRecord>> records_;
};

inline otel::trace::SpanContext context_of(std::uint64_t id) {
  const std::uint8_t trace[16] = {1};
  std::uint8_t span[8] = {};
  for (std::size_t byte = 0; byte < 8; ++byte)
    span[byte] = static_cast<std::uint8_t>(id >> (8 * byte));
  return {otel::trace::TraceId(trace), otel::trace::SpanId(span), otel::trace::TraceFlags(1),
          false};
}
inline std::uint64_t id_of(const otel::trace::SpanContext& context) {
  if (!context.IsValid()) return 0;
  std::uint64_t id = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    id |= static_cast<std::uint64_t>(context.span_id().Id()[byte]) << (8 * byte);
  }
  return id;
}

class RecordingSpan final : public otel::trace::Span {
 public:
  RecordingSpan(std::shared_ptr<SpanRecords> all, std::shared_ptr<SpanRecord> record)
      : all_(std::move(all)), record_(std::move(record)) {}
  ~RecordingSpan() override { RecordingSpan::End({}); }

  void SetAttribute(otel::nostd::string_view key,
                    const otel::common::AttributeValue& value) noexcept override {
    all_->change(*record_, [&](SpanRecord& record) {
      if (otel::nostd::holds_alternative<otel::nostd::string_view>(value)) {
        record.texts[own(key)] = own(otel::nostd::get<otel::nostd::string_view>(value));
      } else if (otel::nostd::holds_alternative<std::int64_t>(value)) {
        record.numbers[own(key)] = static_cast<double>(otel::nostd::get<std::int64_t>(value));
      } else if (otel::nostd::holds_alternative<double>(value)) {
        record.numbers[own(key)] = otel::nostd::get<double>(value);
      }
    });
  }
  using otel::trace::Span::AddEvent;
  void AddEvent(otel::nostd::string_view name) noexcept override {
    AddEvent(name, otel::common::SystemTimestamp(std::chrono::system_clock::now()));
  }
  void AddEvent(otel::nostd::string_view name, otel::common::SystemTimestamp at) noexcept override {
    all_->change(*record_, [&](SpanRecord& record) {
      record.events.emplace_back(own(name), std::chrono::system_clock::time_point(at));
    });
  }
  void AddEvent(otel::nostd::string_view name, otel::common::SystemTimestamp at,
                const otel::common::KeyValueIterable& /*attributes*/) noexcept override {
    AddEvent(name, at);
  }
  void SetStatus(otel::trace::StatusCode code,
                 otel::nostd::string_view description) noexcept override {
    all_->change(*record_, [&](SpanRecord& record) {
      record.failed = code == otel::trace::StatusCode::kError;
      record.status = own(description);
    });
  }
  void UpdateName(otel::nostd::string_view /*name*/) noexcept override {}
  void End(const otel::trace::EndSpanOptions& /*options*/) noexcept override {
    all_->change(*record_, [](SpanRecord& record) { record.ended = true; });
  }
  [[nodiscard]] otel::trace::SpanContext GetContext() const noexcept override {
    return context_of(record_->id);
  }
  [[nodiscard]] bool IsRecording() const noexcept override { return true; }

 private:
  std::shared_ptr<SpanRecords> all_;
  std::shared_ptr<SpanRecord> record_;
};

/// Finds the parent of a span as the SDK does.
class RecordingTracer final : public otel::trace::Tracer {
 public:
  explicit RecordingTracer(std::shared_ptr<SpanRecords> records) : records_(std::move(records)) {}

  otel::nostd::shared_ptr<otel::trace::Span> StartSpan(
      otel::nostd::string_view name, const otel::common::KeyValueIterable& /*attributes*/,
      const otel::trace::SpanContextKeyValueIterable& /*links*/,
      const otel::trace::StartSpanOptions& options) noexcept override {
    std::uint64_t parent = id_of(GetCurrentSpan()->GetContext());
    if (otel::nostd::holds_alternative<otel::context::Context>(options.parent)) {
      const auto& context = otel::nostd::get<otel::context::Context>(options.parent);
      const std::uint64_t given = id_of(otel::trace::GetSpan(context)->GetContext());
      if (given != 0 || otel::trace::IsRootSpan(context)) parent = given;
    }
    return otel::nostd::shared_ptr<otel::trace::Span>(
        new RecordingSpan(records_, records_->add(own(name), parent)));
  }
#if OPENTELEMETRY_ABI_VERSION_NO == 1
  void ForceFlushWithMicroseconds(std::uint64_t /*timeout*/) noexcept override {}
  void CloseWithMicroseconds(std::uint64_t /*timeout*/) noexcept override {}
#endif

 private:
  std::shared_ptr<SpanRecords> records_;
};

class RecordingTracerProvider final : public otel::trace::TracerProvider {
 public:
  explicit RecordingTracerProvider(std::shared_ptr<SpanRecords> records)
      : tracer_(new RecordingTracer(std::move(records))) {}

  otel::nostd::shared_ptr<otel::trace::Tracer> GetTracer(
      otel::nostd::string_view /*name*/, otel::nostd::string_view /*version*/,
      otel::nostd::string_view /*schema_url*/
#if OPENTELEMETRY_ABI_VERSION_NO >= 2
      ,
      const otel::common::KeyValueIterable* /*attributes*/
#endif
      ) noexcept override {
    return tracer_;
  }

 private:
  otel::nostd::shared_ptr<otel::trace::Tracer> tracer_;
};

/// While it lives, its provider is the global one.
class RecordedSpans {
 public:
  RecordedSpans() {
    otel::trace::Provider::SetTracerProvider(otel::nostd::shared_ptr<otel::trace::TracerProvider>(
        new RecordingTracerProvider(records_)));
  }
  RecordedSpans(const RecordedSpans&) = delete;
  RecordedSpans& operator=(const RecordedSpans&) = delete;
  ~RecordedSpans() { otel::trace::Provider::SetTracerProvider(before_); }

  [[nodiscard]] const SpanRecords& operator*() const { return *records_; }
  [[nodiscard]] const SpanRecords* operator->() const { return records_.get(); }
  [[nodiscard]] static otel::nostd::shared_ptr<otel::trace::Tracer> tracer() {
    return otel::trace::Provider::GetTracerProvider()->GetTracer("test");
  }

 private:
  otel::nostd::shared_ptr<otel::trace::TracerProvider> before_ =
      otel::trace::Provider::GetTracerProvider();
  std::shared_ptr<SpanRecords> records_ = std::make_shared<SpanRecords>();
};

}  // namespace latchkey::tests
