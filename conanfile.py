"""The Conan recipe: `conan create .` packages latchkey, without a remote.

What latchkey needs (hiredis, Boost.PFR, range-v3, yaml-cpp, OpenSSL) comes from the system, from the
folder in the environment variable LATCHKEY_DEPS (`make deps` fills build/deps), or from where
CMAKE_PREFIX_PATH points.
"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class LatchkeyRecipe(ConanFile):
    name = "latchkey"
    description = "Annotation-style locks for C++20, in memory, on Redis and Valkey"
    license = "BSL-1.0"
    topics = ("lock", "distributed-lock", "redis", "redisson", "aop")
    settings = "os", "compiler", "build_type", "arch"
    package_type = "library"
    options = {"shared": [True, False], "policies": [True, False], "tls": [True, False]}
    default_options = {"shared": False, "policies": True, "tls": True}
    exports_sources = (
        "CMakeLists.txt", "LICENSE", "cmake/*", "debug/*", "include/*", "lua/*", "modules/*",
        "ops/*", "src/*")

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include/latchkey/version.hpp"))
        numbers = re.findall(r"#define LATCHKEY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name, value in {
                "SHARED": self.options.shared, "POLICIES": self.options.policies,
                "TLS": self.options.tls, "TESTS": False, "EXAMPLES": False, "CLI": False, "C": False}.items():
            toolchain.cache_variables[f"LATCHKEY_{name}"] = bool(value)
        toolchain.cache_variables["LATCHKEY_UNITY"] = "ON"  # all is compiled, and once
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # CMake finds latchkey by the configuration that latchkey itself installs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "latchkey")]
        self.cpp_info.set_property("pkg_config_name", "latchkey")
        self.cpp_info.libs = ["latchkey"]
        self.cpp_info.system_libs = ["pthread"]
        if not self.options.shared:
            if self.options.policies:
                self.cpp_info.system_libs.append("yaml-cpp")
            if self.options.tls:
                self.cpp_info.system_libs += ["ssl", "crypto"]
