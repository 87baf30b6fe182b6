"""What the tests of `idx serve` have in common: a service to ask, and the check of its answers against openapi.json."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import chosen
signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell ignores it for what runs in the background

PATIENCE = 1800  # seconds, for what takes milliseconds on an idle machine: a busy one is no failure
TOKEN = "0123456789abcdef0123456789abcdef"
LINES = "application/x-ndjson"
RAW = "application/octet-stream"
SKIPPED = 77


# Fingerprints that are near to 0, and bodies of queries and of documents that then take minutes.
MANY_NEAR = [1 << i | 1 << j | 1 << k for i in range(64) for j in range(i) for k in range(j) if (i + j + k) % 4 == 0]
LONG_QUERIES = bytes(8 << 20)
LONG_DOCUMENTS = b"".join(b'{"fingerprint":"0000000000000000","id":"x%d"}\n' % i for i in range(150000))


def choose_place():
    """In memory, where writers, which sync a lot, are fast; None is the default."""
    return "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else None


class Description:
    """openapi.json, and whether answers are as it says."""

    TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
             "number": (int, float)}

    def __init__(self, text):
        self.document = json.loads(text)

    def resolve(self, part):
        while "$ref" in part:
            found = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            part = found
        return part

    def check(self, value, schema, place="answer"):
        """Raises AssertionError where a value is not what its schema says."""
        schema = self.resolve(schema)
        if "anyOf" in schema:
            self.check_any(value, schema["anyOf"], place)
        if "const" in schema:
            assert value == schema["const"], (place, value)
        if "enum" in schema:
            assert value in schema["enum"], (place, value)
        if "type" in schema:
            self.check_type(value, schema["type"], place)
        if isinstance(value, dict):
            self.check_object(value, schema, place)
        if isinstance(value, list):
            assert len(value) >= schema.get("minItems", 0), (place, value)
            for item in value:
                self.check(item, schema.get("items", {}), place + "[]")
        if isinstance(value, str) and "pattern" in schema:
            assert re.search(schema["pattern"], value), (place, value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            assert schema.get("minimum", value) <= value <= schema.get("maximum", value), (place, value)

    def check_any(self, value, schemas, place):
        failures = []
        for schema in schemas:
            try:
                return self.check(value, schema, place)
            except AssertionError as failure:
                failures.append(failure)
        raise AssertionError(failures)

    def check_type(self, value, name, place):
        if name == "integer":
            assert isinstance(value, int) and not isinstance(value, bool), (place, value)
        else:
            assert isinstance(value, self.TYPES[name]), (place, value)

    def check_object(self, value, schema, place):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            assert name in value, (place, name)
        for name, item in value.items():
            known = name in properties or schema.get("additionalProperties", True)
            assert known, (place, name)
            self.check(item, properties.get(name, {}), f"{place}.{name}")

    def find_path(self, path):
        for template, item in self.document["paths"].items():
            if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path):
                return item
        return None

    def check_answer(self, method, target, status, content_type, body):
        item = self.find_path(urllib.parse.urlsplit(target).path)
        operation = (item or {}).get("get" if method == "HEAD" else method.lower())
        if operation is None or status >= 400:
            assert status >= 400 or method == "OPTIONS", (method, target, status)
            if operation is not None:
                assert str(status) in operation["responses"], (method, target, status, body)
            if method not in ("HEAD", "OPTIONS"):
                assert content_type == "application/json", content_type
                self.check(json.loads(body), {"$ref": "#/components/schemas/Error"})
            return
        content = operation["responses"][str(status)]["content"]
        kind = content_type.split(";")[0]
        assert kind in content, (method, target, content_type)
        if method == "HEAD":
            assert body == b""
        elif kind == "application/json":
            self.check(json.loads(body), content[kind]["schema"])
        elif kind == LINES:
            name = content[kind]["schema"]["description"].split()[-1]
            for line in body.splitlines():
                self.check(json.loads(line), {"$ref": f"#/components/schemas/{name}"})


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Service:
    """A running `idx serve`, at a free port of 127.0.0.1."""

    def __init__(self, idx, folder, *arguments, description=None, **options):
        self.description = description
        self.process = subprocess.Popen([idx, "serve", "--listen", "127.0.0.1:0", *arguments], cwd=folder,
                                        stderr=subprocess.PIPE, text=True, **options)
        line, self.warned = self.process.stderr.readline(), ""
        while line and "listening at" not in line:
            self.warned += line
            line = self.process.stderr.readline()
        found = re.search(r"listening at http://127\.0\.0\.1:(\d+)/", line)
        if found is None:
            self.said = self.warned
            self.end()
            raise RuntimeError(self.said)
        self.port = int(found[1])

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def begin(self, target, body, content_type, token=None, length=None):
        """A connection to which a POST was sent, perhaps with less of its body than it announces."""
        head = [f"POST {target} HTTP/1.1", "Host: localhost", f"Content-Type: {content_type}",
                f"Content-Length: {len(body) if length is None else length}"]
        if token is not None:
            head.append(f"Authorization: Bearer {token}")
        begun = self.socket()
        begun.sendall("".join(line + "\r\n" for line in head).encode() + b"\r\n" + body)
        return begun

    def socket(self):
        made = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def ask(self, method, target, body=None, headers=None, connection=None):
        """The answer, which is checked against the description."""
        own = connection is None
        connection = connection or self.connect()
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        finally:
            if own:
                connection.close()
        if self.description is not None:
            self.description.check_answer(method, target, answer.status, answer.headers.get("Content-Type"),
                                          answer.body)
        return answer

    def get(self, target, **options):
        return self.ask("GET", target, **options)

    def post(self, target, body, content_type, token=None, **options):
        headers = {"Content-Type": content_type, **options.pop("headers", {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.ask("POST", target, body, headers, **options)

    def metrics(self):
        text = self.get("/metrics").body.decode()
        return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.M)}

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """Ends it as an operator does. Returns its status, and keeps what it said."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        if not self.process.stderr.closed:
            self.said = self.process.stderr.read()
            self.process.stderr.close()
        return self.process.returncode


class ServiceTest(unittest.TestCase):
    IDX = None
    SOURCE = None

    @classmethod
    def setUpClass(cls):
        header = (cls.SOURCE / "libidx/include/idx.h").read_text()
        version = re.search(r'#define IDX_VERSION "(.*)"', header)[1]
        text = (cls.SOURCE / "tools/serve/openapi.json").read_text()
        cls.description = Description(text.replace("@IDX_VERSION@", version))
        done = subprocess.run([cls.IDX, "fingerprint", "/dev/null"], capture_output=True)
        cls.has_text = done.returncode == 0

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="idx-test-", dir=choose_place())
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_idx(self, *arguments, given=b"", status=0):
        done = subprocess.run([self.IDX, *arguments], cwd=self.path, input=given, capture_output=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def wait_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def build_near(self):
        self.build([(value, "near") for value in MANY_NEAR])

    def build(self, lines, name="x.idx", *arguments):
        text = "".join(f"{fingerprint:016x}\t{id}\n" for fingerprint, id in lines)
        self.run_idx("build", "--force", *arguments, name, given=text.encode())

    def serve(self, *arguments, **options):
        service = Service(self.IDX, self.path, *(arguments or ("x.idx",)), description=self.description, **options)
        self.addCleanup(service.end)
        return service

    def refuse(self, *arguments, **options):
        """What a service says that does not start."""
        done = subprocess.run([self.IDX, "serve", "--listen", "127.0.0.1:0", *arguments], cwd=self.path,
                              capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr


def main(arguments, documentation):
    """Runs the tests of the program that calls it: PROGRAM FOLDER_OF_IDX SOURCE_FOLDER [TEST…]."""
    if len(arguments) < 3:
        raise SystemExit(documentation)
    ServiceTest.IDX = str(pathlib.Path(arguments.pop(1)).resolve() / "idx")
    ServiceTest.SOURCE = pathlib.Path(arguments.pop(1)).resolve()
    help_text = subprocess.run([ServiceTest.IDX, "serve", "/nonexistent"], capture_output=True, text=True).stderr
    if "built without its service" in help_text:
        raise SystemExit(SKIPPED)
    chosen.main()
