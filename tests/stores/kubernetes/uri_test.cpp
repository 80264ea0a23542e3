// The URIs of the store kubernetes, and how it is registered.
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include <latchkey/kubernetes.hpp>

#include "backend/registry.hpp"
#include "stores/kubernetes/uri.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

using detail::kubernetes::KubernetesUri;
using detail::kubernetes::PodEnvironment;

const PodEnvironment no_pod{};

std::string refusal(const std::string& uri, const PodEnvironment& pod = no_pod) {
  try {
    static_cast<void>(KubernetesUri::parse(uri, pod));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KubernetesUri, OutsideOfAClusterTheServerIsNamed) {
  const KubernetesUri uri = KubernetesUri::parse(
      "k8s://shop?server=https://api.example:6443&token_file=/t&tls_ca=/ca&tls_cert=/c&"
      "tls_server_name=kubernetes",
      no_pod);
  EXPECT_EQ(uri.name_space, "shop");
  EXPECT_EQ(uri.endpoint.text(), "api.example:6443");
  EXPECT_EQ(uri.token_file, "/t");
  EXPECT_EQ(uri.tls.ca, "/ca");
  EXPECT_EQ(uri.tls.key, "/c") << "the key is in the file of the certificate";
  EXPECT_TRUE(uri.tls.offered());
  EXPECT_EQ(uri.describe(), "k8s://shop?server=https://api.example:6443");
  EXPECT_EQ(KubernetesUri::parse("k8s://shop?server=https://h", no_pod).endpoint.port, 443);
}

TEST(KubernetesUri, InAPodTheServiceAccountIsUsed) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("namespace")) << "bank\n";
  const PodEnvironment pod{"10.96.0.1", "8443", folder.file("")};
  const KubernetesUri named = KubernetesUri::parse("k8s://shop", pod);
  EXPECT_EQ(named.name_space, "shop");
  EXPECT_EQ(named.endpoint.text(), "10.96.0.1:8443");
  EXPECT_EQ(named.token_file, pod.folder + "/token");
  EXPECT_EQ(named.tls.ca, pod.folder + "/ca.crt");
  EXPECT_EQ(named.describe(), "k8s://shop");
  EXPECT_EQ(KubernetesUri::parse("k8s://", pod).name_space, "bank");
  EXPECT_EQ(KubernetesUri::parse("k8s://shop", {"fd00::1", {}, {}}).endpoint.text(),
            "[fd00::1]:443");
}

TEST(KubernetesUri, TextInTheClearStaysOnThisMachine) {
  EXPECT_FALSE(
      KubernetesUri::parse("k8s://shop?server=http://127.0.0.1:8001", no_pod).tls.offered());
  EXPECT_EQ(refusal("k8s://shop?server=http://api.example:80"),
            "the option 'server' of the k8s URI is 'http://api.example:80', which would send the "
            "token in the clear; expected https://, or http:// with 127.0.0.1");
}

TEST(KubernetesUri, WhatIsWrongIsNamed) {
  EXPECT_EQ(refusal("k8s://shop"),
            "the k8s URI names no server, and this process runs in no pod: "
            "KUBERNETES_SERVICE_HOST is not set; outside of a cluster write "
            "k8s://shop?server=https://host:6443&token_file=…&tls_ca=…");
  EXPECT_EQ(refusal("k8s://?server=https://h"),
            "the k8s URI names no namespace, and no service account does; expected "
            "k8s://namespace");
  EXPECT_EQ(refusal("k8s://Shop?server=https://h"),
            "the k8s URI names the namespace 'Shop'; expected at most 63 lower-case letters, "
            "digits and '-'");
  EXPECT_EQ(refusal("k8s://shop/x?server=https://h"),
            "the k8s URI has the path '/x'; expected k8s://namespace and options after a '?'");
  EXPECT_EQ(refusal("k8s://me:secret@shop?server=https://h"),
            "the k8s URI has a user; expected k8s://namespace, and a token in the file of "
            "token_file");
  for (const char* const server : {"api:6443", "ftp://api", "https://a/b", "https://a,b"}) {
    const std::string text = refusal(std::string("k8s://shop?server=") + server);
    EXPECT_NE(text.find("https://host:port"), std::string::npos) << text;
  }
  const std::string plain = refusal("k8s://shop?tls_ca=/ca&server=http://127.0.0.1");
  EXPECT_NE(plain.find("server=https://"), std::string::npos) << plain;
  const std::string unknown = refusal("k8s://shop?server=https://h&lease=3s");
  EXPECT_NE(unknown.find("'lease'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("token_file"), std::string::npos) << unknown;
}

TEST(KubernetesUri, TheSchemeIsRegistered) {
  register_kubernetes();
  register_kubernetes();
  EXPECT_NE(detail::find_backend_factory("k8s"), nullptr);
  EXPECT_EQ(detail::find_store("k8s")->target, "latchkey::kubernetes");
}

}  // namespace
}  // namespace latchkey::tests
