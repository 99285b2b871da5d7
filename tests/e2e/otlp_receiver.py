#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of OpenTelemetry profiles, which decodes them with opentelemetry-proto and writes down what it has got.

By HTTP, or with --grpc by gRPC, and then --answers are the names of gRPC's statuses, RETRY being RESOURCE_EXHAUSTED
with a delay of a second. --certificate, --key: by TLS.

A line of JSON a request. --answers 503,0,307,200: the statuses of the first requests, the last one of all that
follow; 0: the request is written down, and the connection closed without an answer.
"""
import argparse
import gzip
import http.server
import json

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2


def check_dictionary(dictionary):
    """What the specification asks of each table: the first entry stands for none; indices lie in their tables."""
    for name in ("mapping", "location", "function", "link", "attribute", "stack"):
        table = getattr(dictionary, name + "_table")
        assert table and table[0] == type(table[0])(), name
    strings = dictionary.string_table
    assert strings[0] == "" and len(set(strings)) == len(strings)
    for stack in dictionary.stack_table:
        assert all(0 < index < len(dictionary.location_table) for index in stack.location_indices)
    for location in dictionary.location_table:
        assert location.mapping_index < len(dictionary.mapping_table)
        assert all(line.function_index < len(dictionary.function_table) for line in location.lines)
        assert all(0 < index < len(dictionary.attribute_table) for index in location.attribute_indices)
    for function in dictionary.function_table:
        assert max(function.name_strindex, function.filename_strindex) < len(strings)


def plain(value):
    return getattr(value, value.WhichOneof("value"))


def describe(request):
    dictionary = request.dictionary
    strings = dictionary.string_table
    check_dictionary(dictionary)

    def attributes(indices):
        return {strings[dictionary.attribute_table[index].key_strindex]: plain(dictionary.attribute_table[index].value)
                for index in indices}

    def frames(stack):
        for index in stack.location_indices:
            location = dictionary.location_table[index]
            function = dictionary.function_table[location.lines[0].function_index]
            yield "%s:%d %s %s" % (strings[function.filename_strindex], location.lines[0].line,
                                   strings[function.name_strindex],
                                   attributes(location.attribute_indices).get("profile.frame.type"))

    for resource in request.resource_profiles:
        known = {pair.key: plain(pair.value) for pair in resource.resource.attributes}
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                heaviest = max(profile.samples, key=lambda sample: sample.values[0])
                yield {
                    "id": profile.profile_id.hex(), "resource": known, "scope": scope.scope.name,
                    "type": strings[profile.sample_type.type_strindex],
                    "unit": strings[profile.sample_type.unit_strindex],
                    "time": profile.time_unix_nano, "duration": profile.duration_nano, "period": profile.period,
                    "sum": sum(sample.values[0] for sample in profile.samples),
                    "heaviest": list(frames(dictionary.stack_table[heaviest.stack_index])),
                    "attributes": attributes(heaviest.attribute_indices),
                }


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answers = self.server.answers
        status = answers.pop(0) if len(answers) > 1 else answers[0]
        seen = {"path": self.path, "status": status, "headers": dict(self.headers)}
        if status in (0, 200):
            request = profiles_service_pb2.ExportProfilesServiceRequest()
            request.ParseFromString(gzip.decompress(body))
            seen["profiles"] = list(describe(request))
        self.server.log.write(json.dumps(seen) + "\n")
        self.server.log.flush()
        if not status:
            self.close_connection = True
            return
        answer = profiles_service_pb2.ExportProfilesServiceResponse().SerializeToString()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        if status == 307:
            self.send_header("Location", "http://localhost:%d/elsewhere" % self.server.server_port)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def serve_grpc(arguments, log):
    import concurrent.futures
    import grpc
    answers = arguments.answers.split(",")

    def export(request, context):
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        log.write(json.dumps({"status": answer, "headers": dict(context.invocation_metadata()),
                              "profiles": list(describe(request))}) + "\n")
        log.flush()
        if answer == "RETRY":
            # google.rpc.Status: code 8, a detail of type RetryInfo with a Duration of one second.
            info = b"\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02\x08\x01"
            context.set_trailing_metadata((("grpc-status-details-bin", b"\x08\x08\x1a" + bytes([len(info)]) + info),))
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too much at once")
        if answer != "OK":
            context.abort(grpc.StatusCode[answer], "not now: \u00e4 50%")
        return profiles_service_pb2.ExportProfilesServiceResponse()

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    handler = grpc.unary_unary_rpc_method_handler(
        export, request_deserializer=profiles_service_pb2.ExportProfilesServiceRequest.FromString,
        response_serializer=profiles_service_pb2.ExportProfilesServiceResponse.SerializeToString)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "opentelemetry.proto.collector.profiles.v1development.ProfilesService", {"Export": handler}),))
    address = "127.0.0.1:%d" % arguments.port
    if arguments.certificate:
        with open(arguments.key, "rb") as key, open(arguments.certificate, "rb") as certificate:
            credentials = grpc.ssl_server_credentials([(key.read(), certificate.read())])
        port = server.add_secure_port(address, credentials)
    else:
        port = server.add_insecure_port(address)
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answers", default="200")
    parser.add_argument("--grpc", action="store_true")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    arguments = parser.parse_args()
    if arguments.grpc:
        with open(arguments.log, "a", encoding="utf-8") as log:
            serve_grpc(arguments, log)
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    server.answers = [int(word) for word in arguments.answers.split(",")]
    with open(arguments.log, "a", encoding="utf-8") as server.log:
        print(server.server_port, flush=True)
        server.serve_forever()


main()
