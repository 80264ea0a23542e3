// Spans and metrics by OpenTelemetry: a bank whose transfers wait for one another, and a coroutine.
//
//   OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 opentelemetry [URI]
//
// It exports by OTLP over HTTP, to a collector where the environment says. Locks live in this
// process ("memory:") unless you pass a URI. examples/check_opentelemetry.py runs it with a
// collector of its own, and checks what arrives.
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <opentelemetry/exporters/otlp/otlp_http_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_http_metric_exporter_factory.h>
#include <opentelemetry/metrics/provider.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_options.h>
#include <opentelemetry/sdk/metrics/meter_provider.h>
#include <opentelemetry/sdk/metrics/meter_provider_factory.h>
#include <opentelemetry/sdk/trace/processor.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/tracer.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latchkey/adapters/opentelemetry.hpp>

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace asio = boost::asio;
namespace nostd = opentelemetry::nostd;
namespace otlp = opentelemetry::exporter::otlp;
namespace sdk = opentelemetry::sdk;
namespace trace = opentelemetry::trace;

/// Sets the providers of this program, and exports the rest at its end. The providers shut down
/// when the last of their users is gone.
class Telemetry {
 public:
  Telemetry() {
    trace::Provider::SetTracerProvider(nostd::shared_ptr<trace::TracerProvider>(tracers_));
    sdk::metrics::PeriodicExportingMetricReaderOptions often;
    often.export_interval_millis = 500ms;
    often.export_timeout_millis = 250ms;
    meters_->AddMetricReader(sdk::metrics::PeriodicExportingMetricReaderFactory::Create(
        otlp::OtlpHttpMetricExporterFactory::Create(), often));
    opentelemetry::metrics::Provider::SetMeterProvider(
        nostd::shared_ptr<opentelemetry::metrics::MeterProvider>(meters_));
  }
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry() {
    tracers_->ForceFlush();
    meters_->ForceFlush();
    trace::Provider::SetTracerProvider(no_tracers_);
    opentelemetry::metrics::Provider::SetMeterProvider(no_meters_);
  }

 private:
  nostd::shared_ptr<trace::TracerProvider> no_tracers_ = trace::Provider::GetTracerProvider();
  nostd::shared_ptr<opentelemetry::metrics::MeterProvider> no_meters_ =
      opentelemetry::metrics::Provider::GetMeterProvider();
  std::shared_ptr<sdk::trace::TracerProvider> tracers_ = sdk::trace::TracerProviderFactory::Create(
      sdk::trace::SimpleSpanProcessorFactory::Create(otlp::OtlpHttpExporterFactory::Create()));
  std::shared_ptr<sdk::metrics::MeterProvider> meters_ =
      sdk::metrics::MeterProviderFactory::Create();
};

/// A span of the program's own: its parent is what is current.
void write_to_ledger() {
  trace::Provider::GetTracerProvider()->GetTracer("bank")->StartSpan("ledger.write")->End();
}

class Bank {
 public:
  void deposit(int account, std::chrono::milliseconds work) {
    LOCKED("account:{account}", LockType::FENCED, 3s, 30s)
        .named<"Bank::deposit">() AROUND(account, work) {
      working = true;
      working.notify_all();
      // sleeps: this is the work of the example
      std::this_thread::sleep_for(work);
      write_to_ledger();
    };
  }
  /// Gives up where somebody works for longer than a moment.
  void audit(int account) {
    LOCKED("account:{account}", LockType::FENCED, 20ms, 30s)
        .named<"Bank::audit">() AROUND(account){};
  }
  DECORATED(LOCKED("statement:{account}", LockType::WRITE, 3s, 30s).named<"Bank::print">(),
            asio::awaitable<void>, print, (int) account) {
    for (int page = 0; page < 5; ++page) {
      asio::steady_timer printer(co_await asio::this_coro::executor, 2ms);
      co_await printer.async_wait(asio::use_awaitable);
      write_to_ledger();  // on whichever thread of the pool
    }
  }

  std::atomic<bool> working = false;
};

/// One deposit that the others have to wait for.
int work(Bank& bank) {
  std::jthread first([&] { bank.deposit(42, 200ms); });
  bank.working.wait(false);
  int timeouts = 0;
  try {
    bank.audit(42);
  } catch (const latchkey::LockTimeout&) {
    ++timeouts;
  }
  bank.deposit(42, 0ms);
  asio::thread_pool pool(2);
  std::atomic<int> failures = 0;
  for (int account = 0; account < 2; ++account) {
    asio::co_spawn(pool, bank.print(account), [&](const std::exception_ptr& error) {
      if (error) ++failures;
    });
  }
  pool.join();
  return timeouts == 1 && failures == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const Telemetry telemetry;
  const auto listener = std::make_shared<latchkey::OpenTelemetryListener>();
  const auto locks = latchkey::Locks::connect(count > 1 ? arguments[1] : "memory:",
                                              {.listener = listener, .call_observer = listener});
  latchkey::install(locks);
  Bank bank;
  const int status = work(bank);
  if (!locks.flush(10s)) return 1;  // what the listener counts
  fmt::print("exported\n");
  return status;
}
