"""docs/python.md: its snippets run, the stub names what there is, and the wheel holds the package."""

import ast
import asyncio
import base64
import hashlib
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import latchkey
from latchkey import _decorator
from server import OnRedis

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/python.md").read_text()


def snippets(language: str) -> list:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def lines_of(text: str) -> list:
    return [line.strip() for line in text.splitlines() if line.strip()]


class TestSnippets(OnRedis):
    def test_the_snippets_for_python_run(self) -> None:
        calls = []

        async def recorded(*what) -> None:
            calls.append(what)

        namespace = {
            "write_balance": lambda *what: calls.append(what),
            "send_to_storage": lambda headers: calls.append(headers),
            "add": recorded,
            "move": recorded,
        }
        self.addCleanup(setattr, _decorator, "_installed", None)
        found = snippets("python")
        self.assertEqual(len(found), 5)
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            policies = snippets("yaml")[0].replace("redis://127.0.0.1:6379", self.server.uri)
            pathlib.Path("latchkey.yaml").write_text(policies)
            for snippet in found:
                exec(snippet.replace("redis://127.0.0.1:6379", self.server.uri), namespace)
            os.chdir("/")

        class Thing:
            id = 7

        self.assertRegex(calls[1]["Fence"], r"^order:42/FENCED/\d+$")
        asyncio.run(namespace["deposit"](7, 5))
        service = namespace["AccountService"]()
        service.rename(Thing(), "new")
        asyncio.run(service.transfer(Thing(), Thing(), 5))
        self.assertEqual(calls[-1][3].key, "account:7")
        billing = namespace["Billing"]()
        self.assertEqual(billing.send(Thing()), "invoice:7")
        self.assertEqual(billing.charge(Thing()), "account:7")

    def test_the_snippets_for_c_are_compiled(self) -> None:
        program = lines_of((ROOT / "tests/c/docs_program.c").read_text())
        found = snippets("c")
        self.assertEqual(len(found), 2)
        for snippet in found:
            lines = lines_of(snippet)
            begins = range(len(program) - len(lines) + 1)
            self.assertTrue(any(program[i : i + len(lines)] == lines for i in begins), snippet)

    def test_the_example_runs(self) -> None:
        program = ROOT / "examples/python/transfers.py"
        for uri in ("memory:", self.server.uri):
            run = [sys.executable, str(program), uri]
            output = subprocess.run(run, check=True, capture_output=True, text=True, timeout=120)
            self.assertIn("the bank has 40", output.stdout)


class TestStub(unittest.TestCase):
    def test_the_stub_names_what_there_is(self) -> None:
        tree = ast.parse((ROOT / "python/latchkey/__init__.pyi").read_text())
        named = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                named[node.name] = node
            elif isinstance(node, ast.AnnAssign):
                named[node.target.id] = node
        public = {name for name in named if not name.startswith("_")}
        self.assertEqual(public, set(latchkey.__all__))
        for name in public:
            self.compare(getattr(latchkey, name), named[name], name)

    def compare(self, there, node, where: str) -> None:
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            self.assertLessEqual(bases, {base.__name__ for base in there.__mro__}, where)
            for member in node.body:
                if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.compare(getattr(there, member.name), member, f"{where}.{member.name}")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(there, property):
                return
            is_async = isinstance(node, ast.AsyncFunctionDef)
            self.assertEqual(inspect.iscoroutinefunction(there), is_async, where)
            self.compare_parameters(there, node, where)

    def compare_parameters(self, there, node, where: str) -> None:
        parameters = list(inspect.signature(there).parameters.values())
        if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
            return  # the stub says more
        stub = [each.arg for each in node.args.args + node.args.kwonlyargs]
        stub = [name for name in stub if name not in ("self", "cls")]
        own = [
            each.name
            for each in parameters
            if each.kind is not inspect.Parameter.VAR_POSITIONAL and each.name != "self"
        ]
        self.assertEqual(sorted(own), sorted(stub), where)


class TestWheel(unittest.TestCase):
    def test_the_wheel_holds_the_package_and_works_alone(self) -> None:
        spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "python/build_wheel.py")
        build_wheel = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build_wheel)
        library = pathlib.Path(os.environ["LATCHKEY_C_LIBRARY"])
        with tempfile.TemporaryDirectory() as folder:
            wheel = build_wheel.build(library, pathlib.Path(folder))
            self.assertRegex(wheel.name, r"^latchkey-\d+\.\d+\.\d+-py3-none-linux_\w+\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                info = next(name for name in names if name.endswith("RECORD"))
                for line in archive.read(info).decode().splitlines()[:-1]:
                    name, digest, size = line.split(",")
                    content = archive.read(name)
                    self.assertEqual(len(content), int(size))
                    actual = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
                    self.assertEqual(digest, "sha256=" + actual.rstrip(b"=").decode())
                self.assertIn("latchkey/py.typed", names)
                self.assertIn("latchkey/__init__.pyi", names)
                archive.extractall(folder)
            environment = {"PYTHONPATH": folder, "PATH": os.environ["PATH"]}
            program = 'import latchkey; print(latchkey.Locks("memory:").lock("k").acquire().release())'
            run = [sys.executable, "-c", program]
            output = subprocess.run(run, check=True, capture_output=True, text=True, env=environment)
            self.assertEqual(output.stdout, "True\n")


if __name__ == "__main__":
    unittest.main()
