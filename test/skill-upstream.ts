import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { skillSource } from "./skill-source.ts";

// A stdio server that serves the skills of a given folder.
const [, , folder = ""] = process.argv;
createMcpServer(createGateway({ domains: [], sources: [skillSource("lib", folder)] })).connect();
