# SPDX-License-Identifier: Apache-2.0
"""
A client of the Model Context Protocol with the protocol's own library (PyPI's mcp), run by test_mcp.py:

    mcp_client.py PIEPROFD MODE CALLS

MODE is auto, which speaks the newest revision, or legacy, which begins with initialize. CALLS: a list of [tool,
arguments] as JSON. Prints one object: the revision, the tools, the results and how often progress was told.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client


async def converse(program, mode, calls):
    answer = {"results": [], "progress": []}
    async with Client(stdio_client(StdioServerParameters(command=program, args=["mcp"])), mode=mode) as client:
        answer["revision"] = client.protocol_version
        answer["server"] = client.server_info.name
        answer["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments in calls:
            told = []

            async def progress(done, total, message):
                told.append([done, total, message])

            result = await client.call_tool(name, arguments, progress_callback=progress)
            answer["progress"].append(told)
            answer["results"].append({"error": result.is_error, "structured": result.structured_content,
                                      "texts": [item.text for item in result.content]})
    return answer


if __name__ == "__main__":
    print(json.dumps(asyncio.run(converse(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))))
