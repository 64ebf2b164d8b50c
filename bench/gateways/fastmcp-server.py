# An application on FastMCP with the tools of several MCP servers behind its search, as its documentation sets it up.
import json
import sys

from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform

with open(sys.argv[1], encoding="utf-8") as config:
    server = create_proxy(json.load(config), name="fastmcp")
server.add_transform(BM25SearchTransform())
server.run(show_banner=False)
