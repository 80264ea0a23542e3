// One decorated call, whose span the SDK prints.
#include <latchkey/latchkey.hpp>

#include <opentelemetry/exporters/ostream/span_exporter_factory.h>
#include <opentelemetry/sdk/trace/processor.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/provider.h>

#include <memory>

#include <latchkey/adapters/opentelemetry.hpp>

namespace sdk = opentelemetry::sdk::trace;
namespace trace = opentelemetry::trace;

class Bank {
 public:
  int deposit(int account) {
    return LOCKED("account:{account}").named<"Bank::deposit">() AROUND(account) { return account; };
  }
};

int main() {
  const std::shared_ptr<trace::TracerProvider> provider =
      sdk::TracerProviderFactory::Create(sdk::SimpleSpanProcessorFactory::Create(
          opentelemetry::exporter::trace::OStreamSpanExporterFactory::Create()));
  trace::Provider::SetTracerProvider(
      opentelemetry::nostd::shared_ptr<trace::TracerProvider>(provider));
  const auto telemetry = std::make_shared<latchkey::OpenTelemetryListener>();
  latchkey::install(latchkey::Locks::connect("memory:", {.call_observer = telemetry}));
  return Bank().deposit(42) == 42 ? 0 : 1;
}
