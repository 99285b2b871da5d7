# SPDX-License-Identifier: Apache-2.0
"""Pyroscope's /ingest as its documentation has it ("Server HTTP API"), strictly: what it would not take is refused."""
import email
import gzip
import http.server
import json
import re
import threading
import urllib.parse

UNITS = {"samples", "objects", "bytes"}


def parse_name(name):
    """The service, and labels."""
    match = re.fullmatch(r"([A-Za-z0-9_./-]+)\{([^{}]*)\}", name)
    assert match, "name %r" % name
    labels = dict(pair.split("=", 1) for pair in match[2].split(",")) if match[2] else {}
    assert all(re.fullmatch(r"[A-Za-z0-9_.]+", key) and value for key, value in labels.items()), labels
    return match[1], labels


def parse_form(content_type, body):
    message = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    assert message.get_content_type() == "multipart/form-data" and not message.defects, message.defects
    parts = {part.get_param("name", header="Content-Disposition"): part.get_payload(decode=True)
             for part in message.get_payload()}
    assert set(parts) == {"profile", "sample_type_config"}, set(parts)
    return parts


def parse_request(path, content_type, body):
    url = urllib.parse.urlsplit(path)
    assert url.path == "/ingest", url.path
    query = urllib.parse.parse_qs(url.query, strict_parsing=True)
    assert all(len(values) == 1 for values in query.values()), query
    query = {key: values[0] for key, values in query.items()}
    # Of a form, "format" would have the form itself read as pprof.
    assert set(query) == {"name", "from", "until", "spyName", "sampleRate"}, set(query)
    assert re.fullmatch(r"\d{19}", query["from"]) and re.fullmatch(r"\d{19}", query["until"]), query
    assert int(query["from"]) < int(query["until"]) and int(query["sampleRate"]) > 0, query
    service, labels = parse_name(query["name"])
    parts = parse_form(content_type, body)
    types = json.loads(parts["sample_type_config"])
    for settings in types.values():
        assert set(settings) == {"units", "aggregation", "display-name", "sampled"} and \
            settings["units"] in UNITS and settings["aggregation"] in ("sum", "average"), settings
    return {"service": service, "labels": labels, "from": int(query["from"]), "until": int(query["until"]),
            "types": types, "profile": gzip.decompress(parts["profile"])}


class PyroscopeReceiver:
    """with PyroscopeReceiver([503, 200]) as receiver: receiver.url, receiver.requests, receiver.problems"""

    def __init__(self, answers):
        self.requests, self.problems, self.tried = [], [], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = answers.pop(0) if len(answers) > 1 else answers[0]
                outer.tried += 1
                try:
                    request = parse_request(self.path, self.headers["Content-Type"], body)
                    if status == 200:
                        outer.requests.append(request)
                except Exception as problem:
                    outer.problems.append(repr(problem))
                    status = 400
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
