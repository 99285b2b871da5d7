# SPDX-License-Identifier: Apache-2.0
"""`pieprofd mcp`: with the protocol's own client, and with one that says what no client should."""
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile

from harness import (PIEPROFD, Failure, Skip, Target, check, check_equal, check_sampled, default_interpreter,
                     find_packages, pieprofd, status_of, wait_attached, wait_until)

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcp_client.py")
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
LINE = "g[f] += d[i, j, f] * r"


class Server:
    """`pieprofd mcp`, and a client that speaks by the specification, or not."""

    def __init__(self):
        self.process = subprocess.Popen([PIEPROFD, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def put(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.put(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def request(self, method, **params):
        """A request's line."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        return json.dumps(message).encode() + b"\n"

    def ask(self, method, **params):
        """The request's id; its answer is still to be read."""
        self.put(self.request(method, **params))
        return self.last_id

    def message(self):
        line = self.process.stdout.readline()
        check(line.endswith(b"\n"), "half a message, or none: %r" % line)
        message = json.loads(line)
        check_equal(message["jsonrpc"], "2.0", "version of %r" % message)
        return message

    def answer(self, number):
        message = self.message()
        check_equal(message.get("id"), number, "id of %r" % message)
        return message

    def result(self, method, **params):
        message = self.answer(self.ask(method, **params))
        check("result" in message, "%s: %r" % (method, message))
        return message["result"]

    def refusal(self, method, **params):
        message = self.answer(self.ask(method, **params))
        check("error" in message, "%s: %r" % (method, message))
        return message["error"]["code"]

    def call(self, tool, **arguments):
        """What the tool answers: its first text, and its structured content."""
        result = self.result("tools/call", name=tool, arguments=arguments)
        check(not result["isError"], "%s: %r" % (tool, result))
        return result["content"][0]["text"], result["structuredContent"]

    def failure(self, tool, **arguments):
        result = self.result("tools/call", name=tool, arguments=arguments)
        check(result["isError"], "%s: %r" % (tool, result))
        return result["content"][0]["text"]

    def end(self):
        """Its input ends: so does it, with nothing said on the way but messages."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failure("pieprofd mcp does not end with its input")
        check_equal((self.process.returncode, self.process.stderr.read()), (0, b""), "its end")
        return rest


def wait_let_go(pid):
    wait_until(lambda: status_of(pid)["TracerPid"] == "0", seconds=30, what="the target to be let go of")


# ---- with the library


def converse(interpreter, folder, mode, *calls):
    run = subprocess.run([interpreter.path, CLIENT, PIEPROFD, mode, json.dumps(calls)], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=folder), check=False, timeout=240)
    check_equal(run.returncode, 0, "exit code of the client, which said %r" % run.stderr)
    return json.loads(run.stdout)


def test_library():
    """Both ways to begin; the newest revision has the profile."""
    interpreter = default_interpreter()
    folder, problem = find_packages(interpreter, "mcp")
    if problem:
        raise Skip(problem)
    answer = converse(interpreter, folder, "legacy", ["list", {}])
    check_equal((answer["revision"], answer["results"][0]["error"]), ("2025-11-25", False), "what was settled")
    with Target(interpreter, "conv_backprop.py", "--seconds", 120) as target:
        answer = converse(interpreter, folder, "auto", ["list", {}], ["dump", {"pid": target.pid}],
                          ["record", {"pid": target.pid, "duration": 3}], ["dump", {"pid": 0}])
        target.check_undisturbed()
    check_equal((answer["revision"], answer["server"]), ("2026-07-28", "pieprofd"), "who answers")
    check_equal(answer["tools"], ["list", "dump", "record", "findings"], "tools")
    found, dump, record, refused = answer["results"]
    check(target.pid in [process["pid"] for process in found["structured"]["processes"]], "processes: %r" % found)
    check("conv_backprop.py" in found["texts"][0], "the list: %r" % found["texts"])
    check_equal(dump["structured"]["pid"], target.pid, "pid of the dump")
    check("conv_backprop.py" in dump["texts"][0] and dump["structured"]["threads"], "the dump: %r" % dump)
    check_equal((record["error"], record["structured"]["target"]["pid"]), (False, target.pid), "the profile")
    check(record["texts"][0].startswith("## pieprofd: "), "no Markdown: %r" % record["texts"])
    told = [done for done, total, _ in answer["progress"][2]]
    check(told and told == sorted(set(told)) and told[-1] <= 3, "progress: %r" % answer["progress"])
    check(refused["error"] and "pid must be" in refused["texts"][0], "the refusal: %r" % refused)
    check_sampled(LINE in record["texts"][0] and
                  any(finding["source"] == LINE for finding in record["structured"]["findings"]),
                  "the finding is missing: %r" % record)


# ---- by the specification


def test_handshake():
    with Server() as server:
        result = server.result("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x"})
        check_equal((result["protocolVersion"], result["serverInfo"]["name"]), ("2025-06-18", "pieprofd"), "initialize")
        server.tell("notifications/initialized")
        check_equal(server.result("ping"), {}, "ping")
        check_equal(server.result("server/discover", _meta=MODERN)["resultType"], "complete", "discover")
        check_equal(server.refusal("tools/list", _meta=dict(MODERN, **{"io.modelcontextprotocol/protocolVersion": "x"})),
                    -32022, "code for a revision that is not known")
        check_equal(server.refusal("resources/list"), -32601, "code for a method that is not there")
        check_equal(server.refusal("tools/call", name="serve"), -32602, "code for a tool that is not there")
        check_equal(server.end(), b"", "more on stdout")


def test_garbage():
    with Server() as server:
        for line, code in ((b"\xff\xfe", -32700), (b"", -32700), (b"{" * 100, -32600), (b"[]", -32600),
                           (b'{"jsonrpc": "2.0"}', -32600), (b'"' + b"x" * 200000 + b'"', -32600)):
            server.put(line + b"\n")
            message = server.message()
            check_equal((message["id"], message["error"]["code"]), (None, code), "answer to %r" % line[:20])
        server.put(b'{"jsonrpc": "2.0", "id": "\\u001b[31m", "method": "ping"}\r\n')
        check_equal(server.message()["id"], "\x1b[31m", "an id is sent back as it came")
        server.put(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"')
        check_equal(server.end(), b"", "half a line is none")


def test_refusals_of_tools():
    gone = subprocess.Popen(["true"])
    gone.wait()
    with Server() as server:
        check("no process %d" % gone.pid in server.failure("dump", pid=gone.pid), "the cause is missing")
        check("not both" in server.failure("record"), "neither pid nor name")
        check("no argument command" in server.failure("record", pid=1, command="x"), "an argument that is not there")
        check("no Python process" in server.failure("record", name="^no such process$"), "a name of nobody's")
        check("cannot be opened" in server.failure("findings", path="/nonexistent/x.pieprof"), "no such file")
        check("recording" in server.failure("findings", path="/etc/passwd"), "a file that is no recording")
        check("could not be read" in server.failure("findings", path="/nonexistent/x.json"), "no such report")
        check_equal(server.end(), b"", "more on stdout")


def test_sleeper():
    """A profile without samples is no success, and says what to do."""
    with Target(default_interpreter(), "tasks.py", stdin=subprocess.PIPE) as target, Server() as server:
        result = server.result("tools/call", name="record", arguments={"pid": target.pid, "duration": 0.2, "mode": "time"})
        texts = [item["text"] for item in result["content"]]
        check_equal((result["isError"], result["structuredContent"]), (True, {"exit_code": 6}), "of %r" % texts)
        check("no samples" in texts[0] and texts[1].startswith("## pieprofd: "), "the cause and the report: %r" % texts)
        check_equal(server.end(), b"", "more on stdout")


def test_recording():
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    path, report, other = (os.path.join(folder, name) for name in ("a.pieprof", "a.json", "other.json"))
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target, Server() as server:
        try:
            text, profile = server.call("record", pid=target.pid, duration=1, mode="time", output=path)
            check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the recording")
            again, findings = server.call("findings", path=path)
            check_equal((again, findings), (text, profile), "what is told of the recording")
            # A name is made up: nobody loses a file by that.
            check("new file" in server.failure("record", pid=target.pid, output=path), "a recording was written over")
            pieprofd("report", path, "-o", report)
            text, of_report = server.call("findings", path=report)
            check_equal(of_report, profile, "what is told of the report")
            check(profile["verdict"]["headline"] in text.replace("\\", ""), "no verdict: %r" % text)
            with open(other, "w") as file:
                json.dump({"pieprofd": "x", "findings": []}, file)
            check("no report" in server.failure("findings", path=other), "another file as a report")
            check_equal(server.end(), b"", "more on stdout")
        finally:
            shutil.rmtree(folder)


# ---- in the middle


def record_for_long(server, target):
    number = server.ask("tools/call", name="record", arguments={"pid": target.pid, "duration": 300, "mode": "all"})
    wait_attached(target.pid)
    return number


def test_cancel():
    """Other requests are answered meanwhile; a call that is taken back is not."""
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target, Server() as server:
        number = record_for_long(server, target)
        check_equal(server.result("ping"), {}, "ping while a profile is taken")
        server.tell("notifications/cancelled", requestId="nobody's")
        server.tell("notifications/cancelled", requestId=number)
        wait_let_go(target.pid)
        # As its answer would have come before this one.
        _, dump = server.call("dump", pid=target.pid)
        check_equal(dump["pid"], target.pid, "pid of the dump")
        target.check_undisturbed()
        check_equal(server.end(), b"", "more on stdout")


def test_end_of_input():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target, Server() as server:
        record_for_long(server, target)
        check_equal(server.end(), b"", "an answer that nobody waits for")
        target.check_undisturbed()


def test_signals():
    for number in (signal.SIGTERM, signal.SIGKILL):
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target, Server() as server:
            record_for_long(server, target)
            server.process.send_signal(number)
            server.process.wait(60)
            check_equal(server.process.returncode, 0 if number == signal.SIGTERM else -number, "the server's end")
            wait_let_go(target.pid)
            target.check_undisturbed()


def test_many_calls():
    """No more than so many at once; those that are refused can be asked again."""
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target, Server() as server:
        first = record_for_long(server, target)
        # In one write, so that all are there before the first of them can have ended.
        server.put(b"".join(server.request("tools/call", name="record", arguments={"pid": target.pid, "duration": 300})
                            for _ in range(4)))
        others = list(range(first + 1, first + 5))
        messages = {}
        while len(messages) < 4:
            message = server.message()
            messages[message["id"]] = message["result"]
        check_equal(sorted(messages), others, "which were answered")
        texts = [messages[number]["content"][0]["text"] for number in others]
        check(all(result["isError"] for result in messages.values()), "two profiles of one process: %r" % texts)
        check("4 calls are running" in texts[-1], "one too many: %r" % texts)
        server.tell("notifications/cancelled", requestId=first)
        wait_let_go(target.pid)
        check_equal(server.end(), b"", "more on stdout")
